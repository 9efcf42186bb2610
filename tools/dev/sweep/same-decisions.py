#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides files several times and compares: threads, runs, and the order of independent ops.

usage: same-decisions.py FOLDER|FILE [...] [--format=bf16] [--limit-kb=200] [--limit-s=60] [--budget-s=N] [--order=TransformsTests]

FOLDER holds .mlir or .mlir.xz files, at any depth; those beyond --limit-kb are left out, small ones go first. Each is decided three
times with mp-opt, once without threads; module, table and report must be the same bytes. --order names the unit tests
of lib/Transforms, which then shuffle the blocks of the same files. Files that do not convert are counted and must fail
alike. Exits 1 on any difference. mp-opt is found on PATH.
"""
import argparse
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def decide(source, scratch, options, threads):
    outputs = [scratch / "out.mlir", scratch / "report.json"]
    for path in outputs:
        path.unlink(missing_ok=True)
    done = subprocess.run(["mp-opt", source, *([] if threads else ["--mlir-disable-threading"]),
                           f"--mp-mixed-precision=format={options.format} report={outputs[1]}", "-o", outputs[0]],
                          capture_output=True, timeout=options.limit_s)
    return done.returncode, done.stderr, *(path.read_bytes() if path.exists() else None for path in outputs)


def sources(given, scratch, options):
    found = [path for folder in given
             for path in (folder.rglob("*.mlir*") if folder.is_dir() else [folder]) if path.suffix in (".mlir", ".xz")]
    for number, path in enumerate(sorted(found, key=lambda path: (path.stat().st_size, str(path)))):
        if path.suffix == ".xz":
            unpacked = scratch / f"{number}.mlir"
            unpacked.write_bytes(lzma.decompress(path.read_bytes()))
            path = unpacked
        if path.stat().st_size <= options.limit_kb * 1024:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("given", nargs="+", type=pathlib.Path)
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--limit-kb", type=int, default=200)
    parser.add_argument("--limit-s", type=int, default=60)
    parser.add_argument("--budget-s", type=float, default=float("inf"))
    parser.add_argument("--order", type=pathlib.Path)
    options = parser.parse_args()
    until, decided, refused, late, different = time.monotonic() + options.budget_s, [], 0, 0, []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for path in sources(options.given, scratch, options):
            if time.monotonic() > until:
                late += 1
                continue
            try:
                first, again, single = (decide(path, scratch, options, threads) for threads in (True, True, False))
            except subprocess.TimeoutExpired:
                late += 1
                continue
            if not first == again == single:
                different.append(str(path))
            elif first[0]:
                refused += 1
            else:
                decided.append(path)
        print(f"{len(decided)} files decided alike three times, {refused} refused alike, {late} not tried in time, "
              f"{len(different)} differ")
        failed = False
        if options.order and decided:
            names = scratch / "names"
            names.write_text("".join(f"{path}\n" for path in decided))
            done = subprocess.run([options.order, "--gtest_filter=Order.OfIndependentOpsChangesNoDecisionInFiles"],
                                  env={**os.environ, "MP_ORDER_FILES": str(names)}, capture_output=True, text=True)
            failed = done.returncode != 0
            print(*[line for line in done.stdout.splitlines() if "ops moved" in line or (failed and "ailure" in line)], sep="\n")
            if failed:
                print(done.stdout[-4000:], file=sys.stderr)
    for path in different:
        print(f"{path}: not the same each time", file=sys.stderr)
    return 1 if different or failed else 0


if __name__ == "__main__":
    sys.exit(main())
