#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the role analysis and mp-train-step make of train steps, and how far training drifts from f32.

usage: train-sweep.py PATH... [--format=f16,bf16] [--only=REGEX] [--steps=N] [--batch=N] [--scalars=0.001,1]
                      [--limit=SECONDS] [--max-drift=X] [--options=...] [--records=FILE]
                      [--write=docs/results/TrainSteps.md [--mark=NAME] [--grow]]

PATH is a train step (.mlir, .mlir.xz), or a folder or .tar.xz that holds files with "_step" in their names. Per
file: contractions that scale with the seed, of all; gradients, parameters, optimizer state, statistics; whether
mp-train-step and its verifiers accept it in each format, or the annotation they ask for.

With --steps=N both versions train for N steps on seeded data: optimizer state starts at zero, and --scalars are the
floats of rank 0 that are no state, in order, the last one repeated (a rate, bias corrections, factors). `drift` is how
far the float state is apart after the last step, in parts of how far the f32 state moved; then come the losses, where
the step returns one. Files that take longer than --limit are named. --options goes to mp-train-step. --batch=N takes a
step of N examples (mp-resize-batch on its first argument), which a CPU gets through. --format=input-bf16 is the control:
the step in f32, but that its first argument is rounded to bf16 once. What that drifts, the network makes of any rounding.

With --records what is found is kept in FILE, a line for each file and format, and a later call goes on from there; small
files come first. A file that took too long is tried again under a larger --limit. --write replaces the table behind
`<!-- NAME -->`, of counts (`table`) or with --steps of training (`trained`), by all that the records have. With --grow
steps that have a row there are passed over, unless a format took too long, and their rows stay.

Exits 1 if a file is neither accepted nor refused with the annotation it wants, or drifts beyond --max-drift.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import Records, behind, extract, unpacked, write_table  # noqa: E402


def run(*command, limit=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit)


def unpack(path, folder):
    """The train steps of a file, folder or archive, by name."""
    if path.is_dir():
        return sorted(path.rglob("*_step*.mlir"))
    if path.name.endswith(".tar.xz"):
        return sorted(extract(path, folder, r"_step[^/]*\.mlir$"))
    return [unpacked(path, folder)]


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


def losses_of(steps):
    """The first scalar result that is no state, step by step; None where it is not a number."""
    return next((values for name, values in steps.items() if name.startswith("result ")), [])


def train(folder, options):
    """What N steps of both versions come to."""
    inputs = inputs_of((folder / "f32.mlir").read_text(), options.scalars.split(","))
    try:
        done = run("mp-run", folder / "mixed.mlir", f"--compare={folder / 'f32.mlir'}", f"--steps={options.steps}",
                   f"--log-every={options.steps}", f"--json={folder / 'run.json'}", *inputs, limit=options.limit)
    except subprocess.TimeoutExpired:
        return {"late": options.limit}
    drift = re.search(r"steps: (\S+) of how far", done.stdout)
    if done.returncode or not drift:
        return {"failed": first_error(done.stderr) if done.returncode else "no drift to tell: no float state, or that of f32 is no number"}
    result = json.loads((folder / "run.json").read_text())
    return {"drift": float(drift[1]), "skipped": result["steps"].get("skipped_steps", [0])[-1], "losses": losses_of(result["steps"]),
            "f32_losses": losses_of(result["reference_steps"]), "f32_seconds": result["reference_least_step_seconds"],
            "seconds": result["least_step_seconds"]}


def in_words(losses):
    return " ".join("NaN" if v is None else f"{v:.5g}" for v in losses)


def words_of(trained):
    if "late" in trained:
        return f"more than {trained['late']:g} s"
    if "failed" in trained:
        return "FAILED to run: " + trained["failed"]
    words = f"drift {trained['drift']:.2%}"
    if trained["skipped"]:
        words += f", {trained['skipped']:.0f} skipped"
    if trained["losses"]:
        words += f", loss {in_words(trained['losses'])} (f32 {in_words(trained['f32_losses'])})"
    return words


def annotate(path, options, folder):
    """The step in f32 with its roles, in `folder`: counts and no error, or the error."""
    source = path
    if options.batch:
        source = folder / "batch.mlir"
        done = run("mp-opt", "--allow-unregistered-dialect", path,
                   f"--pass-pipeline=builtin.module(inline,func.func(mp-resize-batch{{size={options.batch}}}),cse)", "-o", source)
        if done.returncode:
            return source, ["-"] * 5, first_error(done.stderr)
    done = run("mp-opt", "--allow-unregistered-dialect", source, "--inline", "--cse", "--mp-annotate-roles", "-o", folder / "f32.mlir")
    found = re.search(r"scales (\d+) of (\d+) contractions; (\d+) gradients, (\d+) parameters, (\d+) of optimizer state, (\d+)",
                      done.stderr)
    if not found:
        return source, ["-"] * 5, first_error(done.stderr)
    scaled, total, *counts = found.groups()
    return source, [f"{scaled}/{total}", *counts], ""


def with_input_rounded(step, form):
    """The text of a step that rounds its first argument."""
    entry = re.search(r"func\.func (?:public )?@[\w.$-]+\((%\w+): (tensor<[^>]*>).*\{\n", step)
    body = re.sub(re.escape(entry[1]) + r"\b", "%rounded", step[entry.end():])
    return f"{step[:entry.end()]}    %rounded = mp.round {form} {entry[1]} : {entry[2]}\n{body}"


