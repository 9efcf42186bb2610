#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands that README, guides, concepts and reference pages show, and their python and c blocks.

usage: run-doc-commands.py [ROOT] [--only SUBSTRING] [--list]

Commands are the lines of blocks fenced as sh, and those of blocks fenced as text that begin with a
tool of mp; a line that ends with a backslash goes on. The commands of a page run in bash, in their
order, in a folder of its own, in which lie the files that pages name (FIXTURES), and as test.mlir
the last block fenced as mlir; each must exit with 0, or with the status that its comment tells
(`# exits with 1`). Blocks fenced as python run in
their order as one program a page, with python/ on its path; those fenced as c are compiled as
docs/guides/Embed.md says and run. What needs a program or package that is not here is skipped and
named, and so is what shows a shape only (`...`). Prints one
line per failure; exits with 1 if there is one.
"""
import argparse
import os
import pathlib
import re
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import run_bash  # noqa: E402

SHELVES = ("guides", "concepts", "reference")
BLOCK = re.compile(r"^[ \t]*```(sh|text|mlir|python|c)\n(.*?)^[ \t]*```", re.M | re.S)
TOOLS = ("mp-opt", "mp-run", "mp-gen", "mp-query", "mp-train", "mp-reduce", "kernel-report", "mpirun", "tools/dev/")
# Installing, building, testing and packaging, which have tests of their own.
ELSEWHERE = ("pip install", "tools/dev/setup.sh", "tools/dev/build.sh", "tools/dev/test.sh", "tools/dev/package/", "ninja ", "ASAN_OPTIONS=")
SECONDS = 300
# Files that pages name, by the command that makes them.
FIXTURES = """
mp-gen bert --layers=1 --hidden=32 --heads=2 --seq=8 --vocab=30 -o IN.mlir
mp-gen digits -o model.mlir
cp model.mlir classify.mlir
cp model.mlir MODEL.mlir
mp-gen digits --weights=constants -o forward.mlir
mp-gen digits --train=momentum --batch=32 -o step.mlir
mp-opt --mp-show-policy=format=f16 > POLICY.json
mp-opt --mp-show-policy="format=bf16 target=sm_90" > FILE.json
mp-opt IN.mlir --mp-mixed-precision="table=false report=REPORT.json" -o narrow.mlir
cp $MP_SOURCE/test/Tools/mp-run-ptx.ptx kernel.ptx
if command -v ptxas > log; then ptxas -arch=sm_80 kernel.ptx -o kernel.cubin; fi
"""


def write_array(path, rows, columns):
    """An .npy file of f32 between -1 and 1, without numpy."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns})}}"
    header = header.ljust(-(len(header) + 11) % 64 + len(header)) + "\n"
    values = [(i * 37 % 201 - 100) / 100 for i in range(rows * columns)]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))


class Command:
    def __init__(self, page, line, text, before):
        self.page, self.line, self.before = page, line, before
        self.text, _, self.comment = text.partition("  #")

    def place(self):
        return f"{self.page}:{self.line}"

    def missing(self, folder, root, path):
        """What keeps the command from running here, or None."""
        shape = re.search(r"\.\.\.|(?<![\w.])FOLDER\b", self.text)
        if shape:
            return f"{shape[0]} stands for something"
        program = next((word for word in self.text.split() if "=" not in word), "")
        if not shutil.which(program, path=path) and not (root / program).exists():
            return f"no {program} here"
        absent = [name for name in re.findall(r"\b\w+\.(?:c|ptx|cubin)\b", self.text) if not (folder / name).exists()]
        return f"no {absent[0]} here" if absent else None

    def status(self):
        found = re.search(r"exits with (\d+)$", self.comment)
        return int(found[1]) if found else 0


def commands_of(page, kind, text, first, before):
    """The commands of one block that begins behind line `first` of a page, with the mlir block before it."""
    found, pending, start = [], "", 0
    for number, line in enumerate(text.splitlines(), first + 1):
        start = start if pending else number
        pending += line.strip()
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        if pending and (kind == "sh" or pending.startswith(TOOLS)) and not pending.startswith("mp-run: "):
            found.append(Command(page, start, pending, before))
        pending = ""
    return found


def blocks_of(path, root):
    """(kind, text, line) of the blocks of a page."""
    content = path.read_text()
    for match in BLOCK.finditer(content):
        yield match[1], match[2], content.count("\n", 0, match.start()) + 1


