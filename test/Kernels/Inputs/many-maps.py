#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a function of so many maps of one tensor, in one dispatch of a schedule.

usage: many-maps.py COUNT SETTINGS
"""
import sys

count, settings = int(sys.argv[1]), sys.argv[2]
t = "tensor<98304xf32>"


def op(i):
    return f"""%r{i} = linalg.generic {{indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}}
        ins(%in : {t}) outs(%e{i} : {t}) {{
    ^bb0(%a{i}: f32, %b{i}: f32):
      %c{i} = arith.constant {i}.5 : f32
      %m{i} = arith.mulf %a{i}, %c{i} : f32
      %y{i} = arith.addf %m{i}, %a{i} : f32
      linalg.yield %y{i} : f32
    }} -> {t}"""


def listed(name):
    return ", ".join(f"%{name}{i}" for i in range(count))


types = ", ".join([t] * count)
empties = "\n".join(f"%f{i} = tensor.empty() : {t}" for i in range(count))
arguments = ", ".join(f"%e{i}: {t}" for i in range(count))
ops = "\n".join(map(op, range(count)))
print(f"""func.func @maps(%x: {t}) -> ({types}) {{
{empties}
%d:{count} = mpk.dispatch ins(%x : {t}) outs({listed("f")} : {types}) schedule = <map, "{settings}"> -> {types} {{
^bb0(%in: {t}, {arguments}):
{ops}
mpk.yield {listed("r")} : {types}
}}
return {", ".join(f"%d#{i}" for i in range(count))} : {types}
}}""")
