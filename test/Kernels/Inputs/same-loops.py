#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the main loops of two matrix kernels in PTX.

usage: same-loops.py ONE.ptx OTHER.ptx
The loop is the block that multiplies and branches to its own label. Registers and labels are numbered by the order in
which the loop names them, so that equal texts are equal instructions on equal data.
"""
import pathlib
import re
import sys


def main_loop(path):
    blocks = re.split(r"^(?=\$\w+:)", path.read_text(), flags=re.MULTILINE)
    loops = []
    for block in blocks:
        label = block.split(":", 1)[0]
        end = re.search(rf"^.*bra[\w.]* \t?{re.escape(label)};", block, flags=re.MULTILINE)
        if end and "mma.sync" in block:
            loops.append(block[:end.end()])
    if len(loops) != 1:
        sys.exit(f"same-loops.py: expected one loop with mma.sync in {path}, found {len(loops)}")
    names = {}
    text = re.sub(r"^\s*//.*\n|\s+//.*$", "", loops[0], flags=re.MULTILINE)
    return re.sub(r"%[a-z]+\d+|\$\w+", lambda name: names.setdefault(name[0], f"#{len(names)}"), text).splitlines()


def main():
    one, other = (main_loop(pathlib.Path(path)) for path in sys.argv[1:])
    for number, (mine, yours) in enumerate(zip(one, other)):
        if mine != yours:
            sys.exit(f"same-loops.py: line {number} of the loop is '{mine.strip()}' and '{yours.strip()}'")
    if len(one) != len(other):
        sys.exit(f"same-loops.py: loops have {len(one)} and {len(other)} lines")
    products = sum("mma.sync" in line for line in one)
    print(f"equal loops: {products} products in {len(one)} lines")


if __name__ == "__main__":
    main()
