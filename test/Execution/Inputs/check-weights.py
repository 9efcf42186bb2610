# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares scores of the weight of a linear layer y = xW + b with mean square loss with closed forms.

usage: check-weights.py SENSITIVITY.json|--write FOLDER ROWS FEATURES OUTPUTS

With --write it writes x.npy, ROWS x FEATURES of f32, and w.npy, FEATURES x OUTPUTS.

The loss is the mean of (y - t)^2, so that each column of W has the Hessian 2 x'x / (rows * outputs), and all of W the trace 2 |x|^2 / rows.
Its block is no diagonal, but v'Hv with v of +1 and -1 has that trace as its mean; its deviation is at most sqrt(2) |H|.
"""
import json
import pathlib
import random
import struct
import sys

folder, rows, features, outputs = pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:])


def write(path, *shape):
    head = str({"descr": "<f4", "fortran_order": False, "shape": shape})
    head = head.ljust((len(head) + 11 + 63) // 64 * 64 - 11) + "\n"
    values = [random.uniform(-1, 1) for _ in range(shape[0] * shape[1])]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values))


def read(path, count):
    return struct.unpack(f"<{count}f", path.read_bytes()[-4 * count:])


def to_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


if sys.argv[1] == "--write":
    random.seed(4)
    write(folder / "x.npy", rows, features)
    write(folder / "w.npy", features, outputs)
    sys.exit(0)
x, w = read(folder / "x.npy", rows * features), read(folder / "w.npy", features * outputs)
weights = json.load(open(sys.argv[1]))["weights"]
assert [w["name"] for w in weights] == ["output.weight"], weights
curvature = weights[0]["curvature"]
trace = 2 * sum(v * v for v in x) / rows
gram = [[sum(x[r * features + i] * x[r * features + j] for r in range(rows)) for j in range(features)] for i in range(features)]
off = sum(gram[i][j] ** 2 for i in range(features) for j in range(features) if i != j)
deviation = (2 * outputs * off) ** 0.5 * 2 / (rows * outputs)
mean = sum(curvature) / len(curvature)
# Four deviations of the mean of independent draws, and what f32 leaves of a difference of gradients.
assert abs(mean - trace) < 4 * deviation / len(curvature) ** 0.5 + 1e-3 * trace, (mean, trace, deviation)
spread = (sum((c - mean) ** 2 for c in curvature) / (len(curvature) - 1)) ** 0.5
assert 0.3 * deviation < spread < 3 * deviation, (spread, deviation)

# Noise as large as the rounding moves the loss by less in tf32 than in bf16 than in e4m3, and the second-order score is in the same order.
formats = ["tf32", "bf16", "f8E4M3FN"]
noise = [sum(weights[0]["formats"][f]["noise"]) for f in formats]
scores = [sum(weights[0]["formats"][f]["second_order"]) / len(curvature) for f in formats]
assert noise == sorted(noise) and 0 < noise[0] < noise[2] / 100, noise
assert scores == sorted(scores) and 0 < scores[0] < scores[2] / 100, scores
# The score is half the curvature of an element times the squares of what rounding changes, in each draw.
squares = sum((v - to_bf16(v)) ** 2 for v in w)
for score, one in zip(weights[0]["formats"]["bf16"]["second_order"], curvature):
    assert abs(score - one / len(w) * squares / 2) <= 1e-9 * abs(score), (score, one, squares)
print(f"curvature {mean:.3f}, trace of the Hessian {trace:.3f}, deviation of one draw {spread:.3f}, expected {deviation:.3f}")
