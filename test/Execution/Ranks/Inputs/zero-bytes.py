#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: zero-bytes.py STEP SCHEME CALLS REMARK OUTPUT [SIZE:ROWS]

Computes from the shapes of the parameters of STEP what each of 4 ranks sends in a call, and compares that with the remark of
mp-partition and with what mp-run counted. SCHEME is data, state (ZeRO 1 and 2) or all (ZeRO 3). Of a table of SIZE rows, ROWS are
read, and have gradients: where ranks hold parts of it, they share these rows alone."""
import math
import re
import sys

RANKS, BYTES = 4, 4


def all_reduce(elements):
    return 2 * (RANKS - 1) * -(-elements // RANKS) * BYTES


def part_of_all(elements):
    """A reduce_scatter or an all_gather."""
    return (RANKS - 1) * elements // RANKS * BYTES


step, scheme, calls, remark, output = sys.argv[1:6]
size, rows = map(int, sys.argv[6].split(":")) if len(sys.argv) > 6 else (0, 0)
signature = re.search(r"func.func @main\((.*?)\) ->", open(step).read()).group(1)
expected = all_reduce(1)  # the loss
for shape in re.findall(r'tensor<([0-9x]+)xf32> {[^}]*mp.role = "parameter"', signature):
    dims = [int(d) for d in shape.split("x")]
    elements = math.prod(dims)
    is_table = dims[0] == size
    if scheme == "data" or all(d % RANKS for d in dims):
        expected += all_reduce(elements // size * rows if is_table else elements)
        continue
    read = all_reduce(elements // size * rows) if is_table else part_of_all(elements)
    expected += read  # gradients
    expected += read if scheme == "all" else part_of_all(elements)  # parameters

planned = int(re.search(r"each rank sends (\d+) bytes a call", open(remark).read()).group(1))
sent = int(re.search(r"(\d+) bytes sent by each rank", open(output).read()).group(1))
print(f"{scheme}: {expected} bytes by the formula, " + ("planned and sent" if planned == expected and sent == int(calls) * expected
      else f"{planned} planned, {sent} sent in {calls} calls"))
