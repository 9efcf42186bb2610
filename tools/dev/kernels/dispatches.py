#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts kernel launches, and the bytes that they move, for each function of converted modules.

usage: dispatches.py FILE.mlir ... [--estimate=H100] [--chip=CHIP] [--sample-blocks=8] [--kernels] [--max-launches=N]
                     [--max-moved=RATIO]

Runs every public function on the emulator (mp-run --estimate, docs/concepts/Performance.md), about eight blocks of each launch (0: all of
them), and prints a line: launches, different kernels, bytes of sectors that multiprocessors and L2 exchange, the least that must
move (arguments, constants and results, each whole: tables of embeddings, too), their ratio, and the time that is modelled, never measured, beside the least at documented
peaks. Launches and bytes are those of seeded inputs. --kernels prints a line for each kernel, too. Exits 1 where a function cannot be run,
launches more than --max-launches kernels, or moves more than --max-moved times the least. mp-opt and mp-run are found on PATH.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LINE = "{:<40} {:>8} {:>8} {:>10} {:>10} {:>8} {:>12} {:>9}"
FUNCTION = re.compile(r'^ *func\.func (?:(private|nested) )?@("[^"]+"|[\w.$-]+)', re.M)


def functions(path):
    """Names of the public functions of a module, text or bytecode."""
    elide = ["--mlir-elide-elementsattrs-if-larger=16", "--mlir-elide-resource-strings-if-larger=16"]
    printed = subprocess.run(["mp-opt", path, *elide], capture_output=True, text=True)
    if printed.returncode:
        sys.exit(f"{path}: {printed.stderr.strip()}")
    return [name.strip('"') for visibility, name in FUNCTION.findall(printed.stdout) if not visibility]


def estimate(path, function, options, report):
    """What mp-run says of a function, or its message."""
    command = ["mp-run", path, f"--entry={function}", "--device=emulator", f"--estimate={options.estimate}", f"--json={report}"]
    command += [f"--chip={options.chip}"] if options.chip else []
    command += [f"--sample-blocks={options.sample_blocks}"] if options.sample_blocks else []
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    return json.loads(report.read_text())["estimate"], ""


def row(name, launches, kernels, e, least):
    moved = e["bytes"]
    ratio = f"{moved / least:.2f}" if least else "-"
    return LINE.format(name, launches, kernels, f"{moved * 1e-6:.2f}", f"{least * 1e-6:.2f}", ratio,
                       f"{e['modelled_microseconds']:.2f}", f"{e['speed_of_light_microseconds']:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--estimate", default="H100")
    parser.add_argument("--chip")
    parser.add_argument("--sample-blocks", type=int, default=8)
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--max-launches", type=int)
    parser.add_argument("--max-moved", type=float)
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        print(LINE.format("function", "launches", "kernels", "MB moved", "MB least", "ratio", "modelled us", "light us"))
        for path in options.files:
            for function in functions(path):
                name = f"{path.name} @{function}"
                e, message = estimate(path, function, options, report)
                if e is None:
                    problems.append(f"{name}: {message}")
                    continue
                print(row(name, e["launches"], len(e["kernels"]), e, e["minimum_bytes"]))
                for k in sorted(e["kernels"], key=lambda k: -k["modelled_microseconds"]) if options.kernels else []:
                    print(row("  " + k["name"], k["launches"], "", k, k["touched_bytes"]))
                for sentence in e["left_out"]:
                    print(f"{name}: left out: {sentence}", file=sys.stderr)
                if options.max_launches is not None and e["launches"] > options.max_launches:
                    problems.append(f"{name}: expected at most {options.max_launches} launches, found {e['launches']}")
                if options.max_moved is not None and e["bytes"] > options.max_moved * e["minimum_bytes"]:
                    problems.append(f"{name}: expected at most {options.max_moved} times the least to move, found "
                                    f"{e['bytes'] / max(e['minimum_bytes'], 1):.2f}")
    sys.stdout.flush()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
