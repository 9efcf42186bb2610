# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by new-pass.py and new-op.py."""
import pathlib
import sys

LICENCE = "// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


def fail(message):
    print(f"{pathlib.Path(sys.argv[0]).stem}: {message}", file=sys.stderr)
    sys.exit(2)


def read_arguments(expected):
    """The root of the tree, and the three words of the command line."""
    words, root = sys.argv[1:], pathlib.Path(__file__).parents[3]
    if "--root" in words[:-1]:
        at = words.index("--root")
        root = pathlib.Path(words[at + 1])
        del words[at:at + 2]
    if len(words) != 3:
        fail(f"expected {expected}, found {len(words)} arguments")
    return root, *words


def insert_before_end(path, text):
    content = path.read_text()
    end = content.rindex("#endif")
    path.write_text(content[:end] + text + content[end:])
