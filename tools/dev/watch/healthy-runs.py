#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the networks of docs/guides/Training.md with probes and a monitor, and counts notes and alarms: none of the 50 runs is sick.

usage: healthy-runs.py [--here] [--only=NETWORK,...] [--rows=REGEX] [--steps=N] [--records=FILE]

Networks, data, steps and conversions are those of tables/train-table.py, but for its row `f16, no scale`, whose gradients are
flushed. Needs mp-opt, mp-gen and mp-run on PATH, numpy and scikit-learn. With --records each run is kept in FILE, and a later call
makes only those that are missing. Probed are all gradients and all values that casts narrow. With --here three conversions are trained on the 360
digits of the repository instead, and no package is needed.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import sys
import tempfile

from digits import Digits, alerts_of, run


def load_table():
    """tables/train-table.py as a module."""
    spec = importlib.util.spec_from_file_location("train_table", pathlib.Path(__file__).parents[1] / "tables/train-table.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    return table


HERE = {"bf16": "format=bf16", "f16, torch": "format=f16 loss-scale=torch interval=200", "fp8, current": "format=e4m3 recipe=current target=sm_89"}


def watch_here(folder, conversion, steps):
    net = Digits(folder, min(600, steps or 600))
    # Recipes with scaled values have no casts to probe.
    return net.steps, net.watch(conversion, "" if "recipe=" in conversion else "casts")


def watch(table, folder, network, conversion, steps):
    model, training, most, batch, load, _ = table.NETWORKS[network]
    steps = min(most, steps or most)
    step, watched, log = folder / "step.mlir", folder / "watched.mlir", folder / "log.jsonl"
    run("mp-gen", *model.split(), *training.split(), f"--batch={batch}", "-o", step)
    inputs, _ = table.first_weights(folder, step)
    data = table.batches(folder, load()[0])
    if conversion:
        casts = [] if "recipe=" in conversion else ["--mp-insert-probes=select=casts"]
        run("mp-opt", step, f"--mp-train-step={conversion} probe-gradients=true table=false", *casts, "-o", watched)
    else:
        run("mp-opt", step, "--mp-annotate-roles", "--mp-insert-probes=select=gradients", "-o", watched)
    run("mp-run", watched, f"--steps={steps}", f"--log-every={steps}", *inputs, *data, f"--monitor={log}")
    return steps, alerts_of(log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--rows", default="")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--records", type=pathlib.Path)
    options = parser.parse_args()
    table = None if options.here else load_table()
    rows = [("digits", label, conversion, 600) for label, conversion in HERE.items()] if options.here else [
        (network, label, conversion, table.NETWORKS[network][2])
        for network in (options.only.split(",") if options.only else table.NETWORKS) for label, conversion in table.ROWS if label != "f16, no scale"]
    known = {(r["network"], r["row"], r["steps"]): r for r in (table.read_records(options.records) if table else [])}
    runs = steps = notes = alarms = 0
    for network, label, conversion, most in rows:
        if re.search(options.rows, label):
            record = known.get((network, label, min(most, options.steps or most)))
            if not record:
                with tempfile.TemporaryDirectory() as name:
                    folder = pathlib.Path(name)
                    made, found = watch(table, folder, network, conversion, options.steps) if table else watch_here(folder, conversion, options.steps)
                record = {"network": network, "row": label, "steps": made, "alerts": found}
                if options.records:
                    with options.records.open("a") as file:
                        file.write(json.dumps(record) + "\n")
            of = {grade: [f"{rule}{' of ' + place['place'] if place['place'] else ''} from step {place['step']}, {place['count']} times"
                          for rule, places in record["alerts"].items() for place in places
                          if place["grade"] == grade and rule != "stall"] for grade in ("note", "alarm")}
            runs, steps = runs + 1, steps + record["steps"]
            notes += sum(place["count"] for rule, places in record["alerts"].items() for place in places
                         if place["grade"] == "note" and rule != "stall")
            alarms += len(of["alarm"])
            print(f"{network}, {label}: {record['steps']} steps" + "".join(f"; {grade}: {one}" for grade in of for one in of[grade]), flush=True)
    print(f"{runs} runs, {steps} steps: {alarms} alarms, {notes} notes, {notes / max(steps, 1) * 1e4:.1f} in 10,000 steps")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
