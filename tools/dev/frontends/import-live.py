#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes models from a framework that is installed here through its import route, and compares results.

usage: import-live.py pytorch|jax|tflite|onnx [--models=a,b] [--list] [--folder=DIR [--no-run]] [--package]

Each model of tools/dev/frontends is built with seeded weights, run by its framework, exported as
docs/guides/From*.md says, read by mp-opt --import, run by mp-run as it is and converted to bf16 and f16. A row
for each text: the error of each run over the largest magnitude of a result, the largest of all results.
With --package, models of PyTorch and JAX go through mp.convert of the Python package instead, which finds its
library at MP_LIBRARY: a row for each with the error in bf16, and whether all parameters have their names.
Exits 1 if a text is not read, does not run, or is off by more than LIMITS. mp-opt and mp-run are found on
PATH; --folder keeps what was made: DIR/MODEL/KIND.read.mlir is what mp-opt --import reads, and with --no-run all
that is done (tools/dev/sweep/proof-sweep.py --live=DIR takes it from there).
"""
import argparse
import importlib
import os
import subprocess
import sys
import tempfile

import numpy as np

# Largest error over the largest magnitude. As exported: sums are in another order, and torch-mlir and the
# TFLite converter round a constant of GELU. Narrow: what the formats' roundings make of small models.
LIMITS = {"f32": 1e-4, "bf16": 3e-2, "f16": 5e-3}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("framework", choices=["pytorch", "jax", "tflite", "onnx"])
    parser.add_argument("--models", help="names, separated by commas (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the models")
    parser.add_argument("--folder", help="where files are kept")
    parser.add_argument("--no-run", action="store_true", help="export and read alone")
    parser.add_argument("--package", action="store_true", help="by the Python package, in this process")
    return parser.parse_args()


def call(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError((run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[0])
    return run.stderr


def as_saved(array):
    """numpy has no bfloat16: mp-run takes and writes its patterns."""
    array = np.asarray(array)
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def as_float64(array):
    if array.dtype == np.uint16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def error_of(found, expected):
    found, expected = as_float64(found), as_float64(expected)
    if found.size != expected.size:
        raise RuntimeError(f"expected {expected.size} elements, found {found.size}")
    found = found.reshape(expected.shape)
    finite = np.isfinite(expected)
    if not np.array_equal(found[~finite], expected[~finite], equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    difference = np.abs(found[finite] - expected[finite]).max()
    return float(difference / max(np.abs(expected[finite]).max(), 1e-30))


def run(path, folder, inputs, outputs):
    arguments = []
    for index, array in enumerate(inputs):
        np.save(f"{folder}/in{index}.npy", as_saved(array))
        arguments.append(f"--input=@{folder}/in{index}.npy")
    names = [f"{folder}/out{index}.npy" for index in range(len(outputs))]
    call("mp-run", path, *arguments, *[f"--output=@{name}" for name in names])
    return max(error_of(np.load(name), as_saved(array)) for name, array in zip(names, outputs))


def read(text):
    """The path of what mp-opt --import makes of a text."""
    path = text.removesuffix(".mlir") + ".read.mlir"
    call("mp-opt", "--import", text, "-o", path)
    return path


def check(text, folder, inputs, outputs):
    """Errors as read and as converted, and how many contractions became narrow."""
    path, errors, narrow = read(text), {}, {}
    errors["f32"] = run(path, folder, inputs, outputs)
    for form in ("bf16", "f16"):
        converted = os.path.join(folder, form + ".mlir")
        report = call("mp-opt", "--import", text, f"--mp-mixed-precision=format={form} target=sm_80", "-o", converted)
        narrow[form] = next(line.split(": ", 2)[2].split(" contraction")[0] for line in report.splitlines() if " contraction" in line)
        errors[form] = run(converted, folder, inputs, outputs)
    return errors, narrow


def convert(frontend, name):
    """By the Python package: error in bf16, contractions, and whether parameters have their names."""
    import mp
    model, arguments = frontend.build(name)
    program = mp.convert(model, tuple(arguments), format="bf16")
    found, expected = frontend.leaves(program(*arguments)), frontend.run(model, arguments)
    named = frontend.parameter_names(model) <= set(program.parameters)
    error = max((error_of(a, b) for a, b in zip(found, expected)), default=0)
    return error, f"{program.report.narrowed} of {program.report.contractions}", named and len(found) == len(expected)


def convert_all(frontend, names):
    failures = 0
    print("| model | contractions in bf16 | error | names kept |\n|---|---|---|---|")
    for name in names:
        try:
            error, narrow, named = convert(frontend, name)
        except Exception as failure:  # whatever a framework throws is a row
            print(f"| {name} | {type(failure).__name__}: {str(failure).splitlines()[0][:200]} |", flush=True)
            failures += 1
            continue
        print(f"| {name} | {narrow} | {error:.1e} | {'yes' if named else 'no'} |", flush=True)
        failures += error > LIMITS["bf16"] or not named
    print(f"{len(names)} models, {failures} failed")
    return 1 if failures else 0


def main():
    options = parse()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python"))  # the routes of the package
    frontend = importlib.import_module(options.framework + "_route")
    if options.list:
        print(*frontend.MODELS)
        return 0
    names = options.models.split(",") if options.models else list(frontend.MODELS)
    if unknown := [name for name in names if name not in frontend.MODELS]:
        sys.exit(f"import-live.py: no model '{unknown[0]}'; expected one of {', '.join(frontend.MODELS)}")
    if options.package:
        return convert_all(frontend, names)
    failures = 0
    print("| model | text | as read | contractions in bf16 | error | in f16 | error |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            folder = os.path.join(options.folder or temporary, name)
            os.makedirs(folder, exist_ok=True)
            texts, inputs, outputs = frontend.export(name, folder)
            if not texts:
                print(f"| {name} | no route lowers it |", flush=True)
                failures += 1
            for kind, text in texts.items():
                try:
                    if options.no_run:
                        print(f"| {name} | {kind} | {os.path.basename(read(text))} |", flush=True)
                        continue
                    errors, narrow = check(text, folder, inputs, outputs)
                except RuntimeError as failure:
                    print(f"| {name} | {kind} | {failure} |", flush=True)
                    failures += 1
                    continue
                print(f"| {name} | {kind} | {errors['f32']:.1e} | {narrow['bf16']} | {errors['bf16']:.1e} | {narrow['f16']} | "
                      f"{errors['f16']:.1e} |", flush=True)
                failures += any(error > LIMITS[form] for form, error in errors.items())
    print(f"{len(names)} models, {failures} texts failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
