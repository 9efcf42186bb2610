#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emits the attention kernels of mma.sync that gates.json names, for kernel-report --gates.

usage: gate-attention.py --mp-opt=MP_OPT FOLDER [--only=REGEX] [--mask=none|causal|causal-lowest] [--tile=128x64 --warps=4] [--emit=ptx]

Writes FOLDER/ID.cubin (or .ptx) for each gate attention-HEAD-TARGET: 16 heads of 4096 queries and keys in bf16 (sm_75: f16),
functions approximated, with the tile of --tile, else that of the head size. Cubins need ptxas.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import sys

import timed_cases

FOLDER = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("gate_kernels", FOLDER / "gate-kernels.py")
gate_kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gate_kernels)

ID = re.compile(r"attention-(\d+)-(sm_\w+)")
HEADS, LENGTH = 16, 4096
TARGETS = ("sm_75", "sm_80", "sm_89", "sm_120")
# 32 rows a warp, where their sums leave registers; else 16.
TILES = {64: ("128x64", 4), 128: ("128x64", 8)}
# Masks put these in the place of scores of later keys.
HIDDEN = {"none": "", "causal": "0xFF800000", "causal-lowest": "0xFF7FFFFF"}


def module_text(head, element, tile, warps, mask):
    x = timed_cases.tensor(HEADS, LENGTH, head, element)
    body = timed_cases.attention_ops(HEADS, LENGTH, LENGTH, head, 0.125, HIDDEN[mask], "%out", "%w", element)
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
    parser.add_argument("--mask", default="none", choices=list(HIDDEN))
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
        refused = gate_kernels.emit(args.mp_opt, module_text(int(match[1]), "f16" if match[2] == "sm_75" else "bf16", tile, warps, args.mask),
                                    match[2] + " math=approximate", args.emit, args.folder / f"{gate['id']}.{args.emit}")
        emitted += not refused
        if refused:
            print(f"{gate['id']}: {refused}")
    if not emitted:
        sys.exit("no kernel was emitted")


if __name__ == "__main__":
    main()
