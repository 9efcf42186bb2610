#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modelled time of storage as decided, beside what painting compilers would choose, on real graphs.

usage: placement-table.py [FILE.mlir|FOLDER ...] [--models=bert,gpt2,...] [--format=bf16] [--target=sm_80]
                          [--objective=time] [--options=WORDS] [--problems=DIR] [--solve] [--write=docs/Placement.md]

Decides the generated models (MODELS below; --models= for none of them) and the given files, those of
folders that convert, with mp-opt, and prints a line each: casts, the bytes they read and the modelled time,
as given in f32, as decided and as painted. Nothing is measured. mp-gen and mp-opt are found on PATH.
--problems writes the optimisation problems to DIR; --solve has HiGHS solve each of them
(test/Assignment/solve_with_highs.py, which needs scipy). Exits 1 if a painting is cheaper than a
decision, a decision is not proven optimal, or HiGHS disagrees.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MODELS = {
    "bert": ("BERT-base", ["bert", "--layers=12", "--hidden=768", "--heads=12", "--vocab=0"]),
    "gpt2": ("GPT-2", ["gpt2", "--layers=12", "--hidden=768", "--heads=12", "--vocab=0"]),
    "resnet50": ("ResNet-50", ["resnet50"]),
    "llama": ("Llama block", ["llama", "--layers=1", "--vocab=0"]),
    "bert-adam": ("BERT, 2 layers, Adam step", ["bert", "--layers=2", "--vocab=0", "--train=adam"]),
}
NAMES = ("Grappler", "TVM", "XLA")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def decide(source, name, options, folder):
    """The placements of one file, weighted by calls; None if it does not convert or has no contraction."""
    report = folder / "report.json"
    wishes = [f"format={options.format}", f"target={options.target}", f"objective={options.objective}",
              f"report={report}", "table=false", options.options]
    if options.problems:
        options.problems.mkdir(parents=True, exist_ok=True)
        wishes.append(f"dump-problem={options.problems / (name.replace(' ', '-').replace('/', '+') + '.json')}")
    done = subprocess.run(["mp-opt", source, f"--mp-mixed-precision={' '.join(wishes)}", "-o", "/dev/null"],
                          capture_output=True, text=True)
    if done.returncode:
        return None
    placements = json.loads(report.read_text())["placement"]
    if not any(p["before"] for p in placements):
        return None
    row = {"name": name, "proven": all(p["proven_optimal"] for p in placements),
           "assumed": any(p["assumed_sizes"] or p["assumed_trips"] for p in placements)}
    total = lambda pick: sum(pick(p) * p["calls"] for p in placements)
    row["before"], row["after"] = total(lambda p: p["before"]), total(lambda p: p["after"])
    row["ours"] = (row["after"], total(lambda p: p["casts"]), total(lambda p: p["cast_bytes"]))
    for painter in NAMES:
        row[painter] = tuple(total(lambda p: p[key][painter]) for key in ("painted", "painted_casts", "painted_cast_bytes"))
    return row


def rows(options):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for key in filter(None, options.models.split(",")):
            name, arguments = MODELS[key]
            source = folder / "model.mlir"
            subprocess.run(["mp-gen", *arguments, "-o", source], check=True)
            row = decide(source, name, options, folder)
            if row is None:
                sys.exit(f"placement-table.py: mp-opt does not convert {name}")
            yield row
        for given in options.files:
            for source in sorted(given.rglob("*.mlir")) if given.is_dir() else [given]:
                name = source.relative_to(given).as_posix() if given.is_dir() else source.name
                row = decide(source, name, options, folder)
                if row:
                    yield row
                elif not given.is_dir():
                    sys.exit(f"placement-table.py: mp-opt does not convert {source}, or it computes nothing")


def cells(row, scale):
    cost = lambda entry: f"{entry[0] / scale:.1f} ({entry[1]} casts, {entry[2] / 1e6:.1f} MB)"
    return (f"| {row['name']}{'*' if row['assumed'] else ''} | {row['before'] / scale:.1f} | {cost(row['ours'])} | "
            + " | ".join(cost(row[painter]) for painter in NAMES) + f" | {'yes' if row['proven'] else 'no'} |")


def write(path, lines):
    """Everything behind the marker is the table."""
    text = path.read_text()
    marker = "<!-- table -->\n"
    path.write_text(text[:text.index(marker) + len(marker)] + "\n" + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--objective", default="time", choices=("time", "memory"))
    parser.add_argument("--options", default="")
    parser.add_argument("--problems", type=pathlib.Path)
    parser.add_argument("--solve", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    if options.solve and not options.problems:
        parser.error("--solve needs --problems=DIR")
    unit, scale = ("us", 1e6) if options.objective == "time" else ("MB", 1e6)
    lines = [f"| graph | in f32, {unit} | as decided | as Grappler | as TVM | as XLA | proven |", "|---|---|---|---|---|---|---|"]
    found, bad = [], []
    for row in rows(options):
        found.append(row)
        lines.append(cells(row, scale))
        print(lines[-1], flush=True)
        bad += [f"{row['name']}: not proven optimal"] * (not row["proven"])
        bad += [f"{row['name']}: {painter} is cheaper" for painter in NAMES if row[painter][0] < row["after"]]
    better = {painter: sum(row[painter][0] > row["after"] for row in found) for painter in NAMES}
    summary = (f"{len(found)} graphs, {options.format} on {options.target}: decided better than "
               + ", ".join(f"{painter} on {count}" for painter, count in better.items())
               + f"; worse on {sum('cheaper' in line for line in bad)}; {sum(row['proven'] for row in found)} proven optimal.")
    print(summary)
    if options.write:
        write(options.write, [summary, "", *lines])
    for line in bad:
        print(line, file=sys.stderr)
    if options.solve:
        solver = ROOT / "test" / "Assignment" / "solve_with_highs.py"
        bad += [""] * (subprocess.run([sys.executable, solver, *sorted(options.problems.glob("*.json"))]).returncode != 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