def examine(path, form, options, folder):
    """What becomes of a step in one format, as a record."""
    source, counts, error = annotate(path, options, folder)
    record = {"file": path.name.removesuffix(".mlir"), "format": form, "steps": options.steps, "batch": options.batch,
              "options": options.options, "counts": counts}
    if error:
        return record | {"refused" if "mp.role" in error or "mp.state" in error else "failed": error}
    if form.startswith("input-"):
        (folder / "mixed.mlir").write_text(with_input_rounded((folder / "f32.mlir").read_text(), form.removeprefix("input-")))
        return record | ({"trained": train(folder, options)} if options.steps else {})
    begin = time.monotonic()
    done = run("mp-opt", "--allow-unregistered-dialect", source, f"--mp-train-step=format={form} table=false {options.options}",
               "-o", folder / "mixed.mlir")
    record["convert_seconds"] = round(time.monotonic() - begin, 2)
    if done.returncode:
        return record | {"failed": first_error(done.stderr)}
    return record | ({"trained": train(folder, options)} if options.steps else {})


def verdict_of(record, first):
    if "refused" in record:
        return "refused: " + record["refused"] if first else "refused"  # before any format is asked for
    if "failed" in record:
        return "FAILED: " + record["failed"]
    return "ok, " + words_of(record["trained"]) if "trained" in record else "ok"


def is_good(record, options):
    trained = record.get("trained", {})
    return "failed" not in record and "failed" not in trained and trained.get("drift", 0) <= options.max_drift


def serves(record, options):
    """Whether a record is of this kind of run, and took no longer than is given now."""
    same = (record["steps"], record["batch"], record["options"]) == (options.steps, options.batch, options.options)
    return same and record.get("trained", {}).get("late", options.limit) >= options.limit


def counts_table(names, found, formats):
    lines = [f"| file | scaled | gradients | parameters | optimizer | statistics | {' | '.join(formats)} |", "|" + " --- |" * (6 + len(formats))]
    for name in names:
        verdicts = [verdict_of(found[name, form], form == formats[0]) for form in formats]
        lines.append("| " + " | ".join([name, *found[name, formats[0]]["counts"], *verdicts]) + " |")
    return "\n".join(lines)


def trained_table(names, found, formats):
    """Losses of f32 and seconds a step, then of each format how far its state has drifted, and its losses."""
    lines = [f"| file | f32, s a step | f32 | {' | '.join(formats)} |", "|" + " --- |" * (3 + len(formats))]
    for name in names:
        trained = [found.get((name, form), {}).get("trained", {}) for form in formats]
        done = [t for t in trained if "drift" in t]
        if not done:
            continue
        cells = [f"{t['drift']:.2%}" + (f", {t['skipped']:.0f} skipped" if t["skipped"] else "") +
                 (": " + in_words(t["losses"]) if t["losses"] else "") if "drift" in t else "-" if not t else words_of(t) for t in trained]
        lines.append("| " + " | ".join([name, f"{done[0]['f32_seconds']:.2g}", in_words(done[0]["f32_losses"]) or "-", *cells]) + " |")
    return "\n".join(lines)


def rows_of(table):
    """The lines of a table by what their first cell says, its head among them."""
    return {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("|")}


def merged(table, old):
    """`table` with the rows of `old` that it has none for, in the order of names."""
    head, rule, *_ = table.splitlines()
    rows = rows_of(old) | rows_of(table)
    if rows_of(old).get("file", head) != head:
        sys.exit(f"--grow: expected a table with the columns {head}, found {rows_of(old)['file']}")
    names = sorted(rows.keys() - {"file", "---"})
    return "\n".join([head, rule, *[rows[name] for name in names]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--format", default="f16,bf16", type=lambda text: text.split(","))
    parser.add_argument("--only", default="", help="files whose name matches")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--scalars", default="0.001,1")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--max-drift", type=float, default=float("inf"))
    parser.add_argument("--options", default="")
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--mark")
    parser.add_argument("--grow", action="store_true", help="keep the rows of --write and train what has none")
    options = parser.parse_args()
    if options.grow and not (options.write and options.steps):
        parser.error("--grow expects --write and --steps")
    mark = options.mark or ("trained" if options.steps else "table")
    records = Records(options.records, lambda record: (record["file"], record["format"]), lambda record: serves(record, options))
    written = behind(options.write, mark)[1] if options.grow else ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [file for path in options.paths for file in unpack(path, folder) if re.search(options.only, file.name)]
        done = {name for name, line in rows_of(written).items() if "more than" not in line}
        files = [file for file in files if file.name.removesuffix(".mlir") not in done]
        names = [file.name.removesuffix(".mlir") for file in files]
        for path in sorted(files, key=lambda file: file.stat().st_size) if options.records else files:
            name = path.name.removesuffix(".mlir")
            for form in options.format:
                if (name, form) not in records:
                    records.keep(examine(path, form, options, folder))
            of_file = [records.last((name, form)) for form in options.format]
            counts, verdicts = of_file[0]["counts"], [verdict_of(r, r is of_file[0]) for r in of_file]
            print(f"{name:48} {counts[0]:>8} {' '.join(f'{c:>4}' for c in counts[1:])}  " + " | ".join(verdicts), flush=True)
    broken = sum(not all(is_good(records.last((name, form)), options) for form in options.format) for name in names)
    found = {key: of_key[-1] for key, of_key in records.found.items()}
    summary = f"{len(names)} train steps, {len(options.format)} formats: {broken} broken"
    print(summary)
    if options.write and options.steps:
        write_table(options.write, merged(trained_table(names, found, options.format), written), mark)
    elif options.write:
        write_table(options.write, f"{summary}.\n\n{counts_table(names, found, options.format)}", mark)
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
