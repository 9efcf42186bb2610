#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: feedback.py rows FILE STEPS           rows for that many steps of sum-of-rows.mlir
       feedback.py check FILE FORMAT FOLDER   compares what mp-run left in FOLDER, after all steps on the rows and four
                                              ranks, with the same arithmetic in numpy, bit for bit; and the sum of what
                                              was given to the weights and what is left over with the exact sum"""
import sys

import numpy as np

RANKS, SHAPE, PART = 4, (2, 5), 3  # 10 elements, in 4 parts of 3
FORMATS = {"bf16": (8, -126, None), "f8E4M3FN": (4, -6, 448.0), "f8E5M2": (3, -14, 57344.0)}


def nearest(values, name):
    """Rounds to nearest even of that many digits; the largest value stands for larger ones."""
    digits, least, largest = FORMATS[name]
    x = values.astype(np.float64)
    exponent = np.maximum(np.floor(np.log2(np.where(x == 0, 1, np.abs(x)))), least)
    step = 2.0 ** (exponent - digits + 1)
    rounded = np.rint(x / step) * step
    return (np.clip(rounded, -largest, largest) if largest else rounded).astype(np.float32)


def send(wanted, name):
    """What of `wanted`, by rank, is sent, and what is left over."""
    scale = np.float32(1)
    if FORMATS[name][2]:
        amax, top = np.abs(wanted).max(), int(np.log2(FORMATS[name][2])) - 1
        scale = np.float32(2.0 ** max(np.floor(np.log2(amax)) - top if amax else -1e9, -100))
    codes = nearest(wanted / scale, name)
    return codes, scale, wanted - codes * scale


def tree(rows):
    return (rows[0] + rows[1]) + (rows[2] + rows[3])


def main():
    if sys.argv[1] == "rows":
        random = np.random.default_rng(3)
        rows = random.normal(size=(int(sys.argv[3]) * RANKS, *SHAPE)).astype(np.float32)
        rows[..., 0] *= np.float32(1e-6)  # small ones, whose fp8 codes are 0 until enough is left over
        np.save(sys.argv[2], rows)
        return
    rows, name, folder = np.load(sys.argv[2]), sys.argv[3], sys.argv[4]
    w, given = np.zeros(SHAPE, np.float32), np.zeros(SHAPE)
    e, back = np.zeros((RANKS, RANKS * PART), np.float32), np.zeros(RANKS * PART, np.float32)
    for step in range(len(rows) // RANKS):
        own = np.zeros_like(e)
        own[:, :10] = rows[step * RANKS:][:RANKS].reshape(RANKS, 10)
        codes, scale, e = send(own + e, name)
        codes, scale, back = send(tree(codes) * scale + back, name)
        gradient = (codes * scale)[:10].reshape(SHAPE)
        w, given = w - gradient, given + gradient
    results = [np.load(f"{folder}/result-{i:03}.npy") for i in range(3)]
    for what, ours, theirs in zip(("weights", "left over by ranks", "left over by owners"), results, (w, e, back)):
        print(what, "equal" if ours.astype(np.float32).tobytes() == theirs.tobytes() else f"differ: {ours} {theirs}")
    exact = rows.astype(np.float64).sum(0)
    left = (e.astype(np.float64).sum(0) + back)[:10].reshape(SHAPE)
    # Every sum of a gradient and what was left over rounds once in f32, as every sum of the tree; magnitudes below 32.
    bound = (len(rows) // RANKS) * (RANKS + 4) * 32 * 2.0**-24
    print("given and left over:", "the exact sum" if np.abs(given + left - exact).max() < bound else "something else")
    print("given alone:", "the exact sum" if np.abs(given - exact).max() < bound else "something else")


main()
