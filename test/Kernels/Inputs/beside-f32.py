#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models a model in f32 and in bf16 from the same f32 weights, which are arguments, on GPUs.

usage: beside-f32.py SCRATCH NAME FACTOR MP_GEN_ARGUMENT...

One line for each GPU: modelled microseconds of a call, casts of the weights among them, from what a few blocks of each
launch count on the emulator. Behind it, for the first GPU of each target, what deciding expected of both, and how many
times as much that is. Exits 1 if bf16 is not modelled faster, or deciding is off by more than FACTOR. mp-gen, mp-opt and mp-run are taken from PATH.
"""
import pathlib
import re
import subprocess
import sys

PARTS = {"sm_80": ("A100",), "sm_90a": ("H100",), "sm_89": ("L40S", "RTX 4090")}
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def run(*command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout + done.stderr


def microseconds(module, target, parts, scratch):
    lowered = scratch / "lowered.mlir"
    run("mp-opt", module, "-q", f"--mp-to-nvvm=target={target}", "-o", lowered)
    tables = [run("mp-run", lowered, "--device=emulator", f"--estimate={part}", "--sample-blocks=2") for part in parts]
    return [next(float(line.split()[2]) for line in table.splitlines() if line.startswith("all ")) for table in tables]


def expected(table, part):
    """What deciding expects of f32 and of what it decided, from its line "time on PART, modelled: 128 us -> 144 us"."""
    found = re.search(r"time on (.*), modelled: (\S+) (\w+) -> (\S+) (\w+)", table)
    if not found[1].startswith(part):
        sys.exit(f"deciding models {found[1]}, expected {part}")
    return float(found[2]) * UNITS[found[3]], float(found[4]) * UNITS[found[5]]


def main():
    scratch, name, most, arguments = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:]
    scratch.mkdir(parents=True, exist_ok=True)
    wide, narrow = scratch / "wide.mlir", scratch / "narrow.mlir"
    run("mp-gen", *arguments, "-o", wide)
    wrong = False
    for target, parts in PARTS.items():
        table = run("mp-opt", wide, f"--mp-mixed-precision=format=bf16 target={target}", "-o", narrow)
        times = [microseconds(module, target, parts, scratch) for module in (wide, narrow)]
        for part, f32, bf16 in zip(parts, *times):
            wrong |= bf16 >= f32
            print(f"{name} on {part}: bf16 {bf16:.0f} us, f32 {f32:.0f} us, modelled")
        decided = expected(table, parts[0])
        ratios = [ours / of[0] for ours, of in zip(decided, times)]
        wrong |= any(max(ratio, 1 / ratio) > most for ratio in ratios)
        print(f"{name} on {parts[0]}: deciding expects bf16 {decided[1]:.0f} us, {ratios[1]:.2f} times as much, "
              f"f32 {decided[0]:.0f} us, {ratios[0]:.2f} times")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
