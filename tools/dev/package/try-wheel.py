#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the wheel where nothing else is, and runs the Python lines of the README.

usage: try-wheel.py WHEEL [--root=DIR] [--suite=bookworm] [PACKAGE ...]

Makes a root file system of Debian's least packages, Python's venv and certificates (needs root and mmdebstrap),
installs the wheel and the packages (torch and torch-mlir, in the versions that docs/guides/Python.md names) in a
fresh virtual environment there, and runs the block under "From Python" of README.md as it stands. Prints the
seconds of each stage, and of processors in it, and ends with the status of the block. --root names the folder and leaves it there; if it
exists, it is used again. Settings of pip in the environment (PIP_*) hold there, too.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[3]
SYSTEM = ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt")


def readme_block():
    """The six lines of README.md, from the source that users read."""
    text = (SOURCE / "README.md").read_text()
    found = re.search(r"^## From Python\n+```python\n(.*?)^```", text, re.M | re.S)
    if not found:
        sys.exit("try-wheel: README.md has no Python block under 'From Python'")
    return found[1]


def named_packages():
    """Versions of torch and torch-mlir that the guide installs."""
    guide = (SOURCE / "docs/guides/Python.md").read_text()
    return re.search(r"^pip install (torch==\S+ torch-mlir==\S+)", guide, re.M)[1].split()


def make_root(root, suite):
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "--include=python3-venv,ca-certificates", suite, str(root)], check=True)
    for name in SYSTEM:
        if pathlib.Path("/", name).exists():
            shutil.copyfile(pathlib.Path("/", name), root / name)


def inside(root, *command):
    environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and name != "PIP_FIND_LINKS"}
    environment |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    start, before = time.monotonic(), os.times()
    status = subprocess.run(["chroot", str(root), *command], env=environment).returncode
    after = os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return status, time.monotonic() - start, busy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--suite", default="bookworm")
    options = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        print("try-wheel: skipped: needs root and mmdebstrap (apt-get install mmdebstrap)", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        root = options.root or pathlib.Path(temporary, "root")
        if not root.exists():
            make_root(root, options.suite)
        alien = [path for path in root.glob("usr/lib/**/lib*") if re.match(r"lib(LLVM|MLIR|clang)", path.name)]
        if alien:
            sys.exit(f"try-wheel: '{root}' is not bare, it has '{alien[0]}'")
        shutil.copy(options.wheel, root / "tmp")
        (root / "tmp/readme.py").write_text(readme_block())
        stages = (("virtual environment", ("python3", "-m", "venv", "--clear", "/opt/venv")),
                  ("installation with downloads", ("/opt/venv/bin/pip", "install", "--quiet", f"/tmp/{options.wheel.name}",
                                                   *(options.packages or named_packages()))),
                  ("README's lines", ("/opt/venv/bin/python", "/tmp/readme.py")))
        for name, command in stages:
            status, seconds, busy = inside(root, *command)
            print(f"{name}: {seconds:.1f} s, {busy:.1f} s of a processor, status {status}", flush=True)
            if status:
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
