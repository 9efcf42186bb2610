#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains an MLP, a CNN and a GPT by mp-train in five strategies, one of them switching, and prints one table.

usage: strategies.py [--only=NETWORK,...] [--steps=N] [--pairs=K] [--target=H100] [--records=FILE] [--write=PAGE]

Networks, data, steps and first weights are those of tables/train-table.py. Strategies are f32, bf16, f16 with a loss scale, fp8 with
current scaling, and `switching`: f32 for the first tenth, then fp8, which begins as a canary, and f32 for the last tenth. Columns: digits
classified rightly, or bits a character, on what was held out, by the f32 network with the weights trained; steps made, and steps to
the loss that f32 has in its last tenth, within 2 % (mean of 50); rollbacks; microseconds of a step that the compiler models for the
target, the switching one's by its shares; bytes of buffers that a step holds at most, measured on the CPU; contractions that compute narrow.

The verdict beside is of K pairs of shorter trainings against f32 (`--pairs`, a fifth of the steps), each pair from weights and an order of
the data of its own, as `mp-train --evaluate` judges them (a is f32). Equivalent means within 1 % of f32's loss.

Needs mp-opt, mp-gen, mp-run and mp-train on PATH, numpy and scikit-learn.
"""
import argparse
import importlib.util
import json
import math
import pathlib
import re
import shutil
import struct
import sys
import tempfile

import numpy

from digits import run

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import Records, write_table  # noqa: E402

spec = importlib.util.spec_from_file_location("train_table", pathlib.Path(__file__).parents[1] / "tables/train-table.py")
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)

STRATEGIES = {"f32": "", "bf16": "format=bf16", "f16": "format=f16 loss-scale=torch interval=200", "fp8": "format=e4m3 recipe=current target=sm_90a",
              "switching": None}


def states_of(path):
    """The arrays of a state that mp-train has saved, in the order of the arguments."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    kinds = {"F32": numpy.float32, "I64": numpy.int64, "I32": numpy.int32, "F64": numpy.float64}
    return [numpy.frombuffer(content[8 + size + begin:8 + size + end], kinds[entry["dtype"]]).reshape(entry["shape"])
            for _, entry in sorted(header.items()) if entry["dtype"] in kinds for begin, end in [entry["data_offsets"]]]


