#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what each scaling recipe costs in accuracy, as the table of docs/results/RecipeErrors.md.

usage: scaling-table.py [--large]

Generated models with seeded weights, converted by each recipe and by bf16, checked for erasure and
compared with their f32 form on seeded input. mp-gen, mp-opt and mp-run are found on PATH. Exit
status 1 if a conversion does not erase to its original.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

MODELS = {"MLP": "mlp --weights=constants --layers=3 --inputs=256 --hidden=256 --outputs=256 --batch=32",
          "BERT": "bert --weights=constants --layers=2 --hidden=128 --heads=2 --intermediate=512 --seq=32 --vocab=200"}
LARGE = {"MLP": "mlp --weights=constants", "BERT": "bert --weights=resources"}
CONVERSIONS = ["format=bf16"] + ["recipe=" + name for name in (
    "current", "current-pow2", "row", "block", "deepgemm", "mxfp8", "mxfp4", "nvfp4", "int8", "int8-weights",
    "int4-weights")]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def measure(original, converted, conversion):
    """(contractions or operands scaled, error relative to the largest, in norm, as estimated, SQNR)"""
    table = run("mp-opt", original, f"--mp-mixed-precision={conversion} target=sm_89", "-o", converted).stderr
    run("mp-opt", converted, f"--mp-check-erasure=original={original}", "-o", "/dev/null")
    scaled = re.search(r"scaled: (\d+)", table)
    estimate = re.search(r"in norm, estimated: ([0-9.e-]+)", table)
    text = run("mp-run", converted, f"--compare={original}", "--seed=1").stdout
    relative = re.search(r"to largest magnitude \(\S+\) (\S+)\s+in norm (\S+)", text)
    return scaled[1] if scaled else "0", relative[1], relative[2], estimate[1] if estimate else "", re.search(r"SQNR (\S+)", text)[1]


def main():
    models = LARGE if "--large" in sys.argv[1:] else MODELS
    print("| model | conversion | scaled | of the largest magnitude | in norm | estimated | SQNR, dB |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in models.items():
            original = pathlib.Path(folder) / f"{name}.mlir"
            run("mp-gen", *arguments.split(), "-o", str(original))
            for conversion in CONVERSIONS:
                cells = measure(str(original), f"{folder}/converted.mlir", conversion)
                print(f"| {name} | `{conversion}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        sys.exit(1)
