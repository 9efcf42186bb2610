#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine instructions of products by weights with two of four, sparse and dense, of one tile.

Writes cubins of both kernels, and prints how many products (HMMA, IMMA, QMMA) each has, what ptxas says of registers and spills,
and the bytes of constants. Usage: sparse-counts.py FOLDER [--mp-opt=PATH] [--target=sm_80 ...]
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def weights(rows, k, size):
    """Rows of which two of each four are not zero, as bytes of 1.0, or of 1."""
    draw = random.Random(1)
    one, zero = {1: ("01", "00"), 2: ("803F", "0000")}[size]  # of 8-bit floats the smallest
    text = []
    for _ in range(rows * k // 4):
        left = draw.sample(range(4), 2)
        text += [one if i in left else zero for i in range(4)]
    return "".join(text)


def module(name, tile, warps, stages):
    """Two tiles each way, B transposed, of a sum of eight steps."""
    m, n, depth = tile
    size = 2 if name == "bf16" else 1
    wide, widen, kind = ("i32", "extsi", "i") if name == "i8" else ("f32", "extf", "f")
    rows, columns, k = 2 * n, 2 * m, 8 * depth  # the weights' outputs are the rows of mma.sp
    x, w, y = f"tensor<{rows}x{k}x{name}>", f"tensor<{columns}x{k}x{name}>", f"tensor<{rows}x{columns}x{wide}>"
    zero = "0" if kind == "i" else "0.0"
    schedule = f"tile={m}x{n}x{depth} warps={warps} stages={stages} copy=async"
    return f"""
func.func @f(%x: {x}) -> {y} {{
  %w = arith.constant dense<"0x{weights(columns, k, size)}"> : {w}
  %zero = arith.constant {zero} : {wide}
  %e = tensor.empty() : {y}
  %i = linalg.fill ins(%zero : {wide}) outs(%e : {y}) -> {y}
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.schedule = #mpk.schedule<matmul, "{schedule}">}}
      ins(%x, %w : {x}, {w}) outs(%i : {y}) {{
  ^bb0(%p: {name}, %q: {name}, %s: {wide}):
    %wp = arith.{widen} %p : {name} to {wide}
    %wq = arith.{widen} %q : {name} to {wide}
    %t = arith.mul{kind} %wp, %wq : {wide}
    %u = arith.add{kind} %s, %t : {wide}
    linalg.yield %u : {wide}
  }} -> {y}
  return %r : {y}
}}
"""


CASES = [("bf16", (128, 64, 64), "2x2", 3), ("bf16", (64, 64, 64), "2x2", 4), ("bf16", (128, 128, 64), "2x4", 3),
         ("i8", (128, 64, 128), "2x2", 3), ("f8E4M3FN", (128, 64, 128), "2x2", 3)]
HAS_FP8 = ("sm_89", "sm_120")


def count(options, target, case, sparse):
    name, tile, warps, stages = case
    stem = f"{name}-{'x'.join(map(str, tile))}-{target}-{'sparse' if sparse else 'dense'}"
    folder = options.folder / stem
    folder.mkdir(parents=True, exist_ok=True)
    source = options.folder / f"{stem}.mlir"
    source.write_text(module(*case))
    flags = f"target={target} emit=cubin dir={folder} sparse={str(sparse).lower()}"
    run = subprocess.run([options.mp_opt, source, f"--mp-to-nvvm={flags}", "--remarks-filter=mp-emit-kernels",
                          "-o", options.folder / f"{stem}.out.mlir"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{stem}: {run.stderr}")
    cubin, = folder.glob("*.cubin")
    opcodes = subprocess.run([sys.executable, HERE / "cubin-opcodes.py", cubin], capture_output=True, text=True, check=True).stdout
    products = sum(int(number) for number in re.findall(r"[HIQ]MMA (\d+)", opcodes))
    return products, run.stderr, opcodes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--mp-opt", default="mp-opt")
    parser.add_argument("--target", nargs="+", default=["sm_80", "sm_86", "sm_89", "sm_90a", "sm_120"])
    options = parser.parse_args()
    for target in options.target:
        for case in CASES:
            if case[0].startswith("f8") and target not in HAS_FP8:
                continue
            dense, _, _ = count(options, target, case, False)
            sparse, said, _ = count(options, target, case, True)
            registers = re.search(r"(\d+) registers", said)
            spills = re.search(r"(\d+)[^,]*spill", said)
            print(f"{case[0]:8} {'x'.join(map(str, case[1])):11} {target:7} dense {dense:4} sparse {sparse:4} products, "
                  f"{registers.group(1) if registers else '?':3} registers, {spills.group(1) if spills else 0} spilled")


if __name__ == "__main__":
    main()
