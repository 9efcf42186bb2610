#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the two tables of the README, and holds them against it.

usage: readme-tables.py [MODELS] [--only=results|support] [--write] [--check] [--check=FILE]

*results*, if MODELS is given (see shared-models.py): exported models, each converted by mp-opt and
run by mp-run on the inputs that their framework was run on. Errors are the largest over the largest
magnitude of the framework's f32 results; those of autocast are in docs/results/SharedModels.md,
which says how they were measured; launches and their modelled time on an A100 are of seeded inputs
(mp-run --estimate). *support*: one product for each format and GPU, converted, lowered
to PTX and run on the emulator. `mma` are Tensor Core instructions, whose result is within 1e-6 of the
host's model of that chip's Tensor Cores; `f16` are 8-bit floats that run as products of f16,
which hold them exactly, and `stored` is storage in the format with products in f32, both within 1e-5 of the host; `-` is refused, with a message that names what the chip has. mp-opt and mp-run are taken from PATH.
--write puts both into the README, --check compares them with it, or with FILE; the last digit of an
error may differ by one, for the order of sums depends on the host's BLAS. Exits 1 if a table differs.
"""
import argparse
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
README, RESULTS = ROOT / "README.md", ROOT / "docs/results/SharedModels.md"
TARGETS = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120")
# Maps the name of a row to the options of mp-mixed-precision.
CONVERSIONS = {"f16": "format=f16", "bf16": "format=bf16", "tf32": "format=tf32",
               "f32 as 3 bf16 products": "format=bf16x3", "fp8 with scales": "format=e4m3",
               "int8 with scales": "recipe=int8", "MXFP8": "recipe=mxfp8", "NVFP4": "recipe=nvfp4"}
PRODUCT = """func.func @product(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def autocast_errors():
    """{model: (bf16, f16)} of the table that framework-precision.py printed."""
    rows = re.findall(r"^\| `(\w+)` \| \S+ \| (\S+) \| (\S+) \|$", RESULTS.read_text(), re.M)
    return {name: errors for name, *errors in rows}


def kernels(file):
    """Launches of a module's kernels, and the time that they are modelled to take on an A100."""
    report = file.with_suffix(".estimate.json")
    run("mp-run", file, "--device=emulator", "--chip=sm_80", "--estimate=A100", "--sample-blocks=1", "-q",
        f"--json={report}", check=True)
    estimate = json.loads(report.read_text())["estimate"]
    return str(estimate["launches"]), f"{estimate['modelled_microseconds']:.0f} us"


def results(models):
    sys.path.insert(0, str(ROOT / "tools/dev/sweep"))
    shared = importlib.import_module("shared-models")
    yield ("| model | contractions narrow | read and written | launches, f32 → bf16 | modelled time, A100 "
           "| bf16 error | autocast's | f16 error | autocast's |")
    yield "|---" * 9 + "|"
    with tempfile.TemporaryDirectory() as scratch:
        for name, autocast in autocast_errors().items():
            model = shared.Model(models / f"{name}.mlir.xz", pathlib.Path(scratch))
            converted = {format: model.convert(format) for format in shared.FORMATS}
            totals = json.loads((model.scratch / "bf16.json").read_text())["totals"]
            moved = " → ".join(f"{totals[key] / 1e6:.3g} MB" for key in ("bytes_before", "bytes_after"))
            counts = {"{} of {}".format(*count) for _, count in converted.values()}
            errors = [cell for (file, _), theirs in zip(converted.values(), autocast)
                      for cell in (f"{model.error(file):.1e}", theirs)]
            launches, times = zip(*(kernels(file) for file in (model.file, converted["bf16"][0])))
            yield (f"| `{name}` | {', '.join(sorted(counts))} | {moved} | {' → '.join(launches)} | {' → '.join(times)} "
                   f"| {' | '.join(errors)} |")


def support(options, target, scratch):
    """The cell of one conversion on one target."""
    original, converted, kernels = scratch / "in.mlir", scratch / "out.mlir", scratch / target
    original.write_text(PRODUCT)
    done = run("mp-opt", original, f"--mp-mixed-precision={options} target={target} table=false", "-o", converted)
    if done.returncode:
        return "-" if "has no tensor core products" in done.stderr else "refused: " + done.stderr.strip()
    run("mp-opt", converted, f"--mp-to-nvvm=target={target} dir={kernels}", "-o", "/dev/null", check=True)
    texts = [path.read_text() for path in kernels.glob("*.ptx")]
    assert texts, f"{options} on {target}: no PTX"
    for path in kernels.iterdir():
        path.unlink()
    emulate = ["mp-run", converted, "--device=emulator", f"--chip={target}", f"--compare={converted}"]
    products = {found for text in texts for found in re.findall(r"mma\.sync\S*?\.f32\.(\w+)\.\w+\.f32", text)}
    widened = products == {"f16"} and "f16" not in options
    mma = any("mma.sync" in text for text in texts) and not widened
    done = run(*emulate, *([f"--numerics={target.removesuffix('a')}", "--max-rel=1e-6"] if mma else ["--max-rel=1e-5"]))
    return f"differs: {done.stdout}{done.stderr}" if done.returncode else "mma" if mma else "f16" if widened else "stored"


def supports():
    yield f"| format | {' | '.join(TARGETS)} |"
    yield "|---|" + "---|" * len(TARGETS)
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in CONVERSIONS.items():
            yield f"| {name} | {' | '.join(support(options, target, pathlib.Path(scratch)) for target in TARGETS)} |"


def agree(found, held):
    """Equal, or errors whose last digit differs by at most one."""
    if found == held:
        return True
    errors = [re.fullmatch(r"(\d\.\d)e([-+]\d\d)", cell) for cell in (found, held)]
    return all(errors) and abs(float(found) - float(held)) <= 1.01 * 10 ** (int(errors[1][2]) - 1)


def block_of(name, text):
    """The match of a table between its comments, as group 2."""
    block = re.search(rf"(<!-- {name} -->\n)(.*?)(<!-- end of {name} -->)", text, re.S)
    if not block:
        sys.exit(f"expected '<!-- {name} -->' and '<!-- end of {name} -->' around a table, found none")
    return block


def check(name, table, file):
    """Prints each row that differs from the one in `file`; True if there is none."""
    held = block_of(name, file.read_text())[2].strip().splitlines()
    good = len(table) == len(held)
    for found, expected in zip(table, held):
        cells, theirs = found.split(" | "), expected.split(" | ")
        if len(cells) != len(theirs) or not all(map(agree, cells, theirs)):
            print(f"{name}: found\n  {found}\n{file.name} says\n  {expected}")
            good = False
    print(f"{name}: {len(table) - 2} rows, {'as' if good else 'not as'} in {file.name}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="?", type=pathlib.Path)
    parser.add_argument("--only", choices=("results", "support"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", nargs="?", const=README, type=pathlib.Path, action="append", default=[])
    options = parser.parse_args()
    tables = {}
    if options.only != "results":
        tables["support"] = list(supports())
    if options.only != "support":
        if options.models:
            tables["results"] = list(results(options.models))
        else:
            print("results: skipped, no folder of models was given")
    good = True
    for name, table in tables.items():
        print("\n".join(table))
        if options.write:
            text = README.read_text()
            block = block_of(name, text)
            README.write_text(text[:block.end(1)] + "\n" + "\n".join(table) + "\n" + text[block.start(3):])
        for file in options.check:
            good &= check(name, table, file)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
