#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the attention that mp-form-dispatches finds in models.

usage: attention-recall.py --bin=FOLDER [--shared=FOLDER] [--format=bf16] [--target=sm_80]

FOLDER holds mp-opt and mp-gen. Prints, for each generated model and each one in FOLDER/models of
--shared that has attention, how many there are, how many became one kernel, and why others did not.
"""
import argparse
import lzma
import pathlib
import re
import subprocess
import sys

# Arguments of mp-gen, and how many attentions the model has.
GENERATED = [("bert --layers=2", 2), ("bert --layers=2 --batch=2 --softmax=named", 2),
             ("bert --layers=2 --dialect=tosa", 2), ("gpt2 --layers=2 --batch=2", 2),
             ("gpt2 --layers=2 --dialect=tosa", 2), ("llama --layers=2 --batch=2", 2),
             ("llama --layers=2 --dialect=tosa", 2), ("vit --layers=2", 2),
             ("vit --layers=2 --dialect=tosa", 2), ("bert --layers=2 --dynamic", 2),
             ("gpt2 --layers=2 --dynamic", 2), ("llama --layers=2 --dynamic", 2), ("vit --layers=2 --dynamic", 2),
             ("bert --layers=2 --dialect=tosa --dynamic", 2), ("bert --layers=2 --elements=bf16", 2),
             ("llama --layers=2 --elements=bf16 --softmax=named", 2), ("gpt2 --layers=2 --calls", 1),
             ("llama --layers=2 --weights=constants --seq=32", 2)]
SHARED = [("gpt2_2layer.mlir", 2), ("gpt2_2layer.tosa.mlir", 2), ("torch_amp_attention_step.mlir", 1),
          ("torch_amp_attention_step.tosa.mlir", 1)]


def formed(mp_opt, text, args):
    """How many became one kernel, and the reasons of those that did not."""
    options = f"target={args.target} format={args.format} dispatches attention=fused"
    run = subprocess.run([mp_opt, "-", f"--mp-to-nvvm={options}", "--remarks-filter=mp-dispatches", "-o", "/dev/null"],
                         input=text, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"attention-recall.py: {run.stderr[-2000:]}")
    # A diagnostic repeats the line that it points at, so that only whole remarks count.
    remarks = [line for line in run.stderr.splitlines() if "remark: " in line]
    found = sum('Remark="attention: ' in line for line in remarks)
    reasons = [re.findall(r'Remark="([^"]*)"', line)[-1] for line in remarks if "attention-apart" in line]
    return found, reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path)
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--target", default="sm_80")
    args = parser.parse_args()
    models = []
    for arguments, count in GENERATED:
        text = subprocess.run([args.bin / "mp-gen", *arguments.split()], capture_output=True, text=True, check=True).stdout
        models.append((arguments, count, text))
    for name, count in SHARED if args.shared else []:
        models.append((name, count, lzma.open(args.shared / "models" / (name + ".xz"), "rt").read()))
    print("| model | attentions | one kernel | why not |\n|---|---|---|---|")
    total = fused = 0
    for name, count, text in models:
        found, reasons = formed(args.bin / "mp-opt", text, args)
        total, fused = total + count, fused + found
        print(f"| {name} | {count} | {found} | {'; '.join(sorted(set(reasons)))} |", flush=True)
    print(f"{fused} of {total}")


if __name__ == "__main__":
    main()
