#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What deciding takes: processor seconds and memory of mp-assign-precision over chains of ops.

For each size a chain of that many ops is generated; it is parsed and printed with and without the pass, in
turn. Printed: the medians of the differences, pair by pair, and the memory for each op.

usage: bench-deciding.py BUILD/bin [--sizes 16000,160000] [--runs 3] [--options "format=f16"] [--most SECONDS,SECONDS]

Exits 1 if a size takes longer than --most says.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile


def measure(command):
    """Processor seconds and the largest memory of one command, in bytes."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"bench-deciding.py: {' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder with mp-opt and mp-gen")
    parser.add_argument("--sizes", default="16000,160000")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--options", default="format=bf16")
    parser.add_argument("--most", default="")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    limits = [float(limit) for limit in options.most.split(",") if limit]
    mp_opt = os.path.join(options.bin, "mp-opt")
    late = False
    print(f"{'ops':>9} {'deciding s':>10} {'memory MB':>10} {'kB/op':>6} {'reading s':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for index, size in enumerate(sizes):
            model = os.path.join(folder, f"chain{size}.mlir")
            subprocess.run([os.path.join(options.bin, "mp-gen"), "chain", f"--ops={size}", "-o", model], check=True)
            seconds, memory, reading = [], [], []
            for _ in range(options.runs):
                alone = measure([mp_opt, model, "-o", os.devnull])
                decided = measure([mp_opt, model, f"--mp-assign-precision={options.options}", "-o", os.devnull])
                seconds.append(decided[0] - alone[0])
                memory.append(decided[1] - alone[1])
                reading.append(alone[0])
            taken, bytes_more = statistics.median(seconds), statistics.median(memory)
            print(f"{size:>9} {taken:>10.2f} {bytes_more / 1e6:>10.1f} {bytes_more / 1e3 / size:>6.2f} "
                  f"{statistics.median(reading):>10.2f}", flush=True)
            late |= index < len(limits) and taken > limits[index]
            os.remove(model)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
