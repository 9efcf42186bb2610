#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times conversion against canonicalize+cse on the same file, in turn, in one run.

For each size a chain of that many ops is generated; both commands run with the
same verification and without a report. Printed: median processor seconds of each,
the median of the ratios pair by pair, and the log-log slopes between sizes.

usage: bench-scaling.py BUILD/bin [--sizes 10000,100000,1000000] [--runs 3]
"""
import argparse
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder with mp-opt and mp-gen")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    mp_opt = os.path.join(options.bin, "mp-opt")
    medians = []
    print(f"{'ops':>9} {'mp s':>8} {'upstream s':>10} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            model = os.path.join(folder, f"chain{size}.mlir")
            subprocess.run([os.path.join(options.bin, "mp-gen"), "chain", f"--ops={size}", "-o", model], check=True)
            ours, theirs = [], []
            for _ in range(options.runs):
                ours.append(processor_seconds([mp_opt, model, "--mp-mixed-precision=table=false", "-o", os.devnull]))
                theirs.append(processor_seconds([mp_opt, model, "--canonicalize", "--cse", "-o", os.devnull]))
            ratio = statistics.median(a / b for a, b in zip(ours, theirs))
            medians.append((size, statistics.median(ours), statistics.median(theirs)))
            print(f"{size:>9} {medians[-1][1]:>8.2f} {medians[-1][2]:>10.2f} {ratio:>6.2f}")
            os.remove(model)
    for (a, ours_a, theirs_a), (b, ours_b, theirs_b) in zip(medians, medians[1:]):
        span = math.log(b / a)
        print(f"slope {a} to {b}: mp {math.log(ours_b / ours_a) / span:.3f}, "
              f"upstream {math.log(theirs_b / theirs_a) / span:.3f}")


if __name__ == "__main__":
    sys.exit(main())
