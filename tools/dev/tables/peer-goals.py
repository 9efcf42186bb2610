#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What other mixed-precision converters reach on known models, and what mp does on generated equals.

usage: peer-goals.py BUILD/bin [--no-times] [--write=docs/results/PeerGoals.md]

Converts to f16 and bf16, counts, runs on the CPU against the same graph in f64, and prints each figure
beside its goal; the goals are the best figures measured of any other converter on the same model.
Exits 1 if a goal is missed; times, which depend on the machine, count only without --no-times.

A cast is *at run time* if it is not of a weight, which is converted once. It is *a copy* if its value
is also stored in f32; the others are how a value that is stored narrow, and only so, is written, which
converters that compute every op in its storage format do not count as casts.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import write_table  # noqa: E402

WIDTHS = {"mlp": [], "bert2": ["--layers=2", "--batch=2", "--vocab=0"], "resnet18": [], "llama2": ["--vocab=0"]}
GENERATORS = {"bert2": "bert", "llama2": "llama"}
# Largest error over the largest magnitude, f16 and bf16: of torch.autocast, which narrows what mp does, and
# of the better one of AutoCast and torch.autocast for convolutions.
ERRORS = {"mlp": (6.6e-4, 4.5e-3), "bert2": (2.9e-4, 2.1e-3), "resnet18": (4.8e-4, 3.7e-3)}
FORMATS = ("f16", "bf16")


class Table:
    """Rows of a figure, its goal, and whether it is met."""

    def __init__(self):
        self.rows = []

    def add(self, what, found, goal, met):
        self.rows.append((what, found, goal, "yes" if met else "NO"))
        print("{:<58}{:>16}{:>22}   {}".format(*self.rows[-1]), flush=True)

    def missed(self):
        return [row[0] for row in self.rows if row[3] != "yes"]


