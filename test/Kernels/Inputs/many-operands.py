# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a dispatch of so many vectors of unknown length: many-operands.py COUNT."""
import sys

count = range(int(sys.argv[1]))
print("func.func @f(" + ", ".join(f"%x{i}: memref<?xf32>" for i in count) + ", %y: memref<?xf32>) {")
print("  mpk.dispatch ins(" + ", ".join(f"%x{i}" for i in count) + " : " + ", ".join("memref<?xf32>" for i in count) + ") outs(%y : memref<?xf32>) {")
print("  ^bb0(" + ", ".join(f"%a{i}: tensor<?xf32>" for i in count) + ", %b: tensor<?xf32>):")
print("    mpk.yield %a0 : tensor<?xf32>\n  }\n  return\n}")
