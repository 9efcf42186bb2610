#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What deciding takes: processor seconds or instructions, and memory, of mp-assign-precision.

Graphs are chains of --sizes ops, and --models of mp-gen. Each is parsed and printed with and without the pass, in
turn. Printed: the medians of the differences, pair by pair, and the memory for each op.

usage: bench-deciding.py BUILD/bin [--sizes 16000,160000] [--models bert] [--runs 3] [--options "format=f16"]
                         [--most SECONDS,SECONDS] [--count instructions]

--count=instructions takes valgrind's count instead of seconds: the same at every run to within some thousands,
whatever else the machine does; one run is enough. Exits 1 if a size takes longer than --most says.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import count_instructions


def measure(command, counts):
    """Processor seconds, or instructions, and the largest memory of one command, in bytes."""
    if counts:
        return count_instructions(command), 0
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            errors.seek(0)
            sys.exit(f"bench-deciding.py: {' '.join(command)} failed: {errors.read()[-300:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder with mp-opt and mp-gen")
    parser.add_argument("--sizes", default="16000,160000")
    parser.add_argument("--models", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--options", default="format=bf16")
    parser.add_argument("--most", default="")
    parser.add_argument("--count", default="seconds", choices=["seconds", "instructions"])
    options = parser.parse_args()
    counts = options.count == "instructions"
    if counts and not shutil.which("valgrind"):
        sys.exit("bench-deciding.py: --count=instructions needs valgrind, which is not on PATH: install it, or count seconds")
    graphs = [(f"chain of {size}", ["chain", f"--ops={size}"]) for size in options.sizes.split(",") if size]
    graphs += [(model, [model]) for model in options.models.split(",") if model]
    limits = [float(limit) for limit in options.most.split(",") if limit]
    mp_opt, late = os.path.join(options.bin, "mp-opt"), False
    unit, scale = ("G instr", 1e9) if counts else ("s", 1)
    print(f"{'graph':>16} {'ops':>7} {'deciding ' + unit:>17} {'per op':>10} {'reading ' + unit:>16}"
          + ("" if counts else f" {'memory MB':>10} {'kB/op':>6}"))
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, arguments) in enumerate(graphs):
            model = os.path.join(folder, "model.mlir")
            subprocess.run([os.path.join(options.bin, "mp-gen"), *arguments, "-o", model], check=True)
            with open(model) as text:
                ops = sum(" = " in line for line in text)
            efforts, memory, reading = [], [], []
            for _ in range(options.runs):
                alone = measure([mp_opt, model, "-o", os.devnull], counts)
                decided = measure([mp_opt, model, f"--mp-assign-precision={options.options}", "-o", os.devnull], counts)
                efforts.append(decided[0] - alone[0])
                memory.append(decided[1] - alone[1])
                reading.append(alone[0])
            taken, bytes_more = statistics.median(efforts), statistics.median(memory)
            print(f"{name:>16} {ops:>7} {taken / scale:>17.3f} {taken / ops:>10.{0 if counts else 6}f} "
                  f"{statistics.median(reading) / scale:>16.3f}"
                  + ("" if counts else f" {bytes_more / 1e6:>10.1f} {bytes_more / 1e3 / ops:>6.2f}"), flush=True)
            late |= index < len(limits) and taken / scale > limits[index]
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
