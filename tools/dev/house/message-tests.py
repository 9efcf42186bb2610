#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the messages of errors in lib, and those that some test reads.

usage: message-tests.py [ROOT] [--list] [--least SHARE]

A message is the text of a call that makes an error: its string literals, cut where values go in. It counts as read if three words of it
in a row, of 14 characters at least, stand in a file of test or in docs/results/Audit.md, whose commands a test runs: enough to find what
no test has ever seen, not to show that a test sees it in each of its forms. Shorter messages are left out. Prints a line per room and the
sum; --list the messages that no test reads, with their places. Exits with 1 if less than --least of all are read.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
MAKES = re.compile(r"\berror\(\s*(ErrorCode::|$)|\b(createStringError|emitError|emitOpError|emitWarning|fail|refuse|bad|badOption|malformed)\(")
WORDS, LETTERS = 3, 14


def statement(text, at):
    """The text up to the semicolon that ends the statement, outside of literals."""
    end = re.compile(r'"(?:[^"\\\n]|\\.)*"|;').finditer(text, at)
    return text[at:next((found.start() for found in end if found[0] == ";"), len(text))]


def messages(path):
    """(line, literals) of each statement of a file that makes an error."""
    text, last = path.read_text(), -1
    for found in MAKES.finditer(text):
        if found.start() < last:
            continue
        inside = statement(text, found.start())
        last = found.start() + len(inside)
        # Literals that only white space parts are one.
        joined = re.sub(r'"\s*\n\s*"', "", inside)
        literals = [part for literal in LITERAL.findall(joined) for part in re.split(r"\{\d*\}|%[a-z]|\\.", literal)]
        if any(windows(literal) for literal in literals):
            yield text.count("\n", 0, found.start()) + 1, literals


def windows(literal):
    """Runs of so many words that are long enough to be told from others."""
    words = literal.split()
    runs = (" ".join(words[at:at + WORDS]) for at in range(len(words) - WORDS + 1))
    return [run for run in runs if len(run) >= LETTERS]


def read_tests(root):
    texts = [path.read_text(errors="replace") for path in sorted((root / "test").rglob("*"))
             if path.is_file() and path.suffix in (".mlir", ".test", ".py", ".cpp", ".c", ".h", ".ptx", ".txt", ".json")]
    texts.append((root / "docs/results/Audit.md").read_text())
    joined = re.sub(r'"\s*\n\s*"', "", "\n".join(texts))
    return re.sub(r"\s+", " ", joined.replace("\\", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=ROOT)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--least", type=float, default=0)
    options = parser.parse_args()
    tests, counts, unread = read_tests(options.root), collections.Counter(), []
    for path in sorted((options.root / "lib").rglob("*.cpp")):
        room = path.relative_to(options.root / "lib").parts[0]
        for line, literals in messages(path):
            is_read = any(run in tests for literal in literals for run in windows(literal))
            counts[room, is_read] += 1
            if not is_read:
                unread.append(f"{path.relative_to(options.root)}:{line}: {' ... '.join(part.strip() for part in literals if part.strip())}")
    if options.list:
        print(*unread, sep="\n")
    for room in sorted({room for room, _ in counts}):
        print(f"{room}: {counts[room, True]} of {counts[room, True] + counts[room, False]}")
    total, seen = sum(counts.values()), sum(count for (_, is_read), count in counts.items() if is_read)
    print(f"{seen} of {total} messages are read by a test, {100 * seen / total:.1f} %")
    return 1 if seen < options.least * total else 0


if __name__ == "__main__":
    sys.exit(main())
