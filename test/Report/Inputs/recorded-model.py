# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: recorded-model.py FOLDER ATTRIBUTE

Writes FOLDER/small.mlir.xz, a product of small numbers and constants that is added to large ones, and beside it in
FOLDER/small.npz how recorded inputs are made, in the form of the shared models. ATTRIBUTE stands behind the last argument.
"""
import json
import lzma
import pathlib
import random
import struct
import sys
import zipfile

folder, attribute = pathlib.Path(sys.argv[1]), sys.argv[2]
folder.mkdir(parents=True, exist_ok=True)
numbers = random.Random(1)
weights = struct.pack("<2048f", *[numbers.uniform(-0.2, 0.2) for _ in range(2048)]).hex().upper()
(folder / "small.mlir.xz").write_bytes(lzma.compress(f"""
func.func @main(%x: tensor<32x64xf32>, %p: tensor<32x32xf32>{attribute}) -> tensor<32x32xf32> {{
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %w = arith.constant dense<"0x{weights}"> : tensor<64x32xf32>
  %t = math.tanh %x : tensor<32x64xf32>
  %s = linalg.matmul ins(%t, %w : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  %r = arith.addf %s, %p : tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}}
""".encode()))
recipe = json.dumps([{"kind": "uniform", "shape": shape, "dtype": "float32", "seed": seed, "scale": scale, "offset": 0.0}
                     for seed, (shape, scale) in enumerate([([32, 64], 0.01), ([32, 32], 1.0)])])
header = repr({"descr": f"<U{len(recipe)}", "fortran_order": False, "shape": ()}).encode() + b"\n"
array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + recipe.encode("utf-32-le")
with zipfile.ZipFile(folder / "small.npz", "w") as archive:
    archive.writestr("recipe.npy", array)
