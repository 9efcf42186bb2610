#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Share of rows whose largest logit is the labelled one.

usage: accuracy.py LOGITS.npy LABELS.npy

LOGITS is f32 [N, classes], LABELS i64 [N]; needs nothing beyond Python.
"""
import array
import ast
import sys


def load(path, kind, code):
    """The values of a .npy file of little-endian `kind`, and its shape."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            sys.exit(f"{path}: expected a .npy file")
        version = file.read(2)[0]
        header = ast.literal_eval(
            file.read(int.from_bytes(file.read(2 if version == 1 else 4), "little")).decode())
        if header["descr"] != kind or header["fortran_order"]:
            sys.exit(f"{path}: expected {kind} in C order, found {header['descr']}")
        values = array.array(code)
        values.frombytes(file.read())
    return values, header["shape"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    logits, (rows, classes) = load(sys.argv[1], "<f4", "f")
    labels, shape = load(sys.argv[2], "<i8", "q")
    if shape != (rows,):
        sys.exit(f"{sys.argv[2]}: expected {rows} labels, found shape {shape}")
    right = 0
    for row, label in enumerate(labels):
        own = logits[row * classes:(row + 1) * classes]
        # NaN is never the largest.
        best = max(range(classes), key=lambda k: own[k] if own[k] == own[k] else float("-inf"))
        right += best == label and own[best] == own[best]
    print(f"{right} of {rows} right")


if __name__ == "__main__":
    main()
