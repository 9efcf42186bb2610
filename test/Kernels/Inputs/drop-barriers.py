#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what a family's kernel does on the emulator, and runs it without each of its barriers.

usage: drop-barriers.py PREFIX GENERATOR BARRIERS KIND ROWS COLUMNS FORMAT
The kernel must have BARRIERS barriers; with all of them no bank conflicts, and sectors of all of its
operands and results once, with 3 % to spare.
"""
import pathlib
import re
import subprocess
import sys


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def fail(message):
    sys.exit(f"drop-barriers.py: {message}")


def least_bytes(text, rows):
    """Bytes that must move: tensors of the function's signature, and what a column has alone once a row."""
    total = 0
    arguments, results = next(line for line in text.splitlines() if line.startswith("func.func")).split("->")
    for part in (arguments, results):
        for shape in re.findall(r"tensor<([^>]*)>", part):
            *sizes, element = shape.split("x")
            count = int(re.sub(r"\D", "", element)) // 8
            for size in sizes:
                count *= int(size)
            total += count * (rows if len(sizes) == 1 and part is arguments else 1)
    return total


def main():
    prefix, generator, barriers, kind = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    source, lowered = pathlib.Path(prefix + ".mlir"), pathlib.Path(prefix + ".lowered.mlir")
    made = run(sys.executable, generator, *kind)
    if made.returncode:
        fail(made.stderr)
    source.write_text(made.stdout)
    done = run("mp-opt", source, "--mp-to-nvvm=sums=tree", "-o", lowered)
    if done.returncode:
        fail(done.stderr)
    whole = run("mp-run", lowered, "--device=emulator", "--per-op")
    row = next((line.split() for line in whole.stdout.splitlines() + whole.stderr.splitlines()
                if re.match(r"(map|rows|transpose)_0 ", line)), None)
    if whole.returncode or not row:
        fail(f"the kernel does not run:\n{whole.stdout}{whole.stderr}")
    sectors, conflicts = int(row[5]), int(row[7])
    least = least_bytes(made.stdout, int(kind[1])) / 32
    if conflicts:
        fail(f"{conflicts} bank conflicts")
    if sectors > 1.03 * least:
        fail(f"{sectors} sectors, expected at most 1.03 x {least:.0f}")
    text = lowered.read_text()
    places = [m.span() for m in re.finditer(r"\\09(?:bar|barrier)(?:\.cta)?\.sync[^;]*;|(?:bar|barrier)(?:\.cta)?\.sync[^;]*;", text)]
    if len(places) != barriers:
        fail(f"{len(places)} barriers, expected {barriers}")
    for number, (begin, end) in enumerate(places):
        lowered.write_text(text[:begin] + text[end:])
        without = run("mp-run", lowered, "--device=emulator")
        if not without.returncode or not re.search("race|uninitialized read", without.stderr):
            fail(f"without barrier {number} the emulator says nothing:\n{without.stderr}")


if __name__ == "__main__":
    main()
