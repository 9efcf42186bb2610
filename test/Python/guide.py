# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the blocks of a guide that are fenced as python, in order and in one process: `guide.py PAGE [WORD]`.

With a word, only sections whose heading has it; a section sees what those before it have defined.
"""
import pathlib
import re
import sys


def sections(page):
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        blocks = re.findall(r"^```python\n(.*?)^```$", body, flags=re.M | re.S)
        if blocks:
            yield heading, blocks


def main():
    path, word = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    count, names = 0, {"__name__": "guide"}
    for heading, blocks in sections(path.read_text()):
        if word not in heading:
            continue
        for block in blocks:
            exec(compile(block, f"{path.name}: {heading}", "exec"), names)
            count += 1
    print(f"{count} blocks ran")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
