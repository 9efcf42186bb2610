# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks one op after another of a converted model and looks for it with mp-run --per-op.

usage: find_the_op.py CONVERTED ORIGINAL
"""
import json
import pathlib
import subprocess
import sys

# Each op is replaced by another one; results change by far more than a rounding to bf16 does.
BROKEN = {"math.erf": "math.cos", "math.rsqrt": "math.sqrt", "math.exp %": "math.exp2 %"}
LIMIT = 0.05


def first_wrong(converted, original):
    """Label of the first value inside that differs by more than LIMIT of the largest, or None."""
    done = subprocess.run(["mp-run", converted, f"--compare={original}", "--per-op", "--seed=1", f"--json={converted}.json"],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    values = json.loads(pathlib.Path(converted + ".json").read_text())["per_op"]
    return next((value["label"] for value in values if value["relative_norm"] > LIMIT), None)


def main():
    converted, original = sys.argv[1:]
    text = pathlib.Path(converted).read_text()
    if found := first_wrong(converted, original):
        sys.exit(f"nothing was broken, but '{found}' differs")
    count = 0
    for old, new in BROKEN.items():
        lines = text.splitlines(keepends=True)
        for number in [n for n, line in enumerate(lines) if f"= {old}" in line]:
            broken = converted + ".broken.mlir"
            pathlib.Path(broken).write_text("".join(
                line.replace(f"= {old}", f"= {new}") if n == number else line for n, line in enumerate(lines)))
            # The body belongs to the op that begins it: the last one before with a region.
            before = sum("linalg.generic" in line for line in lines[:number]) - 1
            found = first_wrong(broken, original)
            wanted = labels(converted, original)[before]
            if found != wanted:
                sys.exit(f"broke the {old} of '{wanted}', found '{found}'")
            count += 1
    print(f"{count} ops replaced one by one, each the first that is wrong")


def labels(converted, original):
    """Labels of the generic ops, in program order."""
    values = json.loads(pathlib.Path(converted + ".json").read_text())["per_op"]
    return [value["label"] for value in values if "linalg.generic" in value["label"]]


if __name__ == "__main__":
    main()
