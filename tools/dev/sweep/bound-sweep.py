#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the functions of a corpus and sets what they compute against proved ranges and certified errors.

usage: bound-sweep.py FOLDER [...] [--format=bf16] [--numerics=sm_80] [--dim=8] [--functions=8] [--jobs=2]
                      [--limit-s=30] [--budget-s=N] [--records=FILE] [--write=docs/results/RangeBounds.md]

FOLDER holds .mlir files below a folder per project, or .mlir.xz files. Of each file the first public functions are
run on seeded inputs with mp-run --check-ranges, and, converted to the format, with mp-run
--check-errors on IEEE arithmetic and on that of a GPU's Tensor Cores. Files go from small to large;
what cannot run, or takes longer than --limit-s, is counted. Prints a line per project: runs, values, how many
have a bound, by what power of two bounds lie above what was seen on average. With --records what is found is kept in
FILE, a line for each source file, and a later call goes on from there. --write puts the table behind the marker.
Exits 1 if a value lies outside. mp-opt and mp-run are found on PATH.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Records, unpacked, write_table  # noqa: E402

FUNCTION = re.compile(r"func\.func\s+(?:public\s+)?@(\"[^\"]+\"|[\w$.-]+)\s*\(")
TALLY = re.compile(r"(\d+) values, (\d+) bounded(?:, bounds 2\^(-?[\d.]+) above what was seen on average)?; (\d+) outside")
KINDS = ("ranges", "errors", "errors on Tensor Cores")


class Tally:
    def __init__(self):
        self.runs = self.values = self.bounded = self.outside = 0
        self.excess = collections.Counter()  # weight of each average

    def add(self, values, bounded, excess, outside):
        self.runs += 1
        self.values += int(values)
        self.bounded += int(bounded)
        self.outside += int(outside)
        if excess:
            self.excess[float(excess)] += int(bounded)

    def text(self):
        weight = sum(self.excess.values())
        above = f"2^{sum(e * n for e, n in self.excess.items()) / weight:.1f}" if weight else "-"
        return f"{self.runs} | {self.values} | {self.bounded} | {above} | {self.outside}"


def run(command, limit):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit, errors="replace").stdout
    except subprocess.TimeoutExpired:
        return ""


def sweep(path, options, scratch):
    """Kind, counts and violation (or nothing) of every check of one file."""
    text = unpacked(path, scratch, f"{threading.get_ident()}.unpacked").read_text(errors="replace")
    names = [name.strip('"') for name in FUNCTION.findall(text)][:options.functions]
    source = scratch / f"{threading.get_ident()}.mlir"
    mixed = scratch / f"{threading.get_ident()}.mixed.mlir"
    source.write_text(text)
    mixed.unlink(missing_ok=True)
    if names:
        run(["mp-opt", source, f"--mp-mixed-precision=format={options.format} table=false", "-o", mixed], options.limit_s)
    found = []
    for name in names:
        common = [f"--entry={name}", f"--dim={options.dim}"]
        checks = [(KINDS[0], ["mp-run", source, *common, "--check-ranges"])]
        if mixed.exists():
            checks += [(KINDS[1], ["mp-run", mixed, *common, "--check-errors"]),
                       (KINDS[2], ["mp-run", mixed, *common, "--check-errors", f"--numerics={options.numerics}"])]
        for kind, command in checks:
            out = run(command, options.limit_s)
            match = TALLY.search(out)
            if not match:
                break  # cannot run here, or not in time
            found.append((kind, match.groups(), "" if match[4] == "0" else f"{path}: @{name}: {kind}: {out}"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--numerics", default="sm_80")
    parser.add_argument("--dim", type=int, default=8)
    parser.add_argument("--functions", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit-s", type=float, default=30)
    parser.add_argument("--budget-s", type=float, default=float("inf"))
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    records = Records(options.records, lambda record: record["file"])
    until = time.monotonic() + options.budget_s
    files = [(path, path.relative_to(folder).parts[0] if len(path.relative_to(folder).parts) > 1 else folder.name)
             for folder in options.folders for path in [*folder.rglob("*.mlir"), *folder.rglob("*.mlir.xz")]]
    files.sort(key=lambda entry: (entry[0].stat().st_size, str(entry[0])))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def work(path):
            if str(path) not in records and time.monotonic() < until:
                records.keep({"file": str(path), "found": sweep(path, options, pathlib.Path(scratch))})

        list(pool.map(work, (path for path, _ in files)))
    tallies = collections.defaultdict(lambda: {kind: Tally() for kind in KINDS})
    tried, ran, violations = 0, 0, []
    for path, project in files:
        found = records.last(str(path))["found"] if str(path) in records else None
        tried += found is not None
        ran += bool(found)
        for kind, counts, violation in found or []:
            tallies[project][kind].add(*counts)
            if violation:
                violations.append(violation)
                print(violation, file=sys.stderr, flush=True)
    lines = [f"{len(files)} files, {tried} tried, {ran} with a function that runs; {options.format}, seeded inputs, "
             f"dynamic sizes {options.dim}; {len(violations)} checks failed.", "",
             "| project | checked | runs | values | bounded | bounds above what was seen | outside |", "|---|---|---|---|---|---|---|"]
    for project in sorted(tallies):
        for kind in KINDS:
            if tallies[project][kind].runs:
                name = kind if kind != KINDS[2] else f"errors, {options.numerics}"
                lines.append(f"| {project} | {name} | {tallies[project][kind].text()} |")
    print("\n".join(lines))
    if options.write:
        write_table(options.write, "\n".join(lines))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
