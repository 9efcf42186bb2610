#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares decisions by measured errors with decisions by modelled ones, and with the recipes of peers, each at its modelled time.

usage: frontier.py [--only=MODEL,...] [--draws=N] [--points=N] [--target=GPU] [--write=PAGE]

Each model comes as mp-gen writes it, and with three layers planted: two read 256 times what they read, and divide it out again, which costs no
digit; one reads 256 more than it reads, and takes that out again, which costs bf16 all of them. The compiler does not know the number. Recipes:

* all narrow: every contraction in bf16;
* first and last wide: but for the first and the last;
* AutoCast-like: but for those that make magnitudes above 512 in a run, which is the limit of ModelOpt's AutoCast;
* modelled: `objective=error max-time=T`, for T between the fastest decision and f32.

Beside each: the decision by `sensitivity=`, from errors measured on other draws, with the recipe's modelled time as the limit. Errors are relative root mean
squares of the results over draws that nothing was decided by. Status 1 if a decision by measured errors has a larger one than a recipe, in the same time.

Needs mp-gen, mp-opt and mp-run on PATH, and no Python package.
"""
import argparse
import json
import math
import pathlib
import random
import sys
import tempfile

from digits import contractions, plant_offset, plant_range, run, with_fault

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import write_table  # noqa: E402

MODELS = {
    "mlp": "mlp --layers=6 --inputs=384 --hidden=384 --outputs=256 --batch=384",
    "cnn": "cnn --image=32 --inputs=16 --channels=64 --layers=4 --batch=4",
    "bert": "bert --layers=2 --hidden=256 --heads=4 --intermediate=1024 --seq=128 --batch=2 --vocab=64",
    "gpt2": "gpt2 --layers=2 --hidden=256 --heads=4 --seq=128 --batch=2 --vocab=256",
}
FAULT, LIMIT, FIRST_HELD = 256.0, 512, 100


class Model:
    def __init__(self, folder, name, planted, options):
        self.folder, self.options, self.path = folder, options, folder / "model.mlir"
        text, self.inputs = run("mp-gen", *MODELS[name].split()).stdout, []
        if planted:
            text, self.inputs = with_fault(text), [f"--input=1xf32={FAULT}"]
            lines = contractions(text)
            draw = random.Random(name).sample(range(len(lines)), 3)
            text = plant_range(text, [lines[i] for i in sorted(draw[:2])], "%faultx")
            text = plant_offset(text, [contractions(text)[draw[2]]], "%faultx")
        self.path.write_text(text)
        self.lines, self.known = contractions(text), {}
        self.sensitivity = folder / "sensitivity.json"
        self.sensitivity.unlink(missing_ok=True)
        run("mp-run", self.path, *self.inputs, "--seed=1", f"--sensitivity={self.sensitivity}", f"--assign=format=bf16 target={options.target}",
            "--formats=bf16,tf32", f"--draws={options.draws}")

    def decide(self, words="", wide=()):
        """Modelled picoseconds, contractions that are narrow, and the error of the results on draws held back."""
        policy, report, out = (self.folder / name for name in ("policy.json", "report.json", "decided.mlir"))
        rules = [{"name": f"wide {i}", "select": {"location": f":{self.lines[i] + 1}:"}, "precision": "wide"} for i in wide]
        policy.write_text(json.dumps({"mp_policy": 1, "name": "given", "extends": "inference", "rules": rules}))
        run("mp-opt", self.path, f"--mp-mixed-precision=format=bf16 target={self.options.target} policy={policy} multi-word=off report={report} "
            f"table=false {words}", "-o", out)
        content = json.loads(report.read_text())
        text = out.read_text()
        if text not in self.known:
            self.known[text] = self.error(out)
        return content["placement"][0]["after"], content["totals"]["narrowed"], self.known[text]

    def error(self, decided):
        squares = []
        for seed in range(FIRST_HELD, FIRST_HELD + self.options.draws):
            result = self.folder / "result.json"
            run("mp-run", decided, f"--compare={self.path}", *self.inputs, f"--seed={seed}", f"--json={result}")
            norm = json.loads(result.read_text())["outputs"][0]["relative_norm"]
            squares.append(math.inf if norm is None else norm * norm)
        return math.sqrt(sum(squares) / len(squares))

    def large(self):
        """Contractions that make magnitudes above the limit."""
        result = self.folder / "result.json"
        run("mp-run", self.path, f"--compare={self.path}", "--per-op", *self.inputs, "--seed=1", f"--json={result}")
        made = [value for value in json.loads(result.read_text())["per_op"] if "matmul" in value["label"] or "conv" in value["label"]]
        if len(made) != len(self.lines):
            sys.exit(f"expected values of {len(self.lines)} contractions, found {len(made)}")
        return [i for i, value in enumerate(made) if value["largest_reference"] > LIMIT]


def rows_of(model, name, points):
    last = len(model.lines) - 1
    recipes = [("all narrow", model.decide()), ("first and last wide", model.decide(wide=(0, last))), ("AutoCast-like", model.decide(wide=model.large()))]
    report = model.folder / "report.json"
    fastest = model.decide("objective=time")[0]
    slowest = json.loads(report.read_text())["placement"][0]["before"]
    for i in range(points):
        limit = fastest + (slowest - fastest) * i / points
        recipes.append((f"modelled, {limit / 1e6:.1f} us", model.decide(f"objective=error max-time={limit / 1e6:.9g}")))
    for recipe, (time, narrow, error) in recipes:
        ours = model.decide(f"objective=error max-time={time / 1e6:.9g} sensitivity={model.sensitivity}")
        yield {"model": name, "recipe": recipe, "contractions": last + 1, "time": time, "narrow": narrow, "error": error, "ours": ours,
               "below": ours[0] <= time * (1 + 1e-6) and ours[2] <= error}


def row_text(row):
    time, narrow, error = row["ours"]
    verdict = "ABOVE" if not row["below"] else "the same" if error == row["error"] else f"{row['error'] / error:.2f} times smaller" if error else "none"
    return (f"| {row['model']} | {row['recipe']} | {row['time'] / 1e6:.1f} | {row['narrow']} of {row['contractions']} | {row['error']:.2e} | "
            f"{time / 1e6:.1f} | {narrow} of {row['contractions']} | {error:.2e} | {verdict} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--points", type=int, default=5)
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--write", type=pathlib.Path, help="a page with the mark of the table")
    options = parser.parse_args()
    lines = ["| model | recipe | us, modelled | narrow | error, measured | by measured errors: us | narrow | error | which is |", "|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines))
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.only.split(","):
            for planted in (False, True):
                model = Model(pathlib.Path(temporary), name, planted, options)
                for row in rows_of(model, name + (", planted" if planted else ""), options.points):
                    rows.append(row)
                    lines.append(row_text(row))
                    print(lines[-1], flush=True)
    good = sum(row["below"] for row in rows)
    lines += ["", f"{good} of {len(rows)} decisions by measured errors lie on or below the recipe of the same time"]
    print(lines[-1])
    if options.write:
        write_table(options.write, "\n".join(lines), "frontier")
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
