#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs exported models against their framework's own results, before and after conversion.

usage: shared-models.py FOLDER [--write=docs/results/SharedModels.md] [NAME ...]

FOLDER holds NAME.mlir.xz, NAME.npz (inputs as recipes, results of the framework) and INDEX.tsv (the
tolerance of the original precision). mp-opt and mp-run are taken from PATH. Prints a table: the
largest error of a result over the largest magnitude of the framework's, in original precision, bf16
and f16. Exits 1 if a model exceeds its tolerance, or the limits below after conversion. Needs nothing beyond
Python.
"""
import array
import ast
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import unpacked, write_table  # noqa: E402

FORMATS = ("bf16", "f16")
# Losses of the framework's own mixed precision on the same inputs, relative to the largest
# magnitude, as tools/dev/frontends/framework-precision.py measures them.
FRAMEWORK = {"gpt2_2layer": {"bf16": 7.7e-3, "f16": 9.2e-4}, "resnet18": {"bf16": 6.1e-3, "f16": 7.3e-4},
             "jax_mlp_adam_step": {"bf16": 3.9e-2, "f16": 9.7e-3}}
# Elsewhere, 4 units in the last place.
LIMITS = {"bf16": 4 * 2 ** -8, "f16": 4 * 2 ** -11}
CODES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|i1": "b", "|b1": "b", "<f2": None}
ELEMENTS = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "int8": "i8", "bool": "i1",
            "float16": "f16", "bfloat16": "bf16"}


def load_npy(data):
    """(descr, shape, values or text) of the bytes of a .npy file."""
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode())
    body = data[10 + length:]
    if header["descr"].startswith("<U"):
        return header["descr"], (), body.decode("utf-32-le")
    values = array.array(CODES[header["descr"]])
    values.frombytes(body)
    return header["descr"], header["shape"], values


def literal(recipe, stored):
    """One recipe entry as an --input of mp-run."""
    if recipe["kind"] == "stored":
        return "@" + stored
    kind = "x".join([*map(str, recipe["shape"]), ELEMENTS[recipe["dtype"]]])
    if recipe["kind"] == "uniform":
        return f"{kind}=uniform:{recipe['seed']},{recipe['scale']!r},{recipe['offset']!r}"
    if recipe["kind"] == "int":
        return f"{kind}=integers:{recipe['seed']},{recipe['lo']},{recipe['hi']}"
    return f"{kind}={recipe['value']!r}"


def bounds(recipe, stored):
    """The least and largest value of one recipe entry of floats; None of integers."""
    if not recipe["dtype"].startswith("float"):
        return None
    if recipe["kind"] == "uniform":
        return recipe["offset"] - recipe["scale"], recipe["offset"] + recipe["scale"]
    if recipe["kind"] == "full":
        return recipe["value"], recipe["value"]
    values = load_npy(stored.read_bytes())[2]
    return min(values), max(values)


class Model:
    def __init__(self, path, scratch):
        self.name = path.name.removesuffix(".mlir.xz")
        self.scratch = scratch / self.name
        self.scratch.mkdir()
        self.file = unpacked(path, self.scratch, "original.mlir")
        archive = zipfile.ZipFile(path.parent / (self.name.removesuffix(".tosa") + ".npz"))
        self.golden = []
        while f"out{len(self.golden)}.npy" in archive.namelist():
            self.golden.append(load_npy(archive.read(f"out{len(self.golden)}.npy"))[2])
        self.inputs, self.ranges = [], []
        for i, recipe in enumerate(json.loads(load_npy(archive.read("recipe.npy"))[2])):
            stored = self.scratch / f"in{i}.npy"
            if recipe["kind"] == "stored":
                stored.write_bytes(archive.read(f"in{i}.npy"))
            self.inputs.append(literal(recipe, str(stored)))
            self.ranges.append(bounds(recipe, stored))

    def convert(self, format):
        """The converted file, and contractions as (narrow, all)."""
        out = self.scratch / f"{format}.mlir"
        report = self.scratch / f"{format}.json"
        subprocess.run(["mp-opt", self.file, "-o", out,
                        f"--mp-mixed-precision=format={format} table=false report={report}"],
                       check=True, capture_output=True, text=True)
        subprocess.run(["mp-opt", out, f"--mp-check-erasure=original={self.file}", "-o", "/dev/null"],
                       check=True, capture_output=True, text=True)
        rows = [row for row in json.loads(report.read_text())["ops"] if row["class"] == "T"]
        return out, (sum(row["narrowed"] for row in rows), len(rows))

    def error(self, file):
        """Largest error of a result over the largest magnitude of the framework's."""
        outputs = [self.scratch / f"out{k}.npy" for k in range(len(self.golden))]
        subprocess.run(["mp-run", file, *[f"--input={text}" for text in self.inputs],
                        *[f"--output=@{path}" for path in outputs]],
                       check=True, capture_output=True, text=True)
        worst = 0.0
        for path, golden in zip(outputs, self.golden):
            values = load_npy(path.read_bytes())[2]
            if len(values) > len(golden):
                values = values[::-(-len(values) // 4096)]
            assert len(values) == len(golden), f"{self.name}: {len(values)} values, {len(golden)} expected"
            largest = max((abs(y) for y in golden if math.isfinite(y)), default=0)
            for x, y in zip(values, golden):
                if x == y or (x != x and y != y):
                    continue
                error = abs(x - y) / largest if largest else math.inf
                worst = max(worst, error if error == error else math.inf)
        return worst


def check(model, tolerance):
    """The model's row of the table, and whether it is within its limits."""
    original = model.error(model.file)
    row, good = [f"`{model.name}`", f"{original:.1e}", f"{tolerance:.0e}"], original <= tolerance
    for format in FORMATS:
        file, (narrowed, contractions) = model.convert(format)
        error = model.error(file)
        good &= error <= FRAMEWORK.get(model.name.removesuffix(".tosa"), LIMITS)[format]
        row += [f"{narrowed} of {contractions}", f"{error:.1e}"]
    return row, good


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    writes = [a.removeprefix("--write=") for a in sys.argv[1:] if a.startswith("--write=")]
    if not arguments:
        sys.exit(__doc__)
    folder, names = pathlib.Path(arguments[0]), arguments[1:]
    with open(folder / "INDEX.tsv", newline="") as index:
        tolerances = {row["name"]: float(row["tolerance to use"]) for row in csv.DictReader(index, delimiter="\t")}
    lines = ["| model | original precision | tolerance | bf16 contractions | bf16 error | f16 contractions | f16 error |",
             "|---|---|---|---|---|---|---|"]
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(folder.glob("*.mlir.xz")):
            name = path.name.removesuffix(".mlir.xz")
            if names and name not in names:
                continue
            try:
                row, good = check(Model(path, pathlib.Path(scratch)), tolerances[name])
            except subprocess.CalledProcessError as error:
                row, good = [f"`{name}`", f"{error.cmd[0]} failed: {error.stderr.strip()[:300]}"], False
            lines.append("| " + " | ".join(row) + " |")
            if not good:
                failed.append(name)
    text = "\n".join(lines)
    print(text)
    print(f"{len(lines) - 2} models, {len(failed)} outside their limits: {' '.join(failed) or 'none'}")
    for path in writes:
        write_table(path, text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
