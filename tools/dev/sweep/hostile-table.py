#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks graphs made to break proofs, many at a time, and makes a table of what they show.

usage: hostile-table.py [--first=0] [--graphs=40000] [--chunk=100] [--jobs=1] [--records=FILE] [--budget-s=N]
                        [--write=docs/results/HostileGraphs.md]

Runs `hostile` (from PATH) on --graphs seeds from --first, chunk by chunk, and adds up what it counts. --records keeps
each chunk, so that a later call goes on. From 1000000 on seeds draw families that came later, too, from 10000000,
100000000, 1000000000, 10000000000 and 100000000000 on yet more; these have tables of their own. Exits 1 if a graph shows something proved to be false.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Records, write_table  # noqa: E402

# Findings that make nothing false that was proved.
HARMLESS = ("assumed", "constants")
# kJumpSeeds, kChoiceSeeds, kFreshSeeds, kNewestSeeds, kLatestSeeds and kLaterSeeds of HostileGraph.h, and the marks of their tables.
MARKS = ((100000000000, "jumps"), (10000000000, "choices"), (1000000000, "fresh"), (100000000, "newest"), (10000000, "latest"),
         (1000000, "later"), (0, "table"))
VERDICTS = ("overflow", "pole", "range", "error", "broken")


def check(begin, end):
    done = subprocess.run(["hostile", f"--from={begin}", f"--to={end}", "--json"], capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"hostile-table.py: hostile --from={begin} --to={end} exits {done.returncode}: {done.stderr[-500:]}")
    return found | {"from": begin, "to": end}


def add(sums, counts):
    for key, value in counts.items():
        if isinstance(value, dict):
            add(sums.setdefault(key, {}), value)
        elif isinstance(value, list):
            sums.setdefault(key, []).extend(value)
        elif key not in ("from", "to"):
            sums[key] = sums.get(key, 0) + value


def kinds(begin, end):
    """How many graphs of seeds `begin` to `end` are spelled, run and read how."""
    done = subprocess.run(["hostile", "--kinds", f"--from={begin}", f"--to={end}"], capture_output=True, text=True, check=True)
    lines = ["| kind | graphs |", "|---|---|"]
    return lines + [f"| {kind} | {count} |" for kind, count in sorted(json.loads(done.stdout).items())]


def table(sums):
    false = [finding for finding in sums["findings"] if finding["verdict"] not in HARMLESS]
    lines = [f"{sums['graphs']} graphs, {sums['runs']} runs, {sums['values']} values inside held to their ranges, {sums['bounded']} of them "
             f"to an error bound: {len(false)} false.", ""]
    lines += ["| seen | graphs |", "|---|---|"]
    names = {"overflow": "new NaN or infinity, proved to fit", "pole": "new NaN or infinity behind a pole, proved", "range": "outside a range",
             "error": "outside a certified error", "broken": "not converted or not run"}
    for verdict in VERDICTS:
        lines.append(f"| {names[verdict]} | {sum(finding['verdict'] == verdict for finding in sums['findings'])} |")
    lines.append("| new NaN or infinity of what is said to be assumed | "
                 f"{sum(finding['verdict'] == 'assumed' for finding in sums['findings'])} |")
    lines.append(f"| new NaN or infinity on infinite arguments, or where f32 itself comes within a factor of 2 of its limit | {sums['beyond']} |")
    lines.append("| outside a certified error by what rounding a constant lost, which the bound does not count and says so | "
                 f"{sum(finding['verdict'] == 'constants' for finding in sums['findings'])} |")
    lines += ["", f"The checker confirms {sums['confirmed']} factors, and leaves some open in {sum(sums['unconfirmed'].values())} graphs"
              + (": " if sums["unconfirmed"] else "")
              + ", ".join(f"{count} of {family}" for family, count in sorted(sums["unconfirmed"].items())) + ".", ""]
    lines += ["| claim | graphs that keep its hypotheses | contractions in f16, proved | graphs that break one | contractions in f16, proved |",
              "|---|---|---|---|---|"]
    for family, counts in sorted(sums["claims"].items()):
        part = [f"{counts.get('graphs ' + state, 0)} | {counts.get('narrow ' + state, 0)} of {counts.get('contractions ' + state, 0)}"
                for state in ("hold", "broken")]
        lines.append(f"| {family} | {' | '.join(part)} |")
    if false:
        lines += ["", "| verdict | format | graph | arithmetic | seen |", "|---|---|---|---|---|"]
        lines += [f"| {f['verdict']} | {f['format'] or 'f32'} | {f['graph']} | {f['arithmetic']} | {f['what']} |" for f in false]
    return lines, false


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--graphs", type=int, default=40000)
    parser.add_argument("--chunk", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--budget-s", type=float, default=float("inf"))
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    kept = Records(options.records, lambda record: (record["from"], record["to"]))
    until, sums = time.monotonic() + options.budget_s, {"findings": [], "unconfirmed": {}, "claims": {}}
    end = options.first + options.graphs
    chunks = [(begin, min(begin + options.chunk, end)) for begin in range(options.first, end, options.chunk)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for record in pool.map(lambda chunk: check(*chunk) if time.monotonic() < until else None,
                               [chunk for chunk in chunks if chunk not in kept]):
            if record:
                kept.keep(record)
    for chunk in filter(kept.__contains__, chunks):
        add(sums, kept.last(chunk))
    lines, false = table(sums)
    # A prefix of the seeds is described; where a run was stopped, that is what there is.
    done = next((begin for begin, behind in chunks if (begin, behind) not in kept), end)
    lines += ["", *kinds(options.first, done)]
    print("\n".join(lines))
    if options.write:
        mark = next(mark for first, mark in MARKS if options.first >= first)
        write_table(options.write, "\n".join(lines), mark)
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
