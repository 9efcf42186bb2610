#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emits the attention kernels of mma.sync that gates.json names, for kernel-report --gates.

usage: gate-attention.py --mp-opt=MP_OPT FOLDER [--only=REGEX] [--mask=none|causal|causal-lowest] [--tile=128x64 --warps=4] [--emit=ptx]

Writes FOLDER/ID.cubin (or .ptx) for each gate attention-HEAD-TARGET: 16 heads of 4096 queries and keys in bf16, functions
approximated, with the tile of --tile, else that of the head size. Cubins need ptxas.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("gate_kernels", FOLDER / "gate-kernels.py")
gate_kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gate_kernels)

ID = re.compile(r"attention-(\d+)-(sm_\w+)")
HEADS, LENGTH = 16, 4096
TARGETS = ("sm_80", "sm_89", "sm_120")
# 32 rows a warp, where their sums leave registers; else 16.
TILES = {64: ("128x64", 4), 128: ("128x64", 8)}


def generic(result, loops, maps, ins, out, body):
    """linalg.generic over the loops of `loops`, capitals reduced; `maps` names the loops of each operand."""
    listed = lambda names: ", ".join(names.lower())
    affine = ", ".join(f"affine_map<({listed(loops)}) -> ({listed(names)})>" for names in maps)
    kinds = ", ".join('"reduction"' if loop.isupper() else '"parallel"' for loop in loops)
    element = lambda kind: kind[:-1].split("x")[-1]
    arguments = ", ".join(f"%i{i}: {element(kind)}" for i, (_, kind) in enumerate(ins))
    return f"""{result} = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}}
ins({", ".join(name for name, _ in ins)} : {", ".join(kind for _, kind in ins)}) outs({out[0]} : {out[1]}) {{
^bb0({arguments}, %o: {element(out[1])}):
{body}
linalg.yield %r : {element(out[1])}
}} -> {out[1]}
"""


def module_text(head, tile, warps, mask):
    x = f"tensor<{HEADS}x{LENGTH}x{head}xbf16>"
    s, p = (f"tensor<{HEADS}x{LENGTH}x{LENGTH}x{element}>" for element in ("f32", "bf16"))
    r, o = f"tensor<{HEADS}x{LENGTH}xf32>", f"tensor<{HEADS}x{LENGTH}x{head}xf32>"
    product = """%a = arith.extf %i0 : bf16 to f32
%b = arith.extf %i1 : bf16 to f32
%t = arith.mulf %a, %b : f32
%r = arith.addf %o, %t : f32"""
    logit = "%r = arith.mulf %i0, %scale : f32" if mask == "none" else f"""%u = arith.mulf %i0, %scale : f32
%iq = linalg.index 1 : index
%ik = linalg.index 2 : index
%c = arith.cmpi ule, %ik, %iq : index
%r = arith.select %c, %u, %{"low" if mask == "causal" else "lowest"} : f32"""
    fill = lambda name, value, into, kind: f"{name} = linalg.fill ins({value} : f32) outs({into} : {kind}) -> {kind}\n"
    body = f"""%zero = arith.constant 0.0 : f32
%low = arith.constant 0xFF800000 : f32
%lowest = arith.constant 0xFF7FFFFF : f32
%scale = arith.constant 0.125 : f32
%es = tensor.empty() : {s}
%er = tensor.empty() : {r}
%ep = tensor.empty() : {p}
%eo = tensor.empty() : {o}
""" + fill("%zs", "%zero", "%es", s) + fill("%lo", "%low", "%er", r) + fill("%zr", "%zero", "%er", r) + fill("%zo", "%zero", "%eo", o)
    body += generic("%s", "hqkD", ["hqd", "hkd", "hqk"], [("%q", x), ("%k", x)], ("%zs", s), product)
    body += generic("%l", "hqk", ["hqk", "hqk"], [("%s", s)], ("%es", s), logit)
    body += generic("%x", "hqK", ["hqk", "hq"], [("%l", s)], ("%lo", r), "%r = arith.maximumf %i0, %o : f32")
    body += generic("%e", "hqk", ["hqk", "hq", "hqk"], [("%l", s), ("%x", r)], ("%es", s),
                    "%t = arith.subf %i0, %i1 : f32\n%r = math.exp %t : f32")
    body += generic("%n", "hqK", ["hqk", "hq"], [("%e", s)], ("%zr", r), "%r = arith.addf %i0, %o : f32")
    body += generic("%p", "hqk", ["hqk", "hq", "hqk"], [("%e", s), ("%n", r)], ("%ep", p),
                    "%t = arith.divf %i0, %i1 : f32\n%r = arith.truncf %t : f32 to bf16")
    body += generic("%y", "hqwK", ["hqk", "hkw", "hqw"], [("%p", p), ("%v", x)], ("%zo", o), product)
    body += generic("%w", "hqw", ["hqw", "hqw"], [("%y", o)], ("%out", x), "%r = arith.truncf %i0 : f32 to bf16")
    return f"""func.func @f(%aq: {x}, %ak: {x}, %av: {x}) -> {x} {{
%oo = tensor.empty() : {x}
%d = mpk.dispatch ins(%aq, %ak, %av : {x}, {x}, {x}) outs(%oo : {x})
    schedule = <attention, "tile={tile} warps={warps}"> -> {x} {{
^bb0(%q: {x}, %k: {x}, %v: {x}, %out: {x}):
{body}mpk.yield %w : {x}
}}
return %d : {x}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--mp-opt", required=True)
    parser.add_argument("--only", default="", help="regular expression of identifiers")
    parser.add_argument("--mask", default="none", choices=["none", "causal", "causal-lowest"])
    parser.add_argument("--tile")
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--emit", default="cubin", choices=["cubin", "ptx"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    emitted = 0
    for gate in json.loads(gate_kernels.GATES.read_text())["gates"]:
        match = ID.fullmatch(gate["id"])
        if not match or match[2] not in TARGETS or not re.search(args.only, gate["id"]):
            continue
        tile, warps = (args.tile, args.warps) if args.tile else TILES[int(match[1])]
        refused = gate_kernels.emit(args.mp_opt, module_text(int(match[1]), tile, warps, args.mask),
                                    match[2] + " math=approximate", args.emit, args.folder / f"{gate['id']}.{args.emit}")
        emitted += not refused
        if refused:
            print(f"{gate['id']}: {refused}")
    if not emitted:
        sys.exit("no kernel was emitted")


if __name__ == "__main__":
    main()
