#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets the error that max-rel-error allows against the error of a run.

usage: budget-table.py [FILE.mlir|FOLDER ...] [--models=bert,gpt2,...] [--budgets=1e-2,1e-3,1e-4,1e-5] [--format=bf16]
                       [--target=sm_80] [--inputs=0] [--state-ranges] [--dim=16] [--limit-s=120]
                       [--write=docs/results/Budgets.md]

Converts the generated models (MODELS below, TINY only by name; --models= for none), the given files and those of folders
(.mlir, .mlir.xz) with each budget, runs them with mp-run --numerics=TARGET beside the
original, and prints per model and budget: estimated and observed error in norm, all results added up, and how many
contractions are narrow or rewritten. --inputs lists seeds of inputs, and `recorded` for those that stand beside
FILE.mlir.xz in FILE.npz (files without are skipped then). --state-ranges says of each argument, as mp.range, between
what its recorded values lie, so that seeded ones do, too. Exits 1 if a run exceeds its budget. mp-gen, mp-opt and
mp-run are found on PATH.
"""
import argparse
import importlib.util
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import unpacked, write_table  # noqa: E402

MODELS = {
    "bert": ("BERT, 2 layers of 768", ["bert", "--layers=2", "--hidden=768", "--heads=12", "--seq=128"]),
    "bert-hidden": ("BERT, 2 layers of 768, hidden states", ["bert", "--layers=2", "--vocab=0", "--seq=128"]),
    "bert-long": ("BERT, 2 layers of 768, 512 tokens", ["bert", "--layers=2", "--seq=512"]),
    "bert-deep": ("BERT, 8 layers of 128", ["bert", "--layers=8", "--hidden=128", "--heads=4", "--intermediate=512",
                                            "--vocab=1000"]),
    "gpt2": ("GPT-2, 2 layers of 256", ["gpt2", "--layers=2", "--hidden=256", "--heads=4", "--seq=128", "--vocab=1000"]),
    "llama": ("Llama, 2 layers of 256", ["llama", "--layers=2", "--hidden=256", "--heads=8", "--kv-heads=4",
                                         "--intermediate=704", "--seq=64", "--vocab=1000"]),
    "vit": ("ViT, 4 layers of 128", ["vit", "--image=64", "--layers=4", "--hidden=128", "--heads=4"]),
    "mlp": ("MLP", ["mlp"]),
    "cnn": ("CNN", ["cnn"]),
    "resnet": ("residual blocks", ["resnet-block"]),
    "mlp-adam": ("MLP, Adam step", ["mlp", "--hidden=256", "--train=adam"]),
}
TINY = {
    "tiny-bert": ("BERT, 2 layers of 64", ["bert", "--layers=2", "--hidden=64", "--heads=2", "--intermediate=128",
                                           "--seq=64", "--vocab=100"]),
    "tiny-gpt2": ("GPT-2, 2 layers of 64", ["gpt2", "--layers=2", "--hidden=64", "--heads=2", "--seq=64", "--vocab=100"]),
    "tiny-llama": ("Llama, 2 layers of 64", ["llama", "--layers=2", "--hidden=64", "--heads=4", "--kv-heads=2",
                                             "--intermediate=176", "--seq=32", "--vocab=100"]),
    "tiny-vit": ("ViT, 2 layers of 64", ["vit", "--image=64", "--layers=2", "--hidden=64", "--heads=2", "--intermediate=128"]),
}


def recording(path, scratch):
    """The inputs that stand beside a .mlir.xz file, as arguments of mp-run and ranges; none if there are none."""
    if not (path.parent / (path.name.removesuffix(".mlir.xz").removesuffix(".tosa") + ".npz")).exists():
        return None
    spec = importlib.util.spec_from_file_location("shared_models", pathlib.Path(__file__).parent.parent / "sweep/shared-models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Model(path, scratch)


def state_ranges(source, ranges, target):
    """Writes `source` with mp.range on the arguments of its first function, which have no attributes."""
    text = source.read_text()
    begin = re.search(r"func\.func @\w+\(", text).end()
    end = text.index(") ->", begin)
    arguments = re.findall(r"%\w+: tensor<[^>]*>", text[begin:end])
    if ", ".join(arguments) != text[begin:end] or len(arguments) != len(ranges):
        sys.exit(f"budget-table.py: {source} has {len(arguments)} arguments that a range may be stated of, and {len(ranges)} "
                 f"recorded inputs: {text[begin:end][:200]}")
    stated = [argument if known is None else f"{argument} {{mp.range = [{known[0]:.9e}, {known[1]:.9e}]}}"
              for argument, known in zip(arguments, ranges)]
    target.write_text(text[:begin] + ", ".join(stated) + text[end:])
    return target


def programs(options, scratch):
    """Name, path and recorded inputs of all graphs."""
    for key in filter(None, options.models.split(",")):
        name, arguments = (MODELS | TINY)[key]
        path = scratch / f"{key}.mlir"
        subprocess.run(["mp-gen", *arguments, "-o", path], check=True)
        yield name, path, None
    for given in options.files:
        for path in sorted([*given.glob("*.mlir"), *given.glob("*.mlir.xz")]) if given.is_dir() else [given]:
            name, recorded = path.name.removesuffix(".xz"), None
            if path.suffix == ".xz":
                recorded = recording(path, scratch)
            source = unpacked(path, scratch)
            if options.state_ranges and recorded:
                source = state_ranges(source, recorded.ranges, scratch / f"stated-{name}")
            yield name, source, recorded and [f"--input={text}" for text in recorded.inputs]


def last_error(done):
    lines = [line for line in done.stderr.splitlines() if "error:" in line] or ["no reason given"]
    return lines[-1].split("error:")[-1].strip()


def run(command, limit):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"error: not within {limit} s")


def convert(source, budget, options, scratch):
    """The converted file, the estimate, contractions rewritten and all; or why there is none as text."""
    target, report = scratch / "converted.mlir", scratch / "report.json"
    words = f"format={options.format} target={options.target} max-rel-error={budget} report={report} table=false"
    done = run(["mp-opt", source, f"--mp-mixed-precision={words}", "-o", target], options.limit_s)
    if done.returncode:
        return f"refused: {last_error(done)}"
    found = json.loads(report.read_text())
    contractions = [op for op in found["ops"] if op["class"] == "T"]
    rewritten = sum(op["narrowed"] or op["words"] for op in contractions)
    return target, max(place["modelled_error"] or 0 for place in found["placement"]), rewritten, len(contractions)


def observe(target, source, inputs, options, scratch):
    """The error in norm of all results on `inputs`, or why there is none as text."""
    result = scratch / "run.json"
    done = run(["mp-run", target, f"--compare={source}", f"--numerics={options.target}", *inputs, f"--dim={options.dim}",
                f"--json={result}"], options.limit_s)
    if not result.exists() or done.returncode == 2:
        return f"not run: {last_error(done)}"
    outputs = json.loads(result.read_text())["outputs"]
    result.unlink()
    if any(output["non_finite_mismatches"] for output in outputs):
        return math.inf
    return math.sqrt(sum((output["relative_norm"] or 0) ** 2 for output in outputs))


def heading(options):
    return f"{options.format} on {options.target}, inputs {options.inputs}" + (", ranges stated" if options.state_ranges else "")


class Counts:
    """Of runs: within their limit; and of those with anything narrow, how far estimates are off."""

    def __init__(self):
        self.kept, self.missed, self.refused, self.ratios, self.averaged = 0, [], set(), [], []

    def take(self, name, budget, observed, estimated, rewritten):
        holds = observed <= float(budget)
        self.kept += holds
        if not holds:
            self.missed.append(f"{name}: {observed:.2g} where {budget} is allowed")
        if rewritten and observed > 0:
            self.ratios.append(estimated / observed)
        return f"{observed:.1e}" + ("" if holds else " **missed**")

    def verdict(self, options):
        near = sum(1 / 3 <= ratio <= 3 for ratio in self.ratios)
        averaged = sum(1 / 3 <= ratio <= 3 for ratio in self.averaged)
        over = sum(ratio > 3 for ratio in self.ratios)
        return (f"{heading(options)}: {self.kept} of {self.kept + len(self.missed)} budgets hold; "
                f"where anything is narrow, {near} of {len(self.ratios)} estimates are within a factor of 3, {over} are larger and "
                f"{len(self.ratios) - near - over} smaller; of root mean squares over a cell's inputs, {averaged} of "
                f"{len(self.averaged)}" + (f"; {len(self.refused)} not tried" if self.refused else "") + ".")


def cell(name, source, recorded, budget, options, scratch, counts):
    found = convert(source, budget, options, scratch)
    if isinstance(found, str):
        counts.refused.add(f"{name}: {found}")
        return found.split(":")[0]
    target, estimated, rewritten, contractions = found
    texts, squares = [], []
    for inputs in options.inputs.split(","):
        given = recorded if inputs == "recorded" else [f"--seed={inputs}"]
        if given is None:
            continue
        observed = observe(target, source, given, options, scratch)
        if isinstance(observed, str):
            counts.refused.add(f"{name}, inputs {inputs}: {observed}")
            texts.append(observed.split(":")[0])
        else:
            texts.append(counts.take(name, budget, observed, estimated, rewritten))
            squares.append(observed ** 2)
    if rewritten and sum(squares) > 0:
        counts.averaged.append(estimated / math.sqrt(sum(squares) / len(squares)))
    return f"{' / '.join(texts)} ({estimated:.1e}), {rewritten} of {contractions}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--budgets", default="1e-2,1e-3,1e-4,1e-5")
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--inputs", default="0")
    parser.add_argument("--state-ranges", action="store_true")
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--limit-s", type=int, default=120)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    budgets = options.budgets.split(",")
    lines = ["| graph | " + " | ".join(f"within {budget}" for budget in budgets) + " |", "|---" * (len(budgets) + 1) + "|"]
    print("\n".join(lines), flush=True)
    counts = Counts()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name, source, recorded in programs(options, scratch):
            cells = [cell(name, source, recorded, budget, options, scratch, counts) for budget in budgets]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    print("\n".join([counts.verdict(options), *sorted(counts.refused)]))
    for line in counts.missed:
        print(line, file=sys.stderr)
    if options.write:
        notes = [f"* {line}" for line in sorted(counts.refused)]
        body = "\n".join([counts.verdict(options), "", *lines, *([""] + notes if notes else [])])
        write_table(options.write, body, heading(options), end=r"^<!-- ")
    return 1 if counts.missed else 0


if __name__ == "__main__":
    sys.exit(main())
