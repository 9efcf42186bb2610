#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models a model in f32 and in bf16 from the same f32 weights, which are arguments, on GPUs.

usage: beside-f32.py SCRATCH NAME MP_GEN_ARGUMENT...

One line for each GPU: modelled microseconds of a call, casts of the weights among them, from what a few blocks of each
launch count on the emulator. Exits 1 if bf16 is not modelled faster. mp-gen, mp-opt and mp-run are taken from PATH.
"""
import pathlib
import subprocess
import sys

PARTS = {"sm_80": ("A100",), "sm_90a": ("H100",), "sm_89": ("RTX 4090",)}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def microseconds(module, target, part, scratch):
    lowered = scratch / "lowered.mlir"
    run("mp-opt", module, "-q", f"--mp-to-nvvm=target={target} dispatches=true", "-o", lowered)
    table = run("mp-run", lowered, "--device=emulator", f"--estimate={part}", "--sample-blocks=2")
    return next(float(line.split()[2]) for line in table.splitlines() if line.startswith("all "))


def main():
    scratch, name, arguments = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    scratch.mkdir(parents=True, exist_ok=True)
    wide = scratch / "wide.mlir"
    run("mp-gen", *arguments, "-o", wide)
    slower = False
    for target, parts in PARTS.items():
        narrow = scratch / "narrow.mlir"
        run("mp-opt", wide, "-q", f"--mp-mixed-precision=format=bf16 target={target} table=false", "-o", narrow)
        for part in parts:
            f32, bf16 = (microseconds(module, target, part, scratch) for module in (wide, narrow))
            slower |= bf16 >= f32
            print(f"{name} on {part}: bf16 {bf16:.0f} us, f32 {f32:.0f} us, modelled")
    sys.exit(slower)


if __name__ == "__main__":
    main()
