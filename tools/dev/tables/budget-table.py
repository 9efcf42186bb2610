#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets the error that max-rel-error allows against the error of a run.

usage: budget-table.py [FILE.mlir|FOLDER ...] [--models=bert,gpt2,...] [--budgets=1e-2,1e-3,1e-4,1e-5] [--format=bf16]
                       [--target=sm_80] [--seed=0] [--dim=16] [--limit-s=120] [--write=docs/results/Budgets.md]

Converts the generated models (MODELS below, TINY only by name; --models= for none), the given files and those of folders
(.mlir, .mlir.xz) with each budget, runs them on seeded inputs with mp-run --numerics=TARGET beside the
original, and prints per model and budget: estimated and observed error in norm, all results added up, and how many
contractions are narrow or rewritten. Exits 1 if a run exceeds its budget. mp-gen, mp-opt and mp-run are
found on PATH.
"""
import argparse
import json
import math
import pathlib
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


def programs(options, scratch):
    """Names and paths of all graphs."""
    for key in filter(None, options.models.split(",")):
        name, arguments = (MODELS | TINY)[key]
        path = scratch / f"{key}.mlir"
        subprocess.run(["mp-gen", *arguments, "-o", path], check=True)
        yield name, path
    for given in options.files:
        for path in sorted([*given.glob("*.mlir"), *given.glob("*.mlir.xz")]) if given.is_dir() else [given]:
            yield path.name.removesuffix(".xz"), unpacked(path, scratch)


def last_error(done):
    lines = [line for line in done.stderr.splitlines() if "error:" in line] or ["no reason given"]
    return lines[-1].split("error:")[-1].strip()


def run(command, limit):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"error: not within {limit} s")


def attempt(source, budget, options, scratch):
    """(estimated, observed, contractions rewritten and all), or why there is none as text."""
    target, report, result = scratch / "converted.mlir", scratch / "report.json", scratch / "run.json"
    words = f"format={options.format} target={options.target} max-rel-error={budget} report={report} table=false"
    done = run(["mp-opt", source, f"--mp-mixed-precision={words}", "-o", target], options.limit_s)
    if done.returncode:
        return f"refused: {last_error(done)}"
    found = json.loads(report.read_text())
    estimates = [place["modelled_error"] or 0 for place in found["placement"]]
    done = run(["mp-run", target, f"--compare={source}", f"--numerics={options.target}", f"--seed={options.seed}",
                f"--dim={options.dim}", f"--json={result}"], options.limit_s)
    if not result.exists() or done.returncode == 2:
        return f"not run: {last_error(done)}"
    outputs = json.loads(result.read_text())["outputs"]
    result.unlink()
    observed = math.sqrt(sum((output["relative_norm"] or 0) ** 2 for output in outputs))
    if any(output["non_finite_mismatches"] for output in outputs):
        observed = math.inf
    contractions = [op for op in found["ops"] if op["class"] == "T"]
    rewritten = sum(op["narrowed"] or op["words"] for op in contractions)
    return max(estimates), observed, rewritten, len(contractions)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--budgets", default="1e-2,1e-3,1e-4,1e-5")
    parser.add_argument("--format", default="bf16")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--limit-s", type=int, default=120)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    budgets = options.budgets.split(",")
    lines = ["| graph | " + " | ".join(f"within {budget}" for budget in budgets) + " |", "|---" * (len(budgets) + 1) + "|"]
    print("\n".join(lines), flush=True)
    kept, missed, refused = 0, [], set()
    with tempfile.TemporaryDirectory() as scratch:
        for name, source in programs(options, pathlib.Path(scratch)):
            cells = []
            for budget in budgets:
                found = attempt(source, budget, options, pathlib.Path(scratch))
                if isinstance(found, str):
                    refused.add(f"{name}: {found}")
                    cells.append(found.split(":")[0])
                    continue
                estimated, observed, rewritten, contractions = found
                holds = observed <= float(budget)
                kept += holds
                missed += [] if holds else [f"{name}: {observed:.2g} where {budget} is allowed"]
                cells.append(f"{observed:.1e} ({estimated:.1e}), {rewritten} of {contractions}" + ("" if holds else " **missed**"))
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    verdict = (f"{options.format} on {options.target}, seed {options.seed}: {kept} of {kept + len(missed)} budgets hold"
               + (f"; {len(refused)} not tried" if refused else "") + ".")
    print("\n".join([verdict, *sorted(refused)]))
    for line in missed:
        print(line, file=sys.stderr)
    if options.write:
        notes = [f"* {line}" for line in sorted(refused)]
        body = "\n".join([verdict, "", *lines, *([""] + notes if notes else [])])
        write_table(options.write, body, f"{options.format} on {options.target}", end=r"^<!-- ")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
