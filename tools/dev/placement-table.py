#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modelled time of storage as decided, beside what painting compilers would choose, on real graphs.

usage: placement-table.py [--format=bf16] [--target=sm_80] [--objective=time] [--problems=DIR]

Generates BERT-base, GPT-2, ResNet-50 and a Llama block with mp-gen, decides them with mp-opt (both
found on PATH) and prints one line each: casts, bytes they read, modelled time in f32, as decided
and as painted. Nothing is measured. With --problems the optimisation problems are written to DIR, to
be solved by test/Assignment/solve_with_highs.py. Exits 1 if a painting is cheaper than the decision
or the decision is not proven optimal.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MODELS = {
    "BERT-base": ["bert", "--layers=12", "--hidden=768", "--heads=12", "--vocab=0"],
    "GPT-2": ["gpt2", "--layers=12", "--hidden=768", "--heads=12", "--vocab=0"],
    "ResNet-50": ["resnet50"],
    "Llama block": ["llama", "--layers=1", "--vocab=0"],
}


def decide(name, arguments, options, folder):
    """The report of one model."""
    source, report = folder / "model.mlir", folder / "report.json"
    subprocess.run(["mp-gen", *arguments, "-o", source], check=True)
    wishes = [f"format={options.format}", f"target={options.target}", f"objective={options.objective}",
              f"report={report}", "table=false"]
    if options.problems:
        options.problems.mkdir(parents=True, exist_ok=True)
        wishes.append(f"dump-problem={options.problems / (name.replace(' ', '-') + '.json')}")
    subprocess.run(["mp-opt", source, f"--mp-mixed-precision={' '.join(wishes)}", "-o", "/dev/null"],
                   check=True)
    return json.loads(report.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--objective", default="time")
    parser.add_argument("--problems", type=pathlib.Path)
    options = parser.parse_args()
    good, scale = True, 1e6
    names = None
    for name, arguments in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            report = decide(name, arguments, options, pathlib.Path(folder))
        placements = report["placement"]
        total = {key: sum(p[key] for p in placements) for key in ("before", "after")}
        painted = {key: sum(p["painted"][key] for p in placements) for key in placements[0]["painted"]}
        proven = all(p["proven_optimal"] for p in placements)
        if names is None:
            names = list(painted)
            unit = "us" if placements[0]["unit"] == "ps" else "MB"
            print(f"| model | casts | read by casts, MB | f32, {unit} | decided, {unit} | extra roundings | "
                  + " | ".join(f"as {n}, {unit}" for n in names) + " | proven |")
            print("|---" * (7 + len(names)) + "|")
        print(f"| {name} | {len(report['casts'])} | {sum(c['bytes'] for c in report['casts']) / 1e6:.1f} | "
              f"{total['before'] / scale:.1f} | {total['after'] / scale:.1f} | "
              f"{sum(p['extra_roundings'] for p in placements)} | "
              + " | ".join(f"{painted[n] / scale:.1f}" for n in names)
              + f" | {'yes' if proven else 'no'} |")
        good &= proven and all(cost >= total["after"] for cost in painted.values())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
