#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants fragile contractions in small models, and looks whether sensitivity and bisection find them. Prints a line a plant.

usage: planted-layers.py [--only=MODEL,...] [--plants=N] [--write=PAGE]

A plant of kind `range` multiplies what a contraction reads by 2^40 and divides what it makes: f32 does not notice, f16 overflows. A
plant of kind `digits` adds 4096 to what it reads and takes that out of what it makes: bf16 keeps no digit of what was there. Ten plants a
model, of one to three contractions each, chosen by a fixed seed.

* Sensitivity finds a plant if it ranks its contractions before all others.
* Bisection finds it if it returns exactly its contractions. Limits of the error lie in the middle, by ratio, between what all
  other contractions make together and the least that a planted one makes alone, where these are a factor of four apart; a choice
  without that gap is no fragile layer, and another is drawn.
* All smaller sets are tried, where these are at most 200, and none may hold.

Needs mp-gen and mp-run on PATH, and no Python package.
"""
import argparse
import itertools
import json
import math
import pathlib
import random
import re
import sys
import tempfile

from digits import contractions, plant_offset, plant_range, run, with_fault

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import write_table  # noqa: E402

MODELS = {
    "mlp": "mlp --layers=5 --inputs=32 --hidden=32 --outputs=16 --batch=8",
    "cnn": "cnn --image=8 --inputs=3 --channels=8 --layers=3 --batch=2",
    "bert": "bert --layers=2 --hidden=32 --heads=2 --intermediate=64 --seq=8 --vocab=64",
    "gpt2": "gpt2 --layers=2 --hidden=32 --heads=2 --seq=8 --vocab=64",
    "resnet": "resnet-block --channels=8 --image=8 --layers=4",
}
SIZES = (1, 1, 2, 2, 3)
GAP, BRUTE = 4, 200


def sensitivities(folder, model, format, fault):
    """The error of each contraction when it alone is narrow."""
    path = folder / "sensitivity.json"
    path.unlink(missing_ok=True)
    run("mp-run", model, f"--input=1xf32={fault}", "--seed=3", f"--sensitivity={path}", f"--assign=format={format}", f"--formats={format}", "--draws=1")
    errors = {}
    for function in json.loads(path.read_text())["functions"]:
        for row in function["contractions"]:
            draws = row["formats"][format]["draws"]
            errors[row["contraction"]] = math.inf if None in draws else math.sqrt(sum(draws) / len(draws))
    return [errors[i] for i in range(len(errors))]


def bisect(folder, model, format, keep, fault, wide=(), runs=1000):
    """Contractions to be kept wide beside `wide`, and the report."""
    report, policy = folder / "bisect.json", folder / "policy.json"
    lines = contractions(model.read_text())
    rules = [{"name": f"wide {i}", "select": {"location": f":{lines[i] + 1}:"}, "precision": "wide"} for i in wide]
    policy.write_text(json.dumps({"mp_policy": 1, "name": "given", "extends": "inference", "rules": rules}))
    run("mp-run", model, f"--input=1xf32={fault}", "--seed=3", "--bisect", f"--keep={keep}", f"--assign=format={format} policy={policy}", f"--max-runs={runs}",
        f"--json={report}")
    found = json.loads(report.read_text())
    return [row["contraction"] for row in found["wide"]], found


def try_plant(folder, name, text, lines, kind, chosen):
    """A row, or nothing where the contractions chosen are not fragile."""
    model = folder / f"{name}.mlir"
    planted = [lines[i] for i in chosen]
    format, keep = ("f16", "finite") if kind == "range" else ("bf16", None)
    plant = plant_range if kind == "range" else plant_offset
    model.write_text(plant(text, planted, "%faultx"))
    fault = 2.0**40 if kind == "range" else 4096.0
    errors = sensitivities(folder, model, format, fault)
    inside, outside = [errors[i] for i in chosen], [e for i, e in enumerate(errors) if i not in chosen]
    if not keep:
        least, rest = min(inside), math.sqrt(sum(e * e for e in outside))
        if not least > GAP * rest:
            return None
        keep = f"error:{math.sqrt(least * max(rest, least * 1e-3)):.4g}"
    elif not all(map(math.isinf, inside)) or any(map(math.isinf, outside)):
        return None
    wide, report = bisect(folder, model, format, keep, fault)
    sets, smaller = [s for size in range(len(chosen)) for s in itertools.combinations(range(len(lines)), size)], "not tried"
    if len(sets) <= BRUTE:
        holding = [s for s in sets if not bisect(folder, model, format, keep, fault, s, 2)[0]]
        smaller = f"none of {len(sets)}" if not holding else f"{len(holding)} OF {len(sets)} HOLD"
    ranked = min(inside) > max(outside)
    return {"model": name, "contractions": len(lines), "kind": kind, "format": format, "keep": keep, "planted": sorted(chosen),
            "ranked": ranked, "found": sorted(wide) == sorted(chosen), "wide": sorted(wide), "runs": report["runs"], "smaller": smaller,
            "good": ranked and sorted(wide) == sorted(chosen) and "HOLD" not in smaller}


def row_of(row):
    return (f"| {row['model']} | {row['contractions']} | {row['kind']}, {row['format']} | {' '.join(map(str, row['planted']))} | "
            f"{'first' if row['ranked'] else 'NOT FIRST'} | {'these' if row['found'] else 'FOUND ' + str(row['wide'])} | {row['runs']} | {row['smaller']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--plants", type=int, default=10, help="a model, at most ten")
    parser.add_argument("--write", type=pathlib.Path, help="a page with the mark of the table")
    options = parser.parse_args()
    rows, passed = [], 0
    head = ["| model | contractions | plant | planted | ranked by sensitivity | bisection returns | runs | smaller sets that hold |", "|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in options.only.split(","):
            text = with_fault(run("mp-gen", *MODELS[name].split()).stdout)
            lines = contractions(text)
            draw = random.Random(name)
            plants = [(kind, size) for size in SIZES for kind in ("range", "digits")][:options.plants]
            for kind, size in plants:
                for _ in range(20):
                    row = try_plant(folder, name, text, lines, kind, draw.sample(range(len(lines)), size))
                    if row:
                        break
                    passed += 1
                else:
                    sys.exit(f"{name}: no {size} of {len(lines)} contractions are fragile when planted ({kind})")
                rows.append(row)
                print(row_of(row), flush=True)
    good = sum(row["good"] for row in rows)
    end = (f"{good} of {len(rows)} plants found by both, {sum(row['smaller'].startswith('none') for row in rows)} of them shown smallest by "
           f"brute force; {passed} choices were passed over for want of a gap")
    print(end)
    if options.write:
        write_table(options.write, "\n".join(head + [row_of(row) for row in rows] + ["", end]))
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
