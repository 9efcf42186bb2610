#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every example fenced as mlir in the README, in docs/ and in TableGen descriptions.

usage: run-doc-examples.py [ROOT] [--only SUBSTRING]

A block is complete and must pass mp-opt (found on PATH) and survive printing and parsing. Flags in
the paragraph before it, as in `Example (`--mp-optimize-casts`):`, are passed along. If the block is
followed by a paragraph that starts with "becomes", the next block is what must come out. A block
fenced as diff is both: without its + lines it is the example, without its - lines what must come
out, and the flags are in the paragraph after it, as in `mp-opt --mp-optimize-casts`. Files in flags
are named from the root. Fragments are fenced as text.
"""
import pathlib
import re
import subprocess
import sys
import textwrap

BLOCK = re.compile(r"^([ \t]*)```mlir\n(.*?)^[ \t]*```", re.M | re.S)
DIFF = re.compile(r"^```diff\n(.*?)^```\n\n.*?`mp-opt (--[^`]+)`", re.M | re.S)
FLAGS = re.compile(r"\(`(--[^`]+)`\)")


class Example:
    def __init__(self, place, flags, text):
        self.place, self.flags, self.text, self.expected = place, flags, text, None


def examples(path, root):
    """The examples of one file, an expected result joined to the one it belongs to."""
    content, found, end = path.read_text(), [], 0
    for match in BLOCK.finditer(content):
        before = content[end:match.start()].strip().rsplit("\n\n", 1)[-1]
        place = f"{path.relative_to(root)}:{content.count(chr(10), 0, match.start()) + 1}"
        text = textwrap.dedent(match[1] + match[2] if not match[2].startswith(match[1]) else match[2])
        follows = found and "\n\n" not in content[end:match.start()].strip() and before.startswith("becomes")
        end = match.end()
        if follows and found[-1].expected is None:
            found[-1].expected = text
            continue
        flags = FLAGS.search(before)
        found.append(Example(place, flags[1] if flags else "", text))
    for match in DIFF.finditer(content):
        before, after = ("".join(line[1:] for line in match[1].splitlines(keepends=True) if line[0] in marks)
                         for marks in (" -", " +"))
        found.append(Example(f"{path.relative_to(root)}:{content.count(chr(10), 0, match.start()) + 1}", match[2], before))
        found[-1].expected = after
    return found


def run(text, flags):
    """(output, None) or (None, what mp-opt said)."""
    arguments = re.findall(r'(?:[^\s"]|"[^"]*")+', flags)
    arguments = [argument.replace('"', "") for argument in arguments]
    done = subprocess.run(["mp-opt", "-", *arguments], input=text, capture_output=True, text=True, timeout=120,
                          cwd=pathlib.Path(__file__).parents[3])
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr.strip() or f"exit {done.returncode}")


def problem_of(example):
    output, error = run(example.text, example.flags)
    if error:
        return f"mp-opt {example.flags} refuses it:\n{error}"
    again, error = run(output, "")
    if error or again != output:
        return f"its output does not survive parsing and printing:\n{error or again}"
    if example.expected is not None:
        expected, error = run(example.expected, "")
        if error:
            return f"the expected result does not parse:\n{error}"
        if expected != output:
            return f"mp-opt {example.flags} gives\n{output}the text says\n{expected}"
    return None


def main():
    arguments = sys.argv[1:]
    only = ""
    if "--only" in arguments:
        at = arguments.index("--only")
        only = arguments[at + 1]
        del arguments[at:at + 2]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[3]).resolve()
    files = [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "include").rglob("*.td"))]
    found = [example for path in files if path.exists() and only in str(path) for example in examples(path, root)]
    problems = 0
    for example in found:
        problem = problem_of(example)
        if problem:
            problems += 1
            print(f"{example.place}: {problem}")
    print(f"{len(found)} examples, {problems} problems")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main())
