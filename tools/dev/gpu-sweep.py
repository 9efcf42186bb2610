#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes every file of a corpus to machine code for several GPUs, and says what did not get there and why.

usage: gpu-sweep.py CORPUS MANIFEST [--bin DIR] [--set core] [--targets sm_80,sm_90a] [--emit cubin] [--seconds 60]

CORPUS holds OWNER+REPOSITORY/PATH as the MANIFEST (tab separated, with columns repo, path and set) names them. Each
file is lowered by `mp-opt --import --mp-to-nvvm`, which itself fails on spilled registers, unresolved functions,
indirect calls and computation left on the host. Printed: a line for each target, then what failed, most frequent reason
first. --json keeps every file's verdict; --format decides precisions first. Exit status: 0 if every file got there.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def reason(stderr):
    """The first error without file, line and names, so that equal ones count together."""
    line = next((l for l in stderr.splitlines() if "error:" in l), stderr.strip().splitlines()[-1] if stderr.strip() else "")
    text = line.split("error:", 1)[-1].strip()
    return re.sub(r"'[^']*/[^']*'|@\w+|%\w+|\b\d+\b", "_", text)[:120]


def lower(tools, path, target, options, folder):
    command = [tools / "mp-opt", "--import", path, "-o", "/dev/null"]
    if options.format:
        command.append(f"--mp-mixed-precision=format={options.format} target={target} table=false")
    command.append(f"--mp-to-nvvm=target={target} emit={options.emit} dir={folder}")
    start = time.time()
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, errors="replace")
    except subprocess.TimeoutExpired:
        return {"verdict": "failed", "reason": f"more than {options.seconds} s"}
    entry = {"seconds": round(time.time() - start, 2)}
    if result.returncode != 0:
        return entry | {"verdict": "failed", "reason": reason(result.stderr)}
    images = list(folder.glob("*." + options.emit))
    entry["bytes"] = sum(image.stat().st_size for image in images)
    return entry | {"verdict": "image" if images else "no kernels"}


def corpus_files(options):
    with options.manifest.open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if options.set in ("all", row["set"]):
                yield row["repo"].replace("/", "+") + "/" + row["path"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--set", default="core", help="value of the manifest's column, or all")
    parser.add_argument("--targets", default="sm_75,sm_80,sm_89,sm_90a,sm_120")
    parser.add_argument("--emit", default="cubin", choices=["ptx", "cubin"])
    parser.add_argument("--format", default="", help="bf16, f16 or tf32: decide precisions first")
    parser.add_argument("--seconds", type=int, default=60, help="limit for one file")
    parser.add_argument("--every", type=int, default=1, help="take one file of so many")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    names = list(corpus_files(options))[:: options.every]
    report, failed = {}, 0
    print("| target | files | image | no kernels | failed | seconds | MB |\n|---|---|---|---|---|---|---|", flush=True)
    reasons = collections.Counter()
    for target in options.targets.split(","):
        entries = report[target] = {}
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                entries[name] = lower(options.bin, options.corpus / name, target, options, pathlib.Path(folder))
        count = collections.Counter(entry["verdict"] for entry in entries.values())
        seconds = sum(entry.get("seconds", 0) for entry in entries.values())
        size = sum(entry.get("bytes", 0) for entry in entries.values()) / 1e6
        print(f"| {target} | {len(names)} | {count['image']} | {count['no kernels']} | {count['failed']} | "
              f"{seconds:.0f} | {size:.1f} |", flush=True)
        failed += count["failed"]
        reasons.update(entry["reason"] for entry in entries.values() if entry["verdict"] == "failed")
    for text, times in reasons.most_common():
        print(f"{times} x {text}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
