#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets what bf16 costs a model here beside what it costs under torch.autocast, over many draws of weights and inputs.

usage: autocast-draws.py [--models=vit,segformer] [--draws=24]

One draw says little: either error is a sum of thousands of roundings, and the largest of a few results scatters by
several times. So each model of tools/dev/frontends is built with seeds 0, 1, ..., run by torch in f32 and under autocast,
exported as docs/guides/FromPyTorch.md says, converted to bf16 and run by mp-run. A row for each text: the geometric means of the
largest error over the largest magnitude, and between what bounds the ratio of both errors lies, its median, and how often
it is above 1. Exits 1 if a mean is above autocast's. mp-opt and mp-run are found on PATH.
"""
import argparse
import importlib
import os
import sys
import tempfile

import numpy as np


def draw(name, seed, folder, frontend, live):
    """Errors by text, and autocast's."""
    torch = frontend.torch
    model, inputs = frontend.build(name, seed)
    with torch.no_grad():
        exact = frontend.to_numpy(model(*inputs))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            narrow = frontend.to_numpy(model(*inputs).float())
    errors = {}
    for kind, text in frontend.lower(model, inputs, folder).items():
        converted = os.path.join(folder, kind + ".bf16.mlir")
        live.call("mp-opt", "--import", text, "--mp-mixed-precision=format=bf16 target=sm_80", "-o", converted)
        errors[kind] = live.run(converted, folder, [frontend.to_numpy(x) for x in inputs], [exact])
    return errors, live.error_of(narrow, exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="vit,segformer", help="names, separated by commas")
    parser.add_argument("--draws", type=int, default=24)
    options = parser.parse_args()
    frontend, live = importlib.import_module("pytorch_route"), importlib.import_module("import-live")
    print("| model | text | bf16 | autocast | ratio, median | least | most | above 1 |\n|---|---|---|---|---|---|---|---|")
    worse = 0
    for name in options.models.split(","):
        found = {}
        for seed in range(options.draws):
            with tempfile.TemporaryDirectory() as folder:
                errors, theirs = draw(name, seed, folder, frontend, live)
            for kind, error in errors.items():
                found.setdefault(kind, []).append((error, theirs))
        for kind, pairs in found.items():
            ours, theirs = np.exp(np.log(pairs).mean(0))
            ratio = np.divide(*np.transpose(pairs))
            print(f"| {name} | {kind} | {ours:.1e} | {theirs:.1e} | {np.median(ratio):.2f} | {ratio.min():.2f} | {ratio.max():.2f} | "
                  f"{(ratio > 1).sum()} of {len(ratio)} |", flush=True)
            worse += ours > theirs
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
