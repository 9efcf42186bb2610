#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the role analysis and mp-train-step make of train steps, and how far training drifts from f32.

usage: train-sweep.py PATH... [--format=f16,bf16] [--only=REGEX] [--steps=N] [--scalars=0.001,1] [--limit=SECONDS]
                      [--max-drift=X] [--options=...] [--write=docs/TrainSteps.md]

PATH is a train step (.mlir, .mlir.xz), or a folder or .tar.xz that holds files with "_step" in their names. Per
file: contractions that scale with the seed, of all; gradients, parameters, optimizer state, statistics; whether
mp-train-step and its verifiers accept it in each format, or the annotation they ask for.

With --steps=N both versions train for N steps on seeded data: optimizer state starts at zero, and --scalars are the
floats of rank 0 that are no state, in order, the last one repeated (a rate, bias corrections, factors). `drift` is how
far the float state is apart after the last step, in parts of how far the f32 state moved; then come the losses, where
the step returns one. Files that take longer than --limit are named. --options goes to mp-train-step.

Exits 1 if a file is neither accepted nor refused with the annotation it wants, or drifts beyond --max-drift.
"""
import argparse
import json
import lzma
import math
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile


def run(*command, limit=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit)


def unpack(path, folder):
    """The train steps of a file, folder or archive, by name."""
    if path.is_dir():
        return sorted(path.rglob("*_step*.mlir"))
    if path.name.endswith(".tar.xz"):
        with tarfile.open(path) as archive:
            members = [m for m in archive if re.search(r"_step[^/]*\.mlir$", m.name)]
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Debian 12's Python
            archive.extractall(folder, members)
        return sorted(folder / m.name for m in members)
    if path.name.endswith(".xz"):
        target = folder / path.stem
        target.write_bytes(lzma.open(path).read())
        return [target]
    return [path]


def first_error(text):
    match = re.search(r"error: (.*)", text)
    return match[1] if match else text.strip()[:200] or "no message"


def inputs_of(annotated, scalars):
    """--input for every argument: seeded, but for the scalars that are no state, and small biases and scales."""
    signature = re.search(r"func\.func (?:public )?@[\w.$-]+\((%.*?)\) -> ", annotated)[1]
    given, rest = [], list(scalars)
    for index, argument in enumerate(re.split(r", (?=%)", signature)):
        row = re.search(r': tensor<(\d+xf32)> .*"parameter"', argument)
        if row:
            given.append(f"--input={row[1]}=uniform:{index},0.1,0.1")
        elif ": tensor<f32>" in argument and "mp.state" not in argument:
            given.append(f"--input=f32:{rest[0]}")
            rest = rest[1:] or rest
        elif ": tensor<f32>" in argument and '"statistic"' in argument:
            given.append("--input=f32:1")  # a loss scale or a rate of the step's own must not be zero
        else:
            given.append("--input=seed")
    return given


def loss_of(steps):
    """The first scalar result that is no state."""
    values = next((values for name, values in steps.items() if name.startswith("result ")), [])
    return " ".join("NaN" if v is None else f"{v:.5g}" for v in values)


def train(folder, form, options):
    """Words on N steps in f32 and `form`, and the drift."""
    inputs = inputs_of((folder / "f32.mlir").read_text(), options.scalars.split(","))
    try:
        done = run("mp-run", folder / "mixed.mlir", f"--compare={folder / 'f32.mlir'}", f"--steps={options.steps}",
                   f"--log-every={options.steps}", f"--json={folder / 'run.json'}", *inputs, limit=options.limit)
    except subprocess.TimeoutExpired:
        return f"more than {options.limit:g} s", 0.0
    drift = re.search(r"steps: (\S+) of how far", done.stdout)
    if done.returncode or not drift:
        return "FAILED to run: " + (first_error(done.stderr) if done.returncode else "no float state"), math.nan
    result = json.loads((folder / "run.json").read_text())
    words = f"drift {float(drift[1]):.2%}"
    if skipped := result["steps"].get("skipped_steps", [0])[-1]:
        words += f", {skipped:.0f} skipped"
    if loss_of(result["steps"]):
        words += f", loss {loss_of(result['steps'])} (f32 {loss_of(result['reference_steps'])})"
    return words, float(drift[1])


def examine(path, options, folder):
    """A line of the table as (counts, words per format), and whether all is well."""
    tools = ["mp-opt", "--allow-unregistered-dialect", path]
    done = run(*tools, "--inline", "--cse", "--mp-annotate-roles", "-o", folder / "f32.mlir")
    found = re.search(r"scales (\d+) of (\d+) contractions; (\d+) gradients, (\d+) parameters, (\d+) of optimizer state, (\d+)",
                      done.stderr)
    if not found:
        error = first_error(done.stderr)
        verdicts = ["refused: " + error] + ["refused"] * (len(options.format) - 1)  # before any format is asked for
        return ["-"] * 5, verdicts, "mp.role" in error or "mp.state" in error
    scaled, total, *counts = found.groups()
    verdicts, good = [], True
    for form in options.format:
        done = run(*tools, f"--mp-train-step=format={form} table=false {options.options}", "-o", folder / "mixed.mlir")
        if done.returncode:
            verdicts.append("FAILED: " + first_error(done.stderr))
            good = False
            continue
        verdicts.append("ok")
        if options.steps:
            words, drift = train(folder, form, options)
            verdicts[-1] += ", " + words
            good &= drift <= options.max_drift
    return [f"{scaled}/{total}", *counts], verdicts, good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--format", default="f16,bf16", type=lambda text: text.split(","))
    parser.add_argument("--only", default="", help="files whose name matches")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--scalars", default="0.001,1")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--max-drift", type=float, default=float("inf"))
    parser.add_argument("--options", default="")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    rows, broken = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [file for path in options.paths for file in unpack(path, folder)]
        for path in files:
            if not re.search(options.only, path.name):
                continue
            counts, verdicts, good = examine(path, options, folder)
            broken += not good
            rows.append((path.name.removesuffix(".mlir"), counts, verdicts))
            print(f"{rows[-1][0]:48} {counts[0]:>8} {' '.join(f'{c:>4}' for c in counts[1:])}  " + " | ".join(verdicts), flush=True)
    summary = f"{len(rows)} train steps, {len(options.format)} formats: {broken} broken"
    print(summary)
    if options.write:
        head, mark, _ = options.write.read_text().partition("<!-- table -->\n")
        table = f"{head}{mark}\n{summary}.\n\n| file | scaled | gradients | parameters | optimizer | statistics | {' | '.join(options.format)} |\n"
        table += "|" + " --- |" * (6 + len(options.format)) + "\n"
        for name, counts, verdicts in rows:
            table += "| " + " | ".join([name, *counts, *verdicts]) + " |\n"
        options.write.write_text(table)
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
