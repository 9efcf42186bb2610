# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: one-unscale.py data X.npy Y.npy
#        one-unscale.py check W.npy
# Two micro-batches of one row, and the weights that a step of test/Pipelines/train-accumulate.test must make of
# them, rounded to f32 operation by operation: the sum of scaled gradients times 1 / scale, once.
import struct
import sys

SCALE = 3.0  # no power of two: unscaling rounds, so once and twice can be told apart
ROWS, WIDTH, OUT = 2, 8, 2
X = [[1 + 0.37 * i + 0.11 * r for i in range(WIDTH)] for r in range(ROWS)]
Y = [[0.71 + 1.3 * i - 0.29 * r for i in range(OUT)] for r in range(ROWS)]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def save(path, rows):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(b"".join(struct.pack("<f", x) for row in rows for x in row))


def scaled(row, i, o):
    # The weights are zero: the error is minus the label.
    return f32(f32(X[row][i]) * f32(f32(-f32(Y[row][o])) * SCALE))


def updated(unscaled_sum):
    return f32(0 - f32(f32(unscaled_sum / ROWS) * 0.5))


if sys.argv[1] == "data":
    save(sys.argv[2], X)
    save(sys.argv[3], Y)
    sys.exit()
data = open(sys.argv[2], "rb").read()
found = struct.unpack(f"<{WIDTH * OUT}f", data[10 + struct.unpack("<H", data[8:10])[0]:])
inverse = f32(1 / SCALE)
wrong = told = 0
for i in range(WIDTH):
    for o in range(OUT):
        gradients = [scaled(row, i, o) for row in range(ROWS)]
        once = updated(f32(f32(sum(gradients)) * inverse))
        each = updated(f32(sum(f32(g * inverse) for g in gradients)))
        wrong += found[i * OUT + o] != once
        told += once != each
print(f"{wrong} of {WIDTH * OUT} weights differ from one unscaling of the sum")
print("unscaling each micro-batch", "differs" if told else "does not differ")
