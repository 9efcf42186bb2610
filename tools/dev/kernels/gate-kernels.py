#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emits the matrix kernels that gates.json names, for kernel-report --gates.

usage: gate-kernels.py --mp-opt=MP_OPT FOLDER [--only=REGEX] [--order=nt]

Writes FOLDER/ID.cubin for each gate of family matmul-mma-sync: a product of 8192x8192x8192 with the
gate's tile pinned. `order` says whether A and B are transposed (n: as A[m, k] and B[k, n]). Needs
ptxas. A kernel that is refused is named, with the reason, and left out.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

GATES = pathlib.Path(__file__).with_name("kernel-report") / "gates.json"
ID = re.compile(r"matmul-(\w+)-(\d+)x(\d+)x(\d+)-(sm_\w+)")
WARPS = {(128, 256): "2x4", (128, 128): "2x2", (64, 64): "2x2"}
# Gate's format -> element, accumulator, mark of the instruction.
FORMATS = {"bf16": ("bf16", "f32", "bf16"), "tf32": ("f32", "f32", "tf32"), "s8": ("i8", "i32", "i8"),
           "fp8": ("f8E4M3FN", "f32", "f8E4M3FN")}
SIZE = 8192


def module_text(name, m, n, k, stages, order):
    element, sums, mark = FORMATS[name]
    at, bt = order[0] == "t", order[1] == "t"
    operand, result = f"memref<{SIZE}x{SIZE}x{element}>", f"memref<{SIZE}x{SIZE}x{sums}>"
    schedule = f"unit=mma.sync tile={m}x{n}x{k} warps={WARPS[m, n]} stages={stages} copy=async"
    widen = "extsi" if sums == "i32" else "extf"
    product, add = ("muli", "addi") if sums == "i32" else ("mulf", "addf")
    if element == sums:
        factors, x, y = "", "%x", "%y"
    else:
        x, y = "%wx", "%wy"
        factors = f"%wx = arith.{widen} %x : {element} to {sums}\n%wy = arith.{widen} %y : {element} to {sums}\n"
    return f"""func.func @f(%a: {operand}, %b: {operand}, %c: {result}) {{
linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> {"(k, m)" if at else "(m, k)"}>,
    affine_map<(m, n, k) -> {"(n, k)" if bt else "(k, n)"}>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], mpk.fresh, mpk.mma = "{mark}",
    mpk.schedule = #mpk.schedule<matmul, "{schedule}">}} ins(%a, %b : {operand}, {operand}) outs(%c : {result}) {{
^bb0(%x: {element}, %y: {element}, %s: {sums}):
{factors}%p = arith.{product} {x}, {y} : {sums}
%q = arith.{add} %s, %p : {sums}
linalg.yield %q : {sums}
}}
return
}}
"""


def emit(mp_opt, text, target, path):
    """None, or why the kernel was refused."""
    with tempfile.TemporaryDirectory() as scratch:
        run = subprocess.run([mp_opt, "-", f"--mp-to-nvvm=target={target} emit=cubin dir={scratch}", "-o", "/dev/null"],
                             input=text, capture_output=True, text=True)
        if run.returncode:
            return next((line for line in run.stderr.splitlines() if "error:" in line), run.stderr)
        path.write_bytes((pathlib.Path(scratch) / "mp_kernels.cubin").read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--mp-opt", required=True)
    parser.add_argument("--only", default="", help="regular expression of identifiers")
    parser.add_argument("--order", default="nt", choices=["nn", "nt", "tn", "tt"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    emitted = 0
    for gate in json.loads(GATES.read_text())["gates"]:
        match = ID.fullmatch(gate["id"])
        if gate["family"] != "matmul-mma-sync" or not match or not re.search(args.only, gate["id"]):
            continue
        name, m, n, k, target = match[1], int(match[2]), int(match[3]), int(match[4]), match[5]
        for stages in (3, 2):  # the most that fit, of those the gates were set with
            refused = emit(args.mp_opt, module_text(name, m, n, k, stages, args.order), target,
                           args.folder / f"{gate['id']}.cubin")
            if not refused:
                emitted += 1
                break
        else:
            print(f"{gate['id']}: {refused}")
    if not emitted:
        sys.exit("no kernel was emitted")


if __name__ == "__main__":
    main()