class Page:
    """One page's blocks, and what running them gave."""

    def __init__(self, path, root):
        self.root, self.name = root, str(path.relative_to(root))
        self.commands, self.python, self.c = [], [], []
        before = None
        for kind, text, line in blocks_of(path, root):
            if kind == "mlir":
                before = text
            elif kind == "python":
                self.python.append(text)
            elif kind == "c":
                self.c.append(text)
            else:
                self.commands += commands_of(self.name, kind, text, line, before)
        self.failures, self.skipped, self.ran = [], [], 0

    def count(self, place, wanted, found):
        status, output = found
        if status == 77:
            self.skipped.append(f"{place}: {output.strip().splitlines()[-1] if output.strip() else 'exit 77'}")
        elif status == wanted:
            self.ran += 1
        else:
            self.failures.append(f"{place}: exit {status}, expected {wanted}:\n{output[-1500:]}")

    def run_commands(self, folder, environment):
        for command in self.commands:
            if command.text.startswith(ELSEWHERE):
                continue
            missing = command.missing(folder, self.root, environment["PATH"])
            if missing:
                self.skipped.append(f"{command.place()}: {missing}")
                continue
            if command.before:
                (folder / "test.mlir").write_text(command.before)
            text = re.sub(r"(?<![\w/.])(tools/dev|test)/", f"{self.root}/\\1/", command.text)
            self.count(command.place(), command.status(), run_bash(text, folder, environment, SECONDS))

    def run_python(self, folder, environment):
        if not self.python:
            return
        program = folder / "page.py"
        program.write_text("".join(self.python))
        needed = sorted({name for name in re.findall(r"^(?:import|from) ([\w, ]+)", "".join(self.python), re.M)
                         for name in re.split(r"[ ,]+", name) if name not in ("as", "np", "jnp", "mp", "")})
        if needed and run_bash(f"{sys.executable} -c 'import {', '.join(needed)}'", folder, environment, SECONDS)[0]:
            self.skipped.append(f"{self.name}: its python needs {', '.join(needed)}")
            return
        self.count(f"{self.name}: python", 0, run_bash(f"{sys.executable} page.py", folder, environment, SECONDS))

    def run_c(self, folder, environment):
        for number, text in enumerate(self.c):
            (folder / f"block{number}.c").write_text(text)
            library = pathlib.Path(environment["MP_LIBRARY"])
            build = f"cc block{number}.c -I{self.root}/include -L{library.parent} -Wl,-rpath,{library.parent} -l:{library.name} -o block{number}"
            self.count(f"{self.name}: c block {number}", 0, run_bash(f"{build} && ./block{number}", folder, environment, SECONDS))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parents[3], type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    paths = [root / "README.md", *(path for shelf in SHELVES for path in sorted((root / "docs" / shelf).rglob("*.md")))]
    pages = [Page(path, root) for path in paths if path.exists() and options.only in str(path)]
    if options.list:
        for page in pages:
            for command in page.commands:
                print(f"{command.place()}: {command.text}")
        return 0
    opt = shutil.which("mp-opt")
    if not opt:
        sys.exit("run-doc-commands.py: mp-opt is not on PATH")
    library = next(iter(sorted(pathlib.Path(opt).resolve().parents[1].glob("lib*/libMP.so.?"))), None)
    source = pathlib.Path(__file__).resolve().parents[3]
    environment = {**os.environ, "MP_LIBRARY": str(library), "PYTHONPATH": str(source / "python"), "MP_SOURCE": str(source)}
    with tempfile.TemporaryDirectory() as made:
        fixtures = pathlib.Path(made) / "fixtures"
        fixtures.mkdir()
        status, output = run_bash("set -e\n" + FIXTURES, fixtures, environment, SECONDS)
        if status:
            sys.exit(f"run-doc-commands.py: the fixtures cannot be made:\n{output}")
        for name in ("x.npy", "rows.npy"):
            write_array(fixtures / name, 400, 64)
        for number, page in enumerate(pages):
            folder = pathlib.Path(made) / str(number)
            shutil.copytree(fixtures, folder)
            page.run_commands(folder, environment)
            page.run_python(folder, environment)
            page.run_c(folder, environment)
    for page in pages:
        for text in page.failures:
            print(text)
    for page in pages:
        for text in page.skipped:
            print(f"skipped: {text}")
    ran, failed = sum(page.ran for page in pages), sum(len(page.failures) for page in pages)
    print(f"{ran + failed} commands and programs, {failed} fail, {sum(len(page.skipped) for page in pages)} skipped")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
