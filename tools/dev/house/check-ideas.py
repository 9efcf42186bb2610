#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/results/TestIdeas.md: ideas 1 to 132, each with tests that exist, or a reason.

usage: check-ideas.py [--root ROOT]

Files must exist and hold the functions that a row names behind them, as `@keeps_sums_wide`. Prints what is wrong
and a count; exits 1 if something is.
"""
import pathlib
import re
import sys

IDEAS = 132


def main():
    root = pathlib.Path(sys.argv[2] if sys.argv[1:2] == ["--root"] else pathlib.Path(__file__).parents[3])
    rows = re.findall(r"^\| (\d+) \| (.*?) \| (.*) \|$", (root / "docs/results/TestIdeas.md").read_text(), re.MULTILINE)
    wrong, tested = [], 0
    if [int(row[0]) for row in rows] != list(range(1, IDEAS + 1)):
        wrong.append(f"expected rows 1 to {IDEAS} in order, found {len(rows)} rows")
    for number, _, where in rows:
        paths = re.findall(r"`(test/[^`]*)`((?: `@\w+`)*)", where)
        tested += not re.match(r"Does not apply|Not ", where)
        if not paths and not re.match(r"Does not apply: |Not (here|yet): ", where):
            wrong.append(f"idea {number}: neither a test nor a reason")
        for path, functions in paths:
            if not (root / path).exists():
                wrong.append(f"idea {number}: {path} does not exist")
                continue
            text = (root / path).read_text()
            wrong += [f"idea {number}: {path} has no function @{name}" for name in re.findall(r"@(\w+)", functions)
                      if not re.search(rf"func\.func (?:\w+ )?@{name}\b", text)]
    print(*wrong, sep="\n")
    print(f"{len(rows)} ideas: {tested} tested, {len(rows) - tested} with a reason, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
