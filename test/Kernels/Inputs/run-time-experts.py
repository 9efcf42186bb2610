#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Experts that get as many rows as a router sent them, which only the run knows: two products each of the rows gathered.

usage: run-time-experts.py FOLDER write        modules sent.mlir and all.mlir, and their inputs
       run-time-experts.py FOLDER check COUNT  sent.npy, of experts that got COUNT rows each (20,1,0,49), has the bits of
                                               all.mlir, in which each expert multiplies all rows
       run-time-experts.py FOLDER route COUNT  the order of rows for it
"""
import pathlib
import sys

import numpy

EXPERTS, ROWS, WIDTH, HIDDEN = 4, 70, 64, 96


def layer(e, rows, count, source):
    """Expert e: `source`, rows x WIDTH, times a weight, what is above zero of it, times the other, halved; `count` is the dynamic size."""
    x, h, a, y = (f"tensor<{rows}x{n}x{t}>" for n, t in ((WIDTH, "f16"), (HIDDEN, "f32"), (HIDDEN, "f16"), (WIDTH, "f32")))
    first, second = f"tensor<{WIDTH}x{HIDDEN}xf16>", f"tensor<{HIDDEN}x{WIDTH}xf16>"
    return f"""
  %wa{e} = tensor.extract_slice %w1[{e}, 0, 0] [1, {WIDTH}, {HIDDEN}] [1, 1, 1] : tensor<{EXPERTS}x{WIDTH}x{HIDDEN}xf16> to {first}
  %wb{e} = tensor.extract_slice %w2[{e}, 0, 0] [1, {HIDDEN}, {WIDTH}] [1, 1, 1] : tensor<{EXPERTS}x{HIDDEN}x{WIDTH}xf16> to {second}
  %he{e} = tensor.empty({count}) : {h}
  %hz{e} = linalg.fill ins(%zero : f32) outs(%he{e} : {h}) -> {h}
  %h{e} = linalg.matmul ins({source}, %wa{e} : {x}, {first}) outs(%hz{e} : {h}) -> {h}
  %ae{e} = tensor.empty({count}) : {a}
  %a{e} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}} ins(%h{e} : {h}) outs(%ae{e} : {a}) {{
  ^bb0(%i: f32, %o: f16):
    %m = arith.maximumf %i, %zero : f32
    %v = arith.truncf %m : f32 to f16
    linalg.yield %v : f16
  }} -> {a}
  %oe{e} = tensor.empty({count}) : {y}
  %oz{e} = linalg.fill ins(%zero : f32) outs(%oe{e} : {y}) -> {y}
  %p{e} = linalg.matmul ins(%a{e}, %wb{e} : {a}, {second}) outs(%oz{e} : {y}) -> {y}
  %u{e} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}} ins(%p{e} : {y}) outs(%oe{e} : {y}) {{
  ^bb0(%i: f32, %o: f32):
    %v = arith.mulf %i, %half : f32
    linalg.yield %v : f32
  }} -> {y}
"""


def gather(e):
    """Rows of expert e, which stand behind each other in the order, from %starts[e] on."""
    return f"""
  %c{e} = arith.constant {e} : index
  %d{e} = arith.constant {e + 1} : index
  %si{e} = tensor.extract %starts[%c{e}] : tensor<{EXPERTS + 1}xi64>
  %ti{e} = tensor.extract %starts[%d{e}] : tensor<{EXPERTS + 1}xi64>
  %s{e} = arith.index_cast %si{e} : i64 to index
  %t{e} = arith.index_cast %ti{e} : i64 to index
  %n{e} = arith.subi %t{e}, %s{e} : index
  %i{e} = tensor.extract_slice %order[%s{e}] [%n{e}] [1] : tensor<{ROWS}xi64> to tensor<?xi64>
  %ge{e} = tensor.empty(%n{e}) : tensor<?x{WIDTH}xf16>
  %g{e} = linalg.generic {{indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}} ins(%i{e} : tensor<?xi64>) outs(%ge{e} : tensor<?x{WIDTH}xf16>) {{
  ^bb0(%i: i64, %o: f16):
    %r = arith.index_cast %i : i64 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%r, %k] : tensor<{ROWS}x{WIDTH}xf16>
    linalg.yield %v : f16
  }} -> tensor<?x{WIDTH}xf16>
"""


def module(sent):
    result = f"tensor<{ROWS}x{WIDTH}xf32>"
    weights = f"%w1: tensor<{EXPERTS}x{WIDTH}x{HIDDEN}xf16>, %w2: tensor<{EXPERTS}x{HIDDEN}x{WIDTH}xf16>"
    routing = f"%order: tensor<{ROWS}xi64>, %starts: tensor<{EXPERTS + 1}xi64>, " if sent else ""
    results = ", ".join([result] * (1 if sent else EXPERTS))
    text = f"""#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<{ROWS}x{WIDTH}xf16>, {routing}{weights}) -> ({results}) {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %y0 = tensor.empty() : {result}
"""
    for e in range(EXPERTS):
        if sent:
            text += gather(e) + layer(e, "?", f"%n{e}", f"%g{e}")
            text += f"  %y{e + 1} = tensor.insert_slice %u{e} into %y{e}[%s{e}, 0] [%n{e}, {WIDTH}] [1, 1] : tensor<?x{WIDTH}xf32> into {result}\n"
        else:
            text += layer(e, ROWS, "", "%x")
    values = f"%y{EXPERTS}" if sent else ", ".join(f"%u{e}" for e in range(EXPERTS))
    return f"{text}  return {values} : {results}\n}}\n"


def route(counts):
    order = numpy.random.default_rng(sum(c * c for c in counts)).permutation(ROWS)
    return order, numpy.concatenate([[0], numpy.cumsum(counts)])


def main():
    folder, action = pathlib.Path(sys.argv[1]), sys.argv[2]
    if action == "write":
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("sent", "all"):
            (folder / f"{name}.mlir").write_text(module(name == "sent"))
        random = numpy.random.default_rng(3)
        for name, sizes, scale in (("x", (ROWS, WIDTH), 1), ("w1", (EXPERTS, WIDTH, HIDDEN), 0.2), ("w2", (EXPERTS, HIDDEN, WIDTH), 0.2)):
            numpy.save(folder / f"{name}.npy", (scale * random.standard_normal(sizes)).astype(numpy.float16))
        return
    counts = [int(c) for c in sys.argv[3].split(",")]
    order, starts = route(counts)
    if action == "route":
        numpy.save(folder / "order.npy", order.astype(numpy.int64))
        numpy.save(folder / "starts.npy", starts.astype(numpy.int64))
        return
    every = numpy.stack([numpy.load(folder / "all" / f"result-{e:03}.npy") for e in range(EXPERTS)])
    wanted = every[numpy.repeat(numpy.arange(EXPERTS), counts), order]
    found = numpy.load(folder / "sent.npy")
    different = int((found.view(numpy.uint32) != wanted.view(numpy.uint32)).sum())
    if found.shape != wanted.shape or different or not wanted.any():
        sys.exit(f"{different} of {wanted.size} numbers differ for {counts}")


if __name__ == "__main__":
    main()
