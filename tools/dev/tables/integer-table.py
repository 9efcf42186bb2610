#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs graphs of integers on the CPU and as kernels on the emulator, and prints how their contractions run.

usage: integer-table.py FILE... [--chip=sm_80] [--part=A100]

A FILE is MLIR, perhaps packed (.xz). Where NAME.npz lies beside NAME.tosa.mlir.xz, as in the shared models, inputs are its recipe
and results are compared with its own, which are the framework's; other arguments are seeded. Columns: contractions
on Tensor Cores and as loops; launches, those with mma.sync, and mma.sync of all warps, which the emulator counts;
microseconds on the part, modelled; bits equal to those of the CPU, and to the framework's. Exit status: 1 if some bits differ.
mp-opt and mp-run come from PATH.
"""
import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sweep"))
from common import unpacked  # noqa: E402

shared = importlib.import_module("shared-models")


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)


def loops(file, chip):
    """Contractions that no matrix unit runs."""
    done = run("mp-opt", file, f"--mp-to-nvvm=target={chip}", "--remarks-filter=.*", "-o", "/dev/null")
    return done.stderr.count("contraction runs on the scalar units")


def row(path, folder, options):
    name = path.name.removesuffix(".xz").removesuffix(".mlir")
    golden, inputs = None, []
    if path.suffix == ".xz" and (path.parent / (name.removesuffix(".tosa") + ".npz")).exists():
        model = shared.Model(path, folder)
        golden, inputs, file = model.golden, [f"--input={text}" for text in model.inputs], model.file
    else:
        file = unpacked(path, folder)
    report = folder / "report.json"
    run("mp-run", file, *inputs, f"--output-dir={folder / 'cpu'}")
    run("mp-run", file, *inputs, "--device=emulator", f"--chip={options.chip}", f"--estimate={options.part}",
        f"--json={report}", f"--output-dir={folder / 'kernels'}")
    made = json.loads(report.read_text())
    products = [kernel["matrix_products"] for kernel in made["kernels"]]
    results = sorted((folder / "cpu").glob("*.npy"))
    same = all(result.read_bytes() == (folder / "kernels" / result.name).read_bytes() for result in results)
    right = golden is None or all(list(shared.load_npy(result.read_bytes())[2]) == list(expected)
                                  for result, expected in zip(results, golden))
    launches = sum(kernel["launches"] for kernel in made["kernels"])
    on_units = sum(kernel["launches"] for kernel, count in zip(made["kernels"], products) if count)
    print(f"  {name:44} {on_units:5} {loops(file, options.chip):5} {launches:8} {sum(products):8} "
          f"{made['estimate']['modelled_microseconds']:8.1f}  {'yes' if same else 'NO':4} "
          f"{'' if golden is None else 'yes' if right else 'NO'}", flush=True)
    return same and right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--part", default="A100")
    options = parser.parse_args()
    print(f"  {'':44} {'units':>5} {'loops':>5} {'launches':>8} {'mma.sync':>8} {'us':>8}  CPU  framework")
    good = True
    for path in options.files:
        with tempfile.TemporaryDirectory() as scratch:
            good &= row(path, pathlib.Path(scratch), options)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
