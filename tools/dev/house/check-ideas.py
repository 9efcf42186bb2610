#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/results/TestIdeas.md: ideas 1 to 132, each with tests that exist, or a reason.

usage: check-ideas.py [--root ROOT]

A file of test/Ideas must name the idea, as `idea_012` in a function or `Idea 12` in a comment. Prints what is
wrong and a count; exits 1 if something is.
"""
import pathlib
import re
import sys

IDEAS = 132


def numbers_in(text):
    """The ideas that a test names."""
    found = set()
    for name in re.findall(r"idea((?:_\d{3})+)_", text):
        found |= {int(number) for number in re.findall(r"\d{3}", name)}
    for phrase in re.findall(r"[Ii]dea (\d+(?:(?:, | and )\d+)*)", text):
        found |= {int(number) for number in re.findall(r"\d+", phrase)}
    return found


def main():
    root = pathlib.Path(sys.argv[2] if sys.argv[1:2] == ["--root"] else pathlib.Path(__file__).parents[3])
    rows = re.findall(r"^\| (\d+) \| (.*?) \| (.*) \|$", (root / "docs/results/TestIdeas.md").read_text(), re.MULTILINE)
    wrong, tested = [], 0
    if [int(row[0]) for row in rows] != list(range(1, IDEAS + 1)):
        wrong.append(f"expected rows 1 to {IDEAS} in order, found {len(rows)} rows")
    for number, _, where in rows:
        paths = re.findall(r"`(test/[^`]*)`", where)
        tested += not re.match(r"Does not apply|Not ", where)
        if not paths and not re.match(r"Does not apply: |Not (here|yet): ", where):
            wrong.append(f"idea {number}: neither a test nor a reason")
        for path in paths:
            if not (root / path).exists():
                wrong.append(f"idea {number}: {path} does not exist")
            elif path.startswith("test/Ideas/") and int(number) not in numbers_in((root / path).read_text()):
                wrong.append(f"idea {number}: {path} does not name it")
    print(*wrong, sep="\n")
    print(f"{len(rows)} ideas: {tested} tested, {len(rows) - tested} with a reason, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
