#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the role analysis and mp-train-step make of train steps.

usage: train-sweep.py FILE_OR_FOLDER... [--format=f16,bf16] [--only=PATTERN] [--mp-opt=mp-opt]

Takes every .mlir file with "train_step" or "_step" in its name. One line per file: contractions
that scale with the seed of all, gradients, parameters, optimizer state, statistics, and whether
mp-train-step and its verifiers accept it in each format; or the first error. Exits 1 if a file is
neither accepted nor refused with the annotation it wants.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time


def run(command):
    started = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    return done, time.time() - started


def first_error(text):
    match = re.search(r"error: (.*)", text)
    return match[1] if match else text.strip()[:200] or "no message"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--format", default="f16,bf16")
    parser.add_argument("--only", default="")
    parser.add_argument("--mp-opt", default="mp-opt")
    options = parser.parse_args()
    files = []
    for path in options.paths:
        files += sorted(path.rglob("*_step*.mlir")) if path.is_dir() else [path]
    failed = 0
    formats = options.format.split(",")
    print(f"{'file':58} {'scaled':>9} {'grads':>5} {'par':>4} {'opt':>4} {'stat':>4} {'s':>5}  " + " ".join(formats))
    for path in files:
        if options.only not in path.name:
            continue
        done, seconds = run([options.mp_opt, "--allow-unregistered-dialect", str(path), "--cse", "--mp-annotate-roles", "-o", "/dev/null"])
        found = re.search(r"scales (\d+) of (\d+) contractions; (\d+) gradients, (\d+) parameters, (\d+) of optimizer state, (\d+)", done.stderr)
        if not found:
            error = first_error(done.stderr)
            failed += "mp.role" not in error and "mp.state" not in error
            print(f"{path.name:58} refused: {error}")
            continue
        scaled, total, gradients, parameters, state, statistics = found.groups()
        verdicts = []
        for name in formats:
            done, _ = run([options.mp_opt, "--allow-unregistered-dialect", str(path),
                           f"--mp-train-step=format={name} table=false", "-o", "/dev/null"])
            verdicts.append("ok" if done.returncode == 0 else "FAILED: " + first_error(done.stderr))
            failed += done.returncode != 0
        print(f"{path.name:58} {scaled + '/' + total:>9} {gradients:>5} {parameters:>4} {state:>4} {statistics:>4} {seconds:5.1f}  " + " ".join(verdicts), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
