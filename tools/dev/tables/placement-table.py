#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modelled time of storage as decided, beside what painting compilers would choose, on real graphs.

usage: placement-table.py [FILE.mlir|FOLDER ...] [--models=bert,gpt2,...] [--format=bf16] [--target=sm_80]
                          [--objective=time] [--options=WORDS] [--corpus=FOLDER] [--jobs=2] [--limit-s=120] [--budget-s=N]
                          [--problems=DIR] [--solve] [--write=docs/results/Placement.md]

Decides the generated models (MODELS below; --models= for none of them) and the given files, those of
folders that convert, with mp-opt, and prints a line each: casts, the bytes they read and the modelled time,
as given in f32, as decided and as painted, and the error of the results in norm, estimated and certified for
arguments within 1. Nothing is measured. mp-gen and mp-opt are found on PATH. --corpus adds a line per
project of a corpus (PROJECT/PATH, or a corpus.tar.xz of corpus/PROJECT/PATH), files summed up, small
ones first, until --budget-s is spent; every file counts for the verdict.
--problems writes the optimisation problems to DIR; --solve has HiGHS solve each of them
(test/Assignment/solve_with_highs.py, which needs scipy). Exits 1 if a painting is cheaper than a
decision, a decision is not proven optimal, or HiGHS disagrees.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import extract, unpacked, write_table  # noqa: E402

MODELS = {
    "bert": ("BERT-base", ["bert", "--layers=12", "--hidden=768", "--heads=12", "--vocab=0"]),
    "gpt2": ("GPT-2", ["gpt2", "--layers=12", "--hidden=768", "--heads=12", "--vocab=0"]),
    "resnet50": ("ResNet-50", ["resnet50"]),
    "llama": ("Llama block", ["llama", "--layers=1", "--vocab=0"]),
    "vit-adam": ("ViT, 2 layers, Adam step", ["vit", "--layers=2", "--train=adam"]),
    "bert-adam": ("BERT, 2 layers, Adam step", ["bert", "--layers=2", "--vocab=0", "--train=adam"]),
}
LATE = {"contractions": 0}  # not tried
NAMES = ("Grappler", "TVM", "XLA")
ROOT = pathlib.Path(__file__).resolve().parents[3]


def decide(source, name, options, folder):
    """The placements of one file, weighted by calls; None if it does not convert in time or computes nothing."""
    report = folder / f"report{threading.get_ident()}.json"
    wishes = [f"format={options.format}", f"target={options.target}", f"objective={options.objective}",
              f"report={report}", "table=false", "certify=1", options.options]
    if options.problems:
        options.problems.mkdir(parents=True, exist_ok=True)
        wishes.append(f"dump-problem={options.problems / (name.replace(' ', '-').replace('/', '+') + '.json')}")
    try:
        done = subprocess.run(["mp-opt", source, f"--mp-mixed-precision={' '.join(wishes)}", "-o", "/dev/null"],
                              capture_output=True, text=True, timeout=options.limit_s)
    except subprocess.TimeoutExpired:
        print(f"{name}: not decided within {options.limit_s} s", file=sys.stderr)
        return None
    if done.returncode:
        return None
    found = json.loads(report.read_text())
    placements = found["placement"]
    if not any(p["before"] for p in placements):
        return None
    row = {"name": name, "proven": all(p["proven_optimal"] for p in placements),
           "assumed": any(p["assumed_sizes"] or p["assumed_trips"] for p in placements)}
    total = lambda pick: sum(pick(p) * p["calls"] for p in placements)
    estimates = [p["modelled_error"] for p in placements if p["modelled_error"] is not None]
    row["estimated"] = max(estimates, default=None)
    row["bounds"] = [(c["bound"], c["magnitude"]) for c in found["certificates"]]
    row["contractions"], row["narrowed"] = found["totals"]["contractions"], found["totals"]["narrowed"]
    row["before"], row["after"] = total(lambda p: p["before"]), total(lambda p: p["after"])
    row["ours"] = (row["after"], total(lambda p: p["casts"]), total(lambda p: p["cast_bytes"]))
    for painter in NAMES:
        row[painter] = tuple(total(lambda p: p[key][painter]) for key in ("painted", "painted_casts", "painted_cast_bytes"))
    return row


def graphs_in(folder, scratch):
    """Names and paths of all graphs below a folder; packed ones (.mlir.xz, corpus.tar.xz) are unpacked first."""
    if (folder / "corpus.tar.xz").exists():
        extract(folder / "corpus.tar.xz", scratch)
        folder = scratch / "corpus"
    for path in sorted([*folder.rglob("*.mlir"), *folder.rglob("*.mlir.xz")]):
        name = path.relative_to(folder).as_posix().removesuffix(".xz")
        yield name, unpacked(path, scratch, name.replace("/", "+"))


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
            for name, source in graphs_in(given, folder) if given.is_dir() else [(given.name, given)]:
                row = decide(source, name, options, folder)
                if row:
                    yield row
                elif not given.is_dir():
                    sys.exit(f"placement-table.py: mp-opt does not convert {source}, or it computes nothing")


