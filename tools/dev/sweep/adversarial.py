#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the adversarial graphs before and after conversion and prints how far they are apart.

usage: adversarial.py FOLDER [--write=docs/results/Adversarial.md]

Files of FOLDER, at any depth, that name inputs in comments hold one graph as @linalg and @tosa; the
first comment line says what it is about. Conversion has no calibration data. A form is right when the
largest error is at most 4e-3 (f16) or 2e-2 (bf16) of the largest magnitude, no NaN or infinity is
new, integers are equal and every promise of conversion is kept (mp-sweep, from PATH). Which ops stay
f32 and which contractions must be narrow is checked by the files' own CHECK lines. Exits 1 if one
is wrong.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import write_table  # noqa: E402

LIMITS = {"f16": 4e-3, "bf16": 2e-2}
FORMS = ("linalg", "tosa")


def title(path):
    """The leading comment, up to an empty one."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return " ".join(lines)


def cell(record, form):
    """Text of a table cell, and whether the form is right."""
    if "broken" in record:
        return record["broken"].splitlines()[0], False
    run = next((run for run in record["runs"] if run["entry"] == form), {"skipped": "no such function"})
    if "skipped" in run:
        return "not run: " + run["skipped"], False
    error = float(run["error"])
    return f"{error:.1e}", error <= LIMITS[record["format"]]


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    writes = [a.removeprefix("--write=") for a in sys.argv[1:] if a.startswith("--write=")]
    if len(arguments) != 1:
        sys.exit(__doc__)
    files = [path for path in sorted(pathlib.Path(arguments[0]).rglob("*.mlir"))
             if "// INPUT:" in path.read_text()]
    done = subprocess.run(["mp-sweep", "--run", "--formats=f16,bf16", *map(str, files)],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"mp-sweep failed in {done.stderr.splitlines()[-1:]}:\n{done.stderr[-2000:]}")
    records = {}
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if "unread" in record:
            sys.exit(f"{record['file']}: {record['unread']}")
        records[pathlib.Path(record["file"]).stem, record["format"]] = record
    columns = [(form, format) for form in FORMS for format in LIMITS]
    lines = ["| case | " + " | ".join(" ".join(column) for column in columns) + " | contractions narrow | what it holds |",
             "|---|" + "---|" * len(columns) + "---|---|"]
    right = dict.fromkeys(columns, 0)
    for path in files:
        row = [f"`{path.stem}`"]
        for form, format in columns:
            text, good = cell(records[path.stem, format], form)
            right[form, format] += good
            row.append(text if good else f"**{text}**")
        narrow = {format: records[path.stem, format] for format in LIMITS}
        row.append(", ".join(f"{format} {r.get('narrowed', 0)} of {r.get('contractions', 0)}"
                             for format, r in narrow.items()))
        lines.append("| " + " | ".join([*row, title(path)]) + " |")
    text = "\n".join(lines)
    counts = ", ".join(f"{form} {format} {count}" for (form, format), count in right.items())
    print(text)
    print(f"{len(files)} cases; right: {counts}")
    for target in map(pathlib.Path, writes):
        write_table(target, f"{text}\n\n{len(files)} cases; right: {counts}.")
    return 0 if all(count == len(files) for count in right.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
