# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: near.py A.npy B.npy LIMIT
# Two f32 arrays: the largest difference over the largest magnitude; fails beyond LIMIT.
import array
import struct
import sys


def load(path):
    data = open(path, "rb").read()
    assert b"'<f4'" in data[:128], path
    return array.array("f", data[10 + struct.unpack("<H", data[8:10])[0]:])


left, right = load(sys.argv[1]), load(sys.argv[2])
worst = max(abs(x - y) for x, y in zip(left, right, strict=True)) / max(map(abs, right))
print(f"largest difference {worst:g}")
sys.exit(not worst <= float(sys.argv[3]))