def train(folder, network, strategy, steps, seed):
    """The losses, how many rollbacks, and the saved state."""
    model, options, _, batch, load, _ = table.NETWORKS[network]
    step = folder / "step.mlir"
    run("mp-gen", *model.split(), *options.split(), f"--batch={batch}", "-o", step)
    inputs, parameters = table.first_weights(folder, step)
    order = numpy.random.default_rng(seed)
    training = load()[0]
    if seed:  # other weights and another order than train-table's
        for path in parameters:
            values = numpy.load(path)
            if values.ndim > 1:
                numpy.save(path, order.permutation(values.ravel()).reshape(values.shape))
        rows = order.permutation(len(training[0]))
        training = tuple(array[rows] for array in training)
    data = table.batches(folder, training)
    tenth = steps // 10
    strategies = [{"name": name, "assign": assign} for name, assign in STRATEGIES.items() if assign is not None and name != "f32"]
    config = {"step": "step.mlir", "steps": steps, "inputs": [word.removeprefix("--input=") for word in inputs + data],
              "strategies": strategies + [{"name": "f32"}], "strategy": "f32" if strategy == "switching" else strategy,
              "checkpoints": {"folder": str(folder / "states"), "every": max(tenth, 1)}, "log": str(folder / "log.jsonl")}
    if strategy == "switching":
        config["schedule"] = [{"from": tenth, "strategy": "fp8"}, {"from": steps - tenth, "strategy": "f32"}]
        config["canary"] = {"shares": [0.25], "block": max(tenth // 4, 1), "blocks": 2}
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    shutil.rmtree(folder / "states", ignore_errors=True)
    (folder / "log.jsonl").unlink(missing_ok=True)
    text = run("mp-train", path).stdout
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    made = {event["step"]: event for event in events if event["kind"] == "step"}  # the last of each: what was rolled back is gone
    losses = [math.nan if made[i]["loss"] is None else made[i]["loss"] for i in sorted(made)]
    return {"losses": losses, "strategies": [made[i]["strategy"] for i in sorted(made)], "rollbacks": int(re.search(r"(\d+) rollbacks", text)[1]),
            "quarantined": sum(event["kind"] == "canary" for event in events), "parameters": len(parameters)}


def tail(losses):
    part = losses[-max(1, len(losses) // 10):]
    return sum(part) / len(part)


def held_out(folder, network, count):
    model, _, _, _, load, measure = table.NETWORKS[network]
    held, labels = load()[1]
    forward = folder / "forward.mlir"
    run("mp-gen", *model.split(), "--weights=args", f"--batch={len(held)}", "-o", forward)
    numpy.save(folder / "held.npy", held)
    state = states_of(sorted((folder / "states").glob("step-*.safetensors"))[-1])
    weights = []
    for number, array in enumerate(state[:count]):
        numpy.save(folder / f"w{number}.npy", array)
        weights.append(f"--input=@{folder / f'w{number}.npy'}")
    run("mp-run", forward, *table.in_order(forward, weights, folder / "held.npy"), f"--output=@{folder / 'logits.npy'}")
    return measure(numpy.load(folder / "logits.npy"), labels)


def costs(folder, network, assign, target):
    """Modelled microseconds, bytes of buffers, and narrow contractions, of a step."""
    report, mixed, result = folder / "report.json", folder / "mixed.mlir", folder / "run.json"
    step = folder / "step.mlir"
    name = target if "target=" not in assign else re.search(r"target=(\S+)", assign)[1]
    words = " ".join(word for word in assign.split() if not word.startswith("target="))
    # The time of f32 is said beside any other format.
    printed = run("mp-opt", step, f"--mp-train-step={words or 'format=bf16'} target={name} report={report}", "-o", mixed).stderr
    time = re.search(r"modelled: (\S+) (\w+) -> (\S+) (\w+)", printed)
    factor = {"ns": 1e-3, "us": 1, "ms": 1e3}
    micro = float(time[3]) * factor[time[4]] if assign else float(time[1]) * factor[time[2]]
    run("mp-run", mixed if assign else step, "--steps=2", "--log-every=2", f"--json={result}")
    return {"micro": micro, "bytes": json.loads(result.read_text())["peak_bytes"],
            "narrow": table.count_narrow(printed, report) if assign else "0"}


def verdict(folder, pairs):
    """What `mp-train --evaluate` says of pairs of runs, the f32 run first."""
    paths = []
    for number, pair in enumerate(pairs):
        for side, row in zip("ab", pair):
            path = folder / f"{side}{number}.jsonl"
            path.write_text("".join(json.dumps({"kind": "step", "step": i, "loss": loss}) + "\n" for i, loss in enumerate(row["losses"])))
            paths.append(path)
    report = folder / "pairs.json"
    run("mp-train", "--evaluate", "--margin=0.01", f"--json={report}", *paths)
    paired = json.loads(report.read_text())["paired"]
    base = sum(tail(row["losses"]) for row, _ in pairs) / len(pairs)
    return f"{paired['verdict']} ({paired['mean_difference'] / base:+.1%}, {paired['pairs']} pairs)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="mlp,cnn,gpt")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    records = Records(options.records, lambda r: (r["network"], r["strategy"], r["steps"], r["seed"]))
    lines = ["| network | strategy | held out | loss | steps | to f32's loss | rollbacks | modelled us a step | bytes | narrow | against f32 |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for network in options.only.split(","):
        steps = min(table.NETWORKS[network][2], options.steps or 10**9)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)

            def trained(strategy, count, seed):
                key = (network, strategy, count, seed)
                if key not in records:
                    record = {"network": network, "strategy": strategy, "steps": count, "seed": seed} | train(folder, network, strategy, count, seed)
                    if not seed:
                        record["held_out"] = held_out(folder, network, record["parameters"])
                        record |= costs(folder, network, STRATEGIES[strategy] or "", options.target) if strategy != "switching" else {}
                    records.keep(record)
                return records.last(key)

            rows = {strategy: trained(strategy, steps, 0) for strategy in STRATEGIES}
            target = tail(rows["f32"]["losses"]) * 1.02
            for strategy, row in rows.items():
                if strategy == "switching":
                    shares = [(row["strategies"].count(of) / len(row["strategies"]), rows[of]) for of in ("f32", "fp8")]
                    row["micro"] = sum(share * of["micro"] for share, of in shares)
                    row["bytes"], row["narrow"] = max(of["bytes"] for _, of in shares), f"fp8 in {shares[1][0]:.0%} of the steps"
                losses = row["losses"]
                reached = next((i + 1 for i in range(49, len(losses)) if sum(losses[i - 49:i + 1]) / 50 <= target), None)
                pairs = [[trained(of, steps // 5, seed) for of in ("f32", strategy)] for seed in range(1, options.pairs + 1)]
                said = verdict(folder, pairs) if strategy != "f32" and pairs else "-"
                lines.append(f"| {network} | {strategy} | {row['held_out']} | {tail(losses):.4f} | {len(losses)} | {reached or 'not reached'} | "
                             f"{row['rollbacks']}{' and a canary' if row['quarantined'] else ''} | {row['micro']:.3g} | {row['bytes']} | {row['narrow']} | {said} |")
                print(lines[-1], flush=True)
    if options.write:
        write_table(options.write, "\n".join(lines), "strategies")
    return 0


if __name__ == "__main__":
    sys.exit(main())
