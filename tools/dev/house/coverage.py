#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints which share of the lines and branches of lib runs in the unit tests, room by room.

usage: coverage.py [BUILD] [--tests NAME ...] [--worst N] [--seconds S]

BUILD (default build/coverage) is of the preset coverage: `tools/dev/build.sh coverage RuntimeTests SupportTests`. Runs the
GoogleTest programs that are built there, or those that are named, for S seconds each at most, and counts what all of them
together ran of the rooms that they are linked from. Tests that run tools on files (lit) are not among them, so that rooms of
passes show less than all tests cover. --worst: the N files with most lines that nothing ran. Exits with 1 if a program fails.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")


def tool(name):
    path = LLVM / name if (LLVM / name).exists() else shutil.which(name)
    return path or sys.exit(f"coverage.py: {name} is not installed")


def run(programs, folder, seconds):
    """Runs each program; returns those that failed. One that takes too long counts with what it ran: it is asked to end."""
    failed = []
    for program in programs:
        environment = dict(os.environ, LLVM_PROFILE_FILE=str(folder / f"{program.name}.profraw"))
        command = ["timeout", "--signal=INT", str(seconds), program, "--gtest_brief=1"]
        status = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode
        if status != 0:
            failed.append(f"{program.name} ({'not over in time' if status == 124 else status})")
    return failed


def rooms_of(export):
    """Room to [lines, those that ran, branches, those that were taken], and the same of each file."""
    rooms, files = collections.defaultdict(lambda: [0, 0, 0, 0]), {}
    for file in export["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        parts = path.parts
        if "lib" not in parts or "usr" in parts[:2]:
            continue
        name = "/".join(parts[len(parts) - parts[::-1].index("lib") - 1:])
        summary = file["summary"]
        counts = [summary[kind][key] for kind in ("lines", "branches") for key in ("count", "covered")]
        files[name] = counts
        room = rooms["/".join(name.split("/")[:2])]
        for at, count in enumerate(counts):
            room[at] += count
    return rooms, files


def share(count, covered):
    return f"{100 * covered / count:.1f} %" if count else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/coverage")
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--worst", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    known = sorted(path for path in (options.build / "test/bin").glob("*Tests") if os.access(path, os.X_OK))
    programs = [path for path in known if not options.tests or path.name in options.tests]
    if not programs:
        sys.exit(f"coverage.py: no test program in {options.build}/test/bin: tools/dev/build.sh coverage RuntimeTests")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        failed = run(programs, folder, options.seconds)
        profile = folder / "all.profdata"
        subprocess.run([tool("llvm-profdata"), "merge", "-sparse", *folder.glob("*.profraw"), "-o", profile], check=True)
        objects = [word for program in programs[1:] for word in ("-object", program)]
        command = [tool("llvm-cov"), "export", "--summary-only", f"--instr-profile={profile}", programs[0], *objects]
        rooms, files = rooms_of(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
    print("| room | lines | run | branches | taken |\n|---|---|---|---|---|")
    everything = [0, 0, 0, 0]
    for name, counts in sorted(rooms.items()):
        everything = [one + other for one, other in zip(everything, counts)]
        print(f"| {name} | {counts[0]:,} | {share(*counts[:2])} | {counts[2]:,} | {share(*counts[2:])} |")
    if options.worst:
        print("\nMost lines that nothing ran:")
        for name, counts in sorted(files.items(), key=lambda one: one[1][1] - one[1][0])[:options.worst]:
            print(f"  {counts[0] - counts[1]} of {counts[0]} in {name}")
    print(f"\n{', '.join(path.name for path in programs)}: {share(*everything[:2])} of {everything[0]:,} lines, "
          f"{share(*everything[2:])} of {everything[2]:,} branches" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
