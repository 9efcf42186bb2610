#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides files several times and compares: threads, runs, and the order of independent ops.

usage: same-decisions.py FOLDER|FILE [...] [--format=bf16] [--limit-kb=200] [--limit-s=60] [--budget-s=N] [--order=TransformsTests]
       same-decisions.py FOLDER|FILE [...] --before=BUILD [--format=f16,bf16] [--options=...] [--kernels=sm_80] [--keep=FOLDER]

FOLDER holds .mlir or .mlir.xz files, at any depth; those beyond --limit-kb are left out, small ones go first. Each is decided three
times with mp-opt, once without threads; module, table and report must be the same bytes. --order names the unit tests
of lib/Transforms, which then shuffle the blocks of the same files. Files that do not convert are counted and must fail
alike. Exits 1 on any difference. mp-opt is found on PATH.

With --before each file is decided once by mp-opt and once by that of an earlier build, a folder with its bin and lib, in every
format; module, table, report and messages, and with --kernels the PTX for a target, must be the same bytes. --options goes to
the pipeline of both. --keep has what differs, side by side.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import unpacked  # noqa: E402


def decide(source, scratch, options, threads):
    outputs = [scratch / "out.mlir", scratch / "report.json"]
    for path in outputs:
        path.unlink(missing_ok=True)
    done = subprocess.run(["mp-opt", source, *([] if threads else ["--mlir-disable-threading"]),
                           f"--mp-mixed-precision=format={options.format} report={outputs[1]}", "-o", outputs[0]],
                          capture_output=True, timeout=options.limit_s)
    return done.returncode, done.stderr, *(path.read_bytes() if path.exists() else None for path in outputs)


def outcome(tool, library, source, scratch, options, form):
    """What one build makes of a file: named bytes, the same names each time."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)} if library else None
    made = {}
    for path in (scratch / "out.mlir", scratch / "report.json", *(scratch / "kernels").glob("*")):
        path.unlink(missing_ok=True)
    jobs = {"mixed": [f"--mp-mixed-precision=format={form} report={scratch / 'report.json'} {options.options}", "-o", scratch / "out.mlir"]}
    if options.kernels:
        jobs["kernels"] = [f"--mp-to-nvvm=format={form} target={options.kernels} emit=ptx dir={scratch / 'kernels'}", "-o", os.devnull]
    for name, arguments in jobs.items():
        done = subprocess.run([tool, source, *arguments], capture_output=True, timeout=options.limit_s, env=environment)
        made[name + " status"] = str(done.returncode).encode()
        made[name + " messages"] = done.stderr
    for path in (scratch / "out.mlir", scratch / "report.json", *sorted((scratch / "kernels").glob("*.ptx"))):
        if path.exists():
            made[path.name] = path.read_bytes()
    return made


def compare_builds(scratch, options):
    """Every file in every format by two builds; the number that differ."""
    until, alike, late, different = time.monotonic() + options.budget_s, 0, 0, []
    for path in sources(options.given, scratch, options):
        for form in options.format.split(","):
            if time.monotonic() > until:
                late += 1
                continue
            try:
                before = outcome(options.before / "bin/mp-opt", options.before / "lib", path, scratch, options, form)
                now = outcome("mp-opt", None, path, scratch, options, form)
            except subprocess.TimeoutExpired:
                late += 1
                continue
            wrong = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
            alike += not wrong
            if wrong:
                different.append(f"{path} in {form}: {', '.join(wrong)}")
                print(different[-1], flush=True)
            for name in wrong if options.keep else []:
                options.keep.mkdir(exist_ok=True)
                for label, made in (("before", before), ("now", now)):
                    (options.keep / f"{path.stem}.{form}.{label}.{name.replace(' ', '-')}").write_bytes(made.get(name, b""))
    print(f"{alike} decided alike by both builds, {late} not tried in time, {len(different)} differ")
    return len(different)


def sources(given, scratch, options):
    found = [path for folder in given
             for path in (folder.rglob("*.mlir*") if folder.is_dir() else [folder]) if path.suffix in (".mlir", ".xz")]
    for number, path in enumerate(sorted(found, key=lambda path: (path.stat().st_size, str(path)))):
        path = unpacked(path, scratch, f"{number}-{path.stem}")
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
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--options", default="")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if options.before:
        with tempfile.TemporaryDirectory() as scratch:
            return 1 if compare_builds(pathlib.Path(scratch), options) else 0
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
