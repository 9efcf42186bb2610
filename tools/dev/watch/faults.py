#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks trainings of mp-train in every way that the tests know, on the host and in the device emulator, and prints what was found, a row a fault.

usage: faults.py [--kills=N] [--only=host,emulator] [--write=PAGE]

It runs what mp-train.test and mp-train-on-device.test run, with a hundred kills each. Final states are compared bit for bit with those of undisturbed
trainings; the first that differs ends it with status 1. Needs mp-gen and mp-train on PATH, and no Python package.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

from digits import ROOT, run

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import write_table  # noqa: E402

PLACES = {
    "host": ("train-and-kill.py", "digits --batch=8 --train=adam"),
    "emulator": ("train-on-device.py", "mlp --layers=2 --inputs=16 --hidden=16 --outputs=8 --batch=16 --train=sgd"),
}


def rows_of(place, kills):
    """(fault, what was found) of each line that the script prints."""
    script, model = PLACES[place]
    with tempfile.TemporaryDirectory() as folder:
        run("mp-gen", *model.split(), "-o", pathlib.Path(folder) / "step.mlir")
        process = subprocess.Popen([sys.executable, "-u", ROOT / "test/Execution/Inputs" / script, "mp-train", folder, str(kills)],
                                   stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            fault, _, found = line.strip().partition(": ")
            yield fault, found.replace(folder + "/", "").replace("|", "\\|")
        if process.wait() != 0:
            sys.exit(f"{script}: a training did not end as it should")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", default=",".join(PLACES))
    parser.add_argument("--write", type=pathlib.Path, help="a page with the mark of the table")
    options = parser.parse_args()
    lines = ["| where | what | found |", "|---|---|---|"]
    print("\n".join(lines), flush=True)
    for place in options.only.split(","):
        for fault, found in rows_of(place, options.kills):
            lines.append(f"| {place} | {fault} | {found} |")
            print(lines[-1], flush=True)
    if options.write:
        write_table(options.write, "\n".join(lines), "faults")
    return 0


if __name__ == "__main__":
    sys.exit(main())
