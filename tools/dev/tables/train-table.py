#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains small networks on real data in several precisions and prints one table.

usage: train-table.py [--only=NAME,...] [--rows=REGEX] [--steps=N] [--records=FILE] [--json=FILE]

Needs mp-opt, mp-gen and mp-run on PATH, numpy and scikit-learn (for its copy of the UCI digits). Trained are
MLPs and a CNN on 1,437 of the 1,797 digits, tested on the other 360, and a small GPT on the characters of
docs/*.md as they were at one commit (`TEXT`), tested on the last tenth of each file. `mlp 2^-24` is the MLP with its loss counted in units of
2^24 and its rate to match: the same training, but gradients that f16 flushes to zero without a loss scale.
`mlp 256` and `gpt` are wide enough for several blocks of 128 to a sum.

Every row of a network starts from the same weights and sees the same batches; only the conversion differs.
Columns: digits classified rightly, or bits per character, on what was held out, by the f32 network with the
weights trained; the training loss, mean of the last tenth of the steps; how much of its fall from the first step
came in that tenth, little where training has converged; steps skipped; the last loss scale; contractions that
compute narrow, or on scaled values; milliseconds of the quickest step, on one core of a CPU, which has no narrow contractions
and so shows no speed-up; the largest sum of the buffers of a step, in bytes.

With --records each row is kept in FILE as soon as it is trained, and a later call trains only what is missing: rows of the same
network, steps and data.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
TEXT = "ee42b5e7f570"
ROWS = [
    ("f32", None),
    ("bf16", "format=bf16"),
    ("bf16, fp8 moments", "format=bf16 moments=fp8"),
    ("fp8-sr moments", "format=bf16 moments=fp8-stochastic"),
    ("f16, no scale", "format=f16 loss-scale=none"),
    ("f16, torch", "format=f16 loss-scale=torch interval=200"),
    ("f16, megatron", "format=f16 loss-scale=megatron interval=200"),
    ("fp8, current", "format=e4m3 recipe=current target=sm_89"),
    ("fp8, delayed", "format=e4m3 recipe=delayed target=sm_89"),
    ("fp8, block", "format=e4m3 recipe=block target=sm_90a"),
    ("fp4, NVFP4", "recipe=nvfp4-training target=sm_100a"),
]
DIGITS_BATCH, TEXT_BATCH, WINDOW = 32, 8, 32


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[:3000]}")
    return done


def digits(shape, fold=0):
    """Rows and labels of what is trained on and of what is held out; of five folds, these hold out another fifth each."""
    from sklearn.datasets import load_digits
    data = load_digits()
    order = numpy.roll(numpy.random.default_rng(7).permutation(len(data.data)), -360 * fold)
    images, labels = data.data[order].astype(numpy.float32).reshape(-1, *shape), data.target[order].astype(numpy.int64)
    return (images[360:], labels[360:]), (images[:360], labels[:360])


def one_hot():
    """Digits with brightness from 0 to 1, and targets for the squared error."""
    (images, labels), (held, held_labels) = digits((64,))
    return (images / 16, numpy.eye(10, dtype=numpy.float32)[labels]), (held / 16, held_labels)


def text():
    """Windows of characters and of what follows each, from the parts trained on and held out."""
    training, held = "", ""
    for path in run("git", "-C", ROOT, "ls-tree", "--name-only", "--full-tree", TEXT, "docs/").stdout.split():
        if not path.endswith(".md"):
            continue
        content = "".join(c if ord(c) < 128 else "?" for c in run("git", "-C", ROOT, "show", f"{TEXT}:{path}").stdout)
        cut = len(content) * 9 // 10
        training, held = training + content[:cut], held + content[cut:]

    def windows(content, count, seed):
        codes = numpy.frombuffer(content.encode(), numpy.uint8).astype(numpy.int64)
        starts = numpy.random.default_rng(seed).integers(0, len(codes) - WINDOW - 1, count)
        rows = numpy.stack([codes[s:s + WINDOW + 1] for s in starts])
        return rows[:, :-1].copy(), rows[:, 1:].copy()

    return windows(training, 4096, 1), windows(held, 256, 2)


def percent(logits, labels):
    return float((logits.argmax(axis=-1) == labels).mean()) * 100


def bits_each(logits, labels):
    logits = logits.astype(numpy.float64)
    logits -= logits.max(axis=-1, keepdims=True)
    chosen = numpy.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return float((numpy.log(numpy.exp(logits).sum(axis=-1)) - chosen).mean()) / math.log(2)


def rightly(logits, labels):
    return f"{percent(logits, labels):.1f}%"


def bits(logits, labels):
    return f"{bits_each(logits, labels):.3f} b"


MLP = "digits"
CNN = "cnn --image=8 --inputs=1 --channels=8 --layers=1"
WIDE = "mlp --layers=3 --inputs=64 --hidden=256 --outputs=10"
GPT = f"gpt2 --layers=2 --hidden=64 --heads=4 --seq={WINDOW} --vocab=128"
# name: model, options of training, steps, rows per batch, data, measure
NETWORKS = {
    "mlp": (MLP, "--train=momentum", 1500, DIGITS_BATCH, lambda fold=0: digits((64,), fold), rightly),
    "mlp 2^-24": (MLP, "--train=momentum --loss-exponent=-24", 1500, DIGITS_BATCH, lambda fold=0: digits((64,), fold), rightly),
    "mlp 256": (WIDE, "--train=adam", 1000, DIGITS_BATCH, one_hot, rightly),
    "cnn": (CNN, "--train=adam", 2500, DIGITS_BATCH, lambda fold=0: digits((1, 8, 8), fold), rightly),
    "gpt": (GPT, "--train=adamw", 3000, TEXT_BATCH, text, bits),
}


def first_weights(folder, step):
    """An --input for every argument but the data: as initialisers would, moments and counts at zero."""
    signature = re.search(r"func.func @main\((.*?)\) ->", step.read_text())[1]
    draw = numpy.random.default_rng(3)
    inputs, parameters = [], []
    for sizes, element, name in re.findall(r'tensor<((?:\d+x)*)(\w+)> loc\("([^"]+)"\)', signature):
        shape = [int(s) for s in sizes.split("x") if s]
        if "." not in name and name != "step":
            continue  # the data
        if name[:2] in ("m.", "v.") or name == "step" or name.endswith("bias"):
            value = numpy.zeros(shape)
        elif len(shape) == 1:
            value = numpy.ones(shape)
        else:
            inner = numpy.prod(shape[1:]) if len(shape) == 4 else shape[0]
            value = draw.normal(0, 0.1 if name.startswith("w") else (2 / inner) ** 0.5, shape)
        path = folder / f"first-{name}.npy"
        numpy.save(path, value.astype(numpy.float32))
        inputs.append(f"--input=@{path}")
        if name[:2] not in ("m.", "v.") and name != "step":
            parameters.append(path)
    return inputs, parameters


def batches(folder, arrays):
    paths = [folder / f"data{i}.npy" for i in range(len(arrays))]
    for path, array in zip(paths, arrays):
        numpy.save(path, array)
    return [f"--input=batches:@{path}" for path in paths]


def in_order(forward, weights, data):
    """The inputs of a forward pass in the order of its arguments."""
    names = re.findall(r'loc\("([^"]+)"\)', re.search(r"func.func @main\((.*?)\) ->", forward.read_text())[1])
    rest = iter(weights)
    return [next(rest) if "." in name else f"--input=@{data}" for name in names]


def count_narrow(printed, report):
    """Contractions on scaled values, where there are any, else those in a narrow format; of all."""
    total = re.search(r"of (\d+) contractions", printed)[1]
    scaled = sum(len(row["operands"]) for row in json.loads(report.read_text()).get("scaled", [])) // 2
    narrow = scaled or int(re.search(r"(\d+) of \d+ contractions b?f16", printed)[1])
    return f"{narrow} of {total}"


def read_records(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []


def print_row(row):
    print(f"  {row['row']:17} {row['held_out']:>8} {row['loss']:8.4f} {row['falling']:7.1%} {row['skipped']:7.0f} "
          f"{row['scale']:10.4g} {row['narrow']:>9} {row['milliseconds']:7.2f} {row['bytes']:9}", flush=True)


def train(folder, network, options, rows):
    model, training_options, steps, batch, load, measure = NETWORKS[network]
    steps = min(steps, options.steps or steps)
    training, (held, labels) = load()
    step, forward = folder / "step.mlir", folder / "forward.mlir"
    run("mp-gen", *model.split(), *training_options.split(), f"--batch={batch}", "-o", step)
    run("mp-gen", *model.split(), "--weights=args", f"--batch={len(held)}", "-o", forward)
    inputs, parameters = first_weights(folder, step)
    data = batches(folder, training)
    numpy.save(folder / "held.npy", held)
    digest = hashlib.sha256(b"".join(a.tobytes() for a in (*training, held, labels))).hexdigest()[:16]
    kept = {(r["network"], r["row"], r["steps"], r["data"]): r for r in read_records(options.records)}
    print(f"{network}: {model.split()[0]} {training_options}, {steps} steps of {batch}")
    for label, conversion in ROWS:
        if not re.search(options.rows, label):
            continue
        if (network, label, steps, digest) in kept:
            rows.append(kept[network, label, steps, digest])
            print_row(rows[-1])
            continue
        passes = f"--mp-train-step={conversion} report={folder / 'report.json'}" if conversion else "--mp-annotate-roles"
        converted = run("mp-opt", step, passes, "-o", folder / "mixed.mlir")
        narrow = count_narrow(converted.stderr, folder / "report.json") if conversion else "0"
        outputs = [folder / f"w{i}.npy" for i in range(len(parameters))]
        run("mp-run", folder / "mixed.mlir", f"--steps={steps}", f"--log-every={steps}", *inputs, *data,
            f"--json={folder / 'run.json'}", *[f"--output=@{path}" for path in outputs])
        trained = [f"--input=@{path}" for path in outputs]
        run("mp-run", forward, *in_order(forward, trained, folder / "held.npy"),
            f"--output=@{folder / 'logits.npy'}")
        result = json.loads((folder / "run.json").read_text())
        scalars = result["steps"]
        losses = [v for k, v in scalars.items() if k.startswith("result")][-1]
        losses = [math.nan if v is None else v for v in losses]
        tenth = max(1, steps // 10)
        last, before = (sum(part) / len(part) for part in (losses[-tenth:], losses[-2 * tenth:-tenth] or losses[:1]))
        row = {"network": network, "row": label, "steps": steps, "data": digest, "held_out": measure(numpy.load(folder / "logits.npy"), labels),
               "loss": last, "falling": (before - last) / max(losses[0] - last, 1e-30),
               "skipped": scalars.get("skipped_steps", [0])[-1], "scale": scalars.get("loss_scale", [1])[-1],
               "narrow": narrow, "milliseconds": result["least_step_seconds"] * 1e3, "bytes": result["peak_bytes"], "losses": losses}
        rows.append(row)
        print_row(row)
        if options.records:
            with options.records.open("a") as file:
                file.write(json.dumps(row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--rows", default="", help="conversions whose name matches")
    parser.add_argument("--steps", type=int, default=0, help="at most so many")
    parser.add_argument("--records", type=pathlib.Path, help="what was trained; only the rest is")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    for network in options.only.split(","):
        if network not in NETWORKS:
            sys.exit(f"--only={network}: expected some of {', '.join(NETWORKS)}")
    rows = []
    print(f"  {'':17} {'held out':>8} {'loss':>8} {'falling':>7} {'skipped':>7} {'scale':>10} {'narrow':>9} "
          f"{'ms':>7} {'bytes':>9}")
    for network in options.only.split(","):
        with tempfile.TemporaryDirectory() as name:
            train(pathlib.Path(name), network, options, rows)
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
