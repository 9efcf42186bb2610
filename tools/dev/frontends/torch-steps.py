#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small train steps as PyTorch traces them, for train-sweep.py, and compares the first step of each with torch's.

usage: torch-steps.py FOLDER [--only=REGEX]

Needs torch and torch-mlir, and mp-opt and mp-run on PATH (docs/guides/FromPyTorch.md). Each step becomes FOLDER/NAME_step.mlir. Printed is how
far the results that mp-run computes are from torch's, over the largest magnitude of each, or over 1e-6 where that is less: a gradient
that is nothing but rounding has no digits. What cannot be written, or is off by more than LIMIT, is named, and the exit status is 1.
"""
import argparse
import pathlib
import re
import subprocess
import sys

import numpy
import pytorch_route
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from torch_steps import networks, structures  # noqa: F401, which fill STEPS
from torch_steps.basics import STEPS

# Adam moves what has no gradient by the sign of a rounding. In bf16, gradients of torch's own autocast are up to 8e-2 from its f32's.
LIMIT = {"f32": 5e-3, "bf16": 1e-1}


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: {done.stderr[:300]}")


def write(function, arguments, path):
    """The step in linalg, as docs/guides/FromPyTorch.md says."""
    functional = torch.func.functionalize(function, remove="mutations")
    graph = make_fx(functional, decomposition_table=get_decomposition_table(), tracing_mode="fake")(*arguments)
    source, lowered = path.with_suffix(".torch"), path.with_suffix(".linalg")
    source.write_text(pytorch_route.torch_text(lambda importer: importer.import_stateless_graph(graph.graph)))
    if why := pytorch_route.lower_text(source, "linalg-on-tensors", lowered):
        raise RuntimeError(f"torch-mlir-opt: {why[:300]}")
    call("mp-opt", "--import", lowered, "-o", path)


def error_of(path, arguments, expected):
    """How far a run of the step is from what torch computed."""
    inputs, outputs = [], [path.with_suffix(f".out{i}.npy") for i in range(len(expected))]
    for i, value in enumerate(arguments):
        numpy.save(path.with_suffix(f".in{i}.npy"), value.numpy())
        inputs.append(f"--input=@{path.with_suffix(f'.in{i}.npy')}")
    call("mp-run", path, *inputs, *[f"--output=@{name}" for name in outputs])
    errors = []
    for name, value in zip(outputs, expected):
        found, wanted = numpy.load(name).astype(float), value.detach().numpy().astype(float)
        errors.append(abs(found - wanted).max() / max(abs(wanted).max(), 1e-6))
    return numpy.max(errors)  # NaN if one is


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="steps whose name matches")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    chosen, failures = [name for name in STEPS if re.search(options.only, name)], 0
    for name in chosen:
        torch.manual_seed(1)
        function, arguments = STEPS[name]()
        path = options.folder / f"{name}_step.mlir"
        try:
            expected = function(*arguments)
            write(function, arguments, path)
            error = error_of(path, arguments, expected)
            failures += not error <= LIMIT["bf16" if "bf16" in path.read_text() else "f32"]
            print(f"{name:24} {error:.1e}", flush=True)
        except RuntimeError as why:
            failures += 1
            print(f"{name:24} {str(why)[:300]}", flush=True)
    print(f"{len(chosen) - failures} of {len(chosen)} steps written")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
