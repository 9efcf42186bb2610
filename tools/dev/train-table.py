#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the digits perceptron in several precisions and prints one table.

usage: train-table.py [--steps=N] [--optimizer=momentum] [--small-loss=N] [--json=FILE]

Needs mp-opt, mp-gen and mp-run on PATH, numpy, and scikit-learn for its copy of the UCI digits; without
scikit-learn the 360 images under test/Models/Inputs serve, 300 to train and 60 to test. Every row
starts from the same seeded weights and sees the same batches; only the conversion differs. With
--small-loss=N the loss counts in units of 2^N and the rate makes up for it: the same training in f32, but
gradients that f16 cannot hold without a loss scale.

Columns: share of the held-out images classified rightly, last loss, skipped steps, last loss scale,
contractions that compute narrow, seconds of the run, peak bytes of buffers.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH = 32
ROWS = [
    ("f32", None),
    ("bf16", "format=bf16"),
    ("f16, no loss scale", "format=f16 loss-scale=none"),
    ("f16, torch", "format=f16 loss-scale=torch interval=200"),
    ("f16, megatron", "format=f16 loss-scale=megatron interval=200"),
]


def load_data():
    try:
        from sklearn.datasets import load_digits
        data = load_digits()
        images, labels, held = data.data, data.target, 360
    except ImportError:
        folder = ROOT / "test/Models/Inputs"
        images, labels, held = numpy.load(folder / "digits-images.npy"), numpy.load(folder / "digits-labels.npy"), 60
    order = numpy.random.default_rng(7).permutation(len(images))
    images, labels = images[order].astype(numpy.float32), labels[order].astype(numpy.int64)
    return images[held:], labels[held:], images[:held], labels[:held]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)


def shrink_loss(text, exponent):
    """The seed of the backward pass times 2^exponent, the learning rate divided by it."""
    text, seeds = re.subn(r"dense<1\.0+e\+00> : tensor<1xf32>", f"dense<{2.0 ** exponent:e}> : tensor<1xf32>", text)
    text, rates = re.subn(r"arith\.constant (2\.0+e-02) : f32", lambda m: f"arith.constant {float(m[1]) * 2.0 ** -exponent:e} : f32", text)
    if seeds != 1 or rates != 1:
        raise SystemExit("--small-loss: expected one seed and one rate in the step; use --optimizer=momentum")
    return text


def accuracy(folder, images, labels):
    run("mp-gen", "digits", f"--batch={len(images)}", "--weights=args", "-o", folder / "forward.mlir")
    numpy.save(folder / "held.npy", images)
    inputs = [f"--input=@{folder / 'held.npy'}"] + [f"--input=@{folder / f'w{i}.npy'}" for i in range(6)]
    run("mp-run", folder / "forward.mlir", *inputs, f"--output=@{folder / 'logits.npy'}")
    return float((numpy.load(folder / "logits.npy").argmax(axis=1) == labels).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--optimizer", default="momentum", choices=["sgd", "momentum", "adam"])
    parser.add_argument("--small-loss", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    images, labels, held, held_labels = load_data()
    states = {"sgd": 6, "momentum": 12, "adam": 19}[options.optimizer]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = run("mp-gen", "digits", f"--batch={BATCH}", f"--train={options.optimizer}").stdout
        (folder / "step.mlir").write_text(shrink_loss(text, options.small_loss) if options.small_loss else text)
        numpy.save(folder / "images.npy", images)
        numpy.save(folder / "labels.npy", labels)
        print(f"{options.optimizer}, {options.steps} steps of {BATCH} of {len(images)} images, tested on {len(held)}")
        print(f"{'':20} {'right':>7} {'loss':>9} {'skipped':>7} {'scale':>10} {'narrow':>7} {'s':>6} {'bytes':>9}")
        for label, conversion in ROWS:
            passes = f"--mp-train-step={conversion}" if conversion else "--mp-annotate-roles"
            converted = run("mp-opt", folder / "step.mlir", passes, "-o", folder / "mixed.mlir")
            narrow = re.search(r"(\d+ of \d+) contractions", converted.stderr) if conversion else None
            inputs = ["--input=seed"] * states + [f"--input=batches:@{folder / f}" for f in ("images.npy", "labels.npy")]
            run("mp-run", folder / "mixed.mlir", f"--steps={options.steps}", f"--log-every={options.steps}", *inputs,
                f"--json={folder / 'run.json'}", *[f"--output=@{folder / f'w{i}.npy'}" for i in range(6)])
            result = json.loads((folder / "run.json").read_text())
            steps = result["steps"]
            loss = steps[f"result {states}"][-1]
            row = {"row": label, "right": accuracy(folder, held, held_labels), "loss": loss,
                   "skipped": steps.get("skipped_steps", [0])[-1], "scale": steps.get("loss_scale", [1])[-1],
                   "narrow": narrow[1] if narrow else "0", "seconds": result["run_seconds"], "bytes": result["peak_bytes"],
                   "losses": steps[f"result {states}"]}
            rows.append(row)
            print(f"{label:20} {row['right']:7.1%} {'NaN' if loss is None else format(loss, '9.4f'):>9} {row['skipped']:7.0f} "
                  f"{row['scale']:10.0f} {row['narrow']:>7} {row['seconds']:6.2f} {row['bytes']:9}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
