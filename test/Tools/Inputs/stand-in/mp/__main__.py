# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what the real one might, or refuses as it does."""
import sys

if "absent" in sys.argv[1]:
    sys.exit("mp: needs torch_mlir: pip install torch-mlir")
text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4x" + ("f16" if "wrong" in sys.argv[1] else "f32") + ">\n}\n"
with open(sys.argv[sys.argv.index("-o") + 1], "w") as file:
    file.write(text)
