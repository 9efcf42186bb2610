#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small train steps the ways JAX and optax write them, for train-sweep.py.

usage: optax-steps.py FOLDER [--only=REGEX]

Needs jax and optax, iree-compile and mp-opt on PATH (docs/guides/FromJAX.md). Each step becomes FOLDER/NAME_step.mlir: every
optimizer of optax that fits, schedules, clipping, counters of several types, packed state, random keys, running statistics,
several losses, loops over micro-batches, loss scales of the step's own, and models from linear regression to attention. What
cannot be converted is named, and the exit status is 1.
"""
import argparse
import pathlib
import re
import subprocess
import sys

import jax

from optax_steps import networks, optimizers, state  # noqa: F401, which fill STEPS
from optax_steps.basics import STEPS


def convert(make, folder, name):
    """Why the step was not written, or nothing."""
    function, arguments = make()
    portable = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
    for command in (["iree-compile", "--iree-input-type=stablehlo", "--compile-to=input", "-"],
                    ["mp-opt", "--import", "-", "-o", folder / f"{name}_step.mlir"]):
        done = subprocess.run([str(word) for word in command], input=portable, capture_output=True, text=True)
        if done.returncode:
            return f"{command[0]}: {done.stderr[:300]}"
        portable = done.stdout
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="steps whose name matches")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    chosen = {name: make for name, make in STEPS.items() if re.search(options.only, name)}
    failures = {name: why for name, make in chosen.items() if (why := convert(make, options.folder, name))}
    for name, why in failures.items():
        print(f"{name}: {why}")
    print(f"{len(chosen) - len(failures)} of {len(chosen)} steps written")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