def grouped(options):
    """A row per project of the corpus, and every row of its files."""
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        scratch = pathlib.Path(scratch)
        sources = sorted(graphs_in(options.corpus, scratch), key=lambda entry: (entry[1].stat().st_size, entry[0]))
        until = time.monotonic() + options.budget_s
        work = lambda entry: decide(entry[1], entry[0], options, scratch) if time.monotonic() < until else LATE
        projects, late = {}, 0
        for (name, _), row in zip(sources, pool.map(work, sources)):
            late += row is LATE
            if row and row["contractions"]:
                projects.setdefault(name.split("/")[0], []).append(row)
    if late:
        print(f"the {late} largest of {len(sources)} files were not tried: --budget-s", file=sys.stderr)
    for project, members in sorted(projects.items()):
        add = lambda key: tuple(sum(row[key][i] for row in members) for i in range(3))
        yield {"name": f"{project}, {len(members)} graphs", "members": members,
               "proven": all(row["proven"] for row in members), "assumed": any(row["assumed"] for row in members),
               "before": sum(row["before"] for row in members), "after": sum(row["after"] for row in members),
               "estimated": max((row["estimated"] for row in members if row["estimated"] is not None), default=None),
               "bounds": [bound for row in members for bound in row["bounds"]],
               "ours": add("ours"), **{painter: add(painter) for painter in NAMES}}


def certified(row):
    """How far results may be off, in the worst case, where that is known of all; else of how many."""
    known = [bound for bound, _ in row["bounds"] if bound is not None]
    if len(known) == len(row["bounds"]) == 1:
        return f"{known[0]:.2g}" + (f" of {row['bounds'][0][1]:.2g}" if row["bounds"][0][1] is not None else "")
    return f"{len(known)} of {len(row['bounds'])}" + (f", {min(known):.2g} to {max(known):.2g}" if known else "")


def cells(row, scale):
    cost = lambda entry: f"{entry[0] / scale:.1f} ({entry[1]} casts, {entry[2] / 1e6:.1f} MB)"
    estimated = "none" if row["estimated"] is None else f"{row['estimated']:.2g}"
    return (f"| {row['name']}{'*' if row['assumed'] else ''} | {row['before'] / scale:.1f} | {cost(row['ours'])} | "
            + " | ".join(cost(row[painter]) for painter in NAMES)
            + f" | {estimated} | {certified(row)} | {'yes' if row['proven'] else 'no'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--objective", default="time", choices=("time", "memory"))
    parser.add_argument("--options", default="")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit-s", type=int, default=120)
    parser.add_argument("--budget-s", type=float, default=float("inf"))
    parser.add_argument("--problems", type=pathlib.Path)
    parser.add_argument("--solve", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    if options.solve and not options.problems:
        parser.error("--solve needs --problems=DIR")
    unit, scale = ("us", 1e6) if options.objective == "time" else ("MB", 1e6)
    head = [f"| graph | in f32, {unit} | as decided | as Grappler | as TVM | as XLA | error, estimated | certified | proven |",
            "|---|---|---|---|---|---|---|---|---|"]
    table, bad = [], []

    def show(some, title):
        """Prints and keeps the lines of some rows and what they come to."""
        print("\n".join(head), flush=True)
        lines, graphs = [*head], []
        for row in some:
            graphs += row.get("members", [row])
            lines.append(cells(row, scale))
            print(lines[-1], flush=True)
        for row in graphs:
            bad.extend([f"{row['name']}: not proven optimal"] * (not row["proven"]))
            bad.extend(f"{row['name']}: {painter} is cheaper" for painter in NAMES if row[painter][0] < row["after"])
        better = {painter: sum(row[painter][0] > row["after"] for row in graphs) for painter in NAMES}
        worse = sum(any(row[painter][0] < row["after"] for painter in NAMES) for row in graphs)
        summary = (f"{title}{len(graphs)} graphs, {options.format} on {options.target}: decided better than "
                   + ", ".join(f"{painter} on {count}" for painter, count in better.items())
                   + f"; worse on {worse}; {sum(row['proven'] for row in graphs)} proven optimal; modelled slower than "
                   f"f32 on {sum(row['after'] > row['before'] for row in graphs)}.")
        print(summary, flush=True)
        table.extend([summary, "", *lines, ""])

    show(rows(options), "")
    if options.corpus:
        show(grouped(options), "The corpus, files with contractions: ")
    if options.write:
        write_table(options.write, "\n".join(table[:-1]))
    for line in bad:
        print(line, file=sys.stderr)
    if options.solve:
        solver = ROOT / "test" / "Assignment" / "solve_with_highs.py"
        bad += [""] * (subprocess.run([sys.executable, solver, *sorted(options.problems.glob("*.json"))]).returncode != 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