class Tools:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = pathlib.Path(folder), pathlib.Path(scratch)

    def path(self, name):
        return str(self.scratch / name)

    def run(self, tool, *words):
        """Runs a tool; its standard error and processor seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.folder / tool, *words], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{tool} {' '.join(words)}\n{done.stdout}{done.stderr}exit status {done.returncode}")
        return done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def generate(self, name, *words):
        self.run("mp-gen", GENERATORS.get(name, name), *WIDTHS.get(name, []), *words, "-o", self.path("in.mlir"))

    def convert(self, form):
        """The report, and the text of the result."""
        self.run("mp-opt", self.path("in.mlir"), "-o", self.path("out.mlir"),
                 f"--mp-mixed-precision=format={form} table=false report={self.path('report.json')}")
        return json.loads((self.scratch / "report.json").read_text()), (self.scratch / "out.mlir").read_text()

    def error(self, *inputs):
        """Largest error over the largest magnitude; infinite where a NaN or infinity is new."""
        self.run("mp-run", self.path("out.mlir"), f"--compare={self.path('in.mlir')}", "--seed=1",
                 f"--json={self.path('run.json')}", *(f"--input={value}" for value in inputs))
        outputs = json.loads((self.scratch / "run.json").read_text())["outputs"]
        return max(math.inf if output["non_finite_mismatches"] else float(output["max_abs_over_largest"])
                   for output in outputs)


def copies(report):
    """Casts of values that are stored in f32 as well."""
    narrow = {report["format"]}
    written = sum(op["class"] != "E" and bool(narrow & set(op["out"])) for op in report["ops"])
    return len(report["casts"]) - written


def duplicates(text):
    """Values cast twice to one type, and casts of casts, within functions."""
    found, seen, cast = 0, collections.Counter(), {}
    for line in text.splitlines():
        if "func.func" in line:
            seen, cast = collections.Counter(), {}
        match = re.match(r"\s*(%\S+) = mp\.cast (?:\w+ )*(%\S+) .*to (\S+)", line)
        if match:
            result, source, kind = match.groups()
            found += seen[source, kind] + (source in cast)
            seen[source, kind] += 1
            cast[result] = kind
    return found


def wide(report, classes):
    ops = [op for op in report["ops"] if op["class"] in classes]
    return sum(op["compute"] == "f32" for op in ops), len(ops)


def outlier(path, shape):
    """Hidden states of one large element, as .npy."""
    count, state, data = math.prod(shape), 1, []
    for _ in range(count):
        state = state * 1103515245 + 12345 & 0x7fffffff
        data.append(state / 0x40000000 - 1)
    data[count // 2] = 600.0
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{count}f", *data))


def measure_model(tools, table, name):
    tools.generate(name, "--resources")
    for number, form in enumerate(FORMATS):
        report, text = tools.convert(form)
        protected, of = wide(report, "AK")
        label = f"{name} {form}: "
        if of:
            table.add(label + "softmax, norms, sums in f32", f"{protected} of {of}", "all", protected == of)
        if name == "bert2":
            table.add(label + f"copies at run time, of {len(report['casts'])} casts", copies(report), "9", copies(report) <= 9)
        if name == "llama2":
            table.add(label + f"copies at run time, of {len(report['casts'])} casts", copies(report), "13", copies(report) <= 13)
        table.add(label + "duplicates, there-and-back pairs", duplicates(text), "0", duplicates(text) == 0)
        goal = ERRORS.get(name, (1e-3, 8e-3))[number]
        if name in ERRORS:
            error = tools.error()
            table.add(label + "error", f"{error:.1e}", f"{goal:.1e}", error <= goal)
        if name == "bert2":
            error = tools.error("seed", "2x128xi64=0")
            table.add(label + "error, one mask full", f"{error:.1e}", f"{goal:.1e}, no NaN", error <= goal)
        if name == "llama2":
            outlier(tools.scratch / "x.npy", (1, 64, 512))
            goal = (4e-4, 8 * 4e-4)[number]
            error = tools.error(f"@{tools.path('x.npy')}")
            table.add(label + "error, an element of 600", f"{error:.1e}", f"{goal:.1e}", error <= goal)
        tools.run("mp-opt", tools.path("out.mlir"), "-o", tools.path("again.mlir"), f"--mp-mixed-precision=format={form} table=false")
        same = (tools.scratch / "again.mlir").read_text() == text
        table.add(label + "a second conversion", "the same" if same else "differs", "the same", same)


def measure_adversarial(tools, table):
    root = pathlib.Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, root / "tools/dev/sweep/adversarial.py", root / "test/Transforms/Assign"], text=True,
                          capture_output=True, env={"PATH": f"{tools.folder.resolve()}:/usr/bin:/bin"})
    total, right = re.search(r"(\d+) cases; right: (.*)", done.stdout).groups()
    table.add("adversarial graphs right, linalg and TOSA, f16 and bf16", min(map(int, re.findall(r" (\d+)(?:,|$|\n)", right + "\n"))),
              f"all {total}", done.returncode == 0)


def deciding_seconds(tools, layers):
    tools.run("mp-gen", "bert", f"--layers={layers}", "--vocab=0", "-o", tools.path("in.mlir"))
    return least_seconds_of("AssignPrecision", tools, tools.path("in.mlir"), "--mp-assign-precision")


def least_seconds_of(phase, tools, *words):
    """Of a pass, or of `Parser` or `Output`."""
    texts = (tools.run("mp-opt", *words, "-o", tools.path("out"), "--mlir-timing", "--mlir-timing-display=list",
                       "--mlir-disable-threading")[0] for _ in range(5))
    return min(float(re.search(rf"([\d.]+) \(.*\)\s+{phase}\b", text).group(1)) for text in texts)


def least_seconds(tools, *words):
    """Of five runs: what else the machine does only adds to a time."""
    return min(tools.run("mp-opt", *words, "-o", tools.path("out"))[1] for _ in range(5))


def measure_chain(tools, table, ops, softmax):
    """Text and bytecode, read and written, or only read; and converting by itself, with and without MLIR's checks of the result."""
    convert = "--mp-mixed-precision=table=false verify=false"
    tools.run("mp-gen", "chain", f"--ops={ops}", f"--softmax={softmax}", "-o", tools.path("in.mlir"))
    tools.run("mp-opt", tools.path("in.mlir"), "--emit-bytecode", "-o", tools.path("in.mlirbc"))
    kernels = sum(" = linalg." in line and "linalg.fill" not in line for line in open(tools.path("in.mlir")))
    label = f"chain of {ops} operators in {kernels} ops of linalg: "
    text = least_seconds(tools, tools.path("in.mlir"), convert)
    table.add(label + "text in and out", f"{text:.2f} s", "1 s", text <= 1)
    code = least_seconds(tools, tools.path("in.mlirbc"), convert, "--emit-bytecode")
    table.add(label + "bytecode in and out", f"{code:.2f} s", "1 s", code <= 1)
    read = code - least_seconds_of("Output", tools, tools.path("in.mlirbc"), convert, "--emit-bytecode")
    table.add(label + "bytecode in, nothing out", f"{read:.2f} s", "1 s", read <= 1)
    beside = text - least_seconds(tools, tools.path("in.mlir"))
    table.add(label + "beside reading and writing", f"{beside:.2f} s", "1.05 s", beside <= 1.05)
    unchecked = ("--verify-each=false", "--mlir-print-assume-verified")
    alone = least_seconds(tools, tools.path("in.mlir"), convert, *unchecked) - least_seconds(tools, tools.path("in.mlir"), *unchecked)
    table.add(label + "the same, the result unchecked", f"{alone:.2f} s", "1.05 s", alone <= 1.05)


def measure_times(tools, table):
    per_layer = (deciding_seconds(tools, 82) - deciding_seconds(tools, 2)) / 80
    table.add("BERT: deciding, per layer", f"{per_layer * 1e3:.2f} ms", "1.2 ms", per_layer <= 1.2e-3)
    for softmax in ("named", "decomposed"):
        measure_chain(tools, table, 50000, softmax)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder with mp-opt, mp-run, mp-gen and mp-sweep")
    parser.add_argument("--no-times", action="store_true", help="leave out what depends on the machine")
    parser.add_argument("--models", default="mlp,bert2,resnet18,llama2")
    parser.add_argument("--write", help="page to put the table into")
    options = parser.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory() as scratch:
        tools = Tools(options.bin, scratch)
        measure_adversarial(tools, table)
        for name in options.models.split(","):
            measure_model(tools, table, name)
        if not options.no_times:
            measure_times(tools, table)
    if options.write:
        lines = ["| figure | found | goal | met |", "|---|---|---|---|", *("| {} | {} | {} | {} |".format(*row) for row in table.rows)]
        write_table(options.write, "\n".join(lines))
    print(f"{len(table.rows) - len(table.missed())} of {len(table.rows)} goals met")
    return 1 if table.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
