#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emits the matrix kernels that gates.json names, for kernel-report --gates.

usage: gate-kernels.py --mp-opt=MP_OPT FOLDER [--only=REGEX] [--order=nt] [--epilogue] [--emit=ptx]

Writes FOLDER/ID.cubin (or .ptx) for each gate of family matmul-mma-sync or matmul-fma: a product of 8192x8192x8192 with the
gate's tile pinned, with `--epilogue` a dispatch that adds a bias and a residual, takes the larger
of that and zero, and stores bf16. Operands that an identifier names behind `narrow` are f32 in memory. Of a `thin`
product A has one row, and as many groups of warps share a sum as stand behind `slices`. `order` says whether A and B are transposed (n: as A[m, k] and B[k, n]). Cubins need
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
ID = re.compile(r"(matmul|conv|thin)-(\w+)-(\d+)x(\d+)x(\d+)(?:-narrow-([ab]+))?(?:-slices-(\d+))?-(sm_\w+)")
FAMILIES = {"matmul-mma-sync": "mma.sync", "matmul-fma": "fma"}
WARPS = {"mma.sync": {(128, 256): "2x4", (128, 128): "2x2", (64, 64): "2x2"},
         "fma": {(128, 128): "2x4", (64, 64): "2x2"}}
# Gate's format -> element, accumulator, mark of the instruction.
FORMATS = {"bf16": ("bf16", "f32", "bf16"), "tf32": ("f32", "f32", "tf32"), "s8": ("i8", "i32", "i8"),
           "fp8": ("f8E4M3FN", "f32", "f8E4M3FN"),
           "f32": ("f32", "f32", "f32")}
SIZE = 8192


def narrowing(operand, element, stored, narrow):
    """The op that makes the operand of what lies in memory."""
    cast = "mp.round tf32 %p" if element == "f32" else "mp.cast ieee %p"
    types = "f32" if element == "f32" else f"f32 to {element}"
    return f"""%{operand}e = tensor.empty() : {narrow}
%{operand}1 = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]}} ins(%{operand}0 : {stored}) outs(%{operand}e : {narrow}) {{
^bb0(%p: f32, %u: {element}):
%f = {cast} : {types}
linalg.yield %f : {element}
}} -> {narrow}
"""


def module_text(unit, name, m, n, k, stages, order, epilogue, narrow_operands):
    element, sums, mark = FORMATS[name]
    at, bt = order[0] == "t", order[1] == "t"
    operand, result = f"memref<{SIZE}x{SIZE}x{element}>", f"memref<{SIZE}x{SIZE}x{sums}>"
    schedule = f"unit={unit} tile={m}x{n}x{k} warps={WARPS[unit][m, n]} stages={stages} copy=async"
    widen = "extsi" if sums == "i32" else "extf"
    product, add = ("muli", "addi") if sums == "i32" else ("mulf", "addf")
    if element == sums:
        factors, x, y = "", "%x", "%y"
    else:
        x, y = "%wx", "%wy"
        factors = f"%wx = arith.{widen} %x : {element} to {sums}\n%wy = arith.{widen} %y : {element} to {sums}\n"
    maps = f"""[affine_map<(m, n, k) -> {"(k, m)" if at else "(m, k)"}>,
    affine_map<(m, n, k) -> {"(n, k)" if bt else "(k, n)"}>, affine_map<(m, n, k) -> (m, n)>]"""
    attributes = f"""{{indexing_maps = {maps}, iterator_types = ["parallel", "parallel", "reduction"],
    mpk.fresh, mpk.mma = "{mark}", mpk.schedule = #mpk.schedule<matmul, "{schedule}">}}"""
    body = f"""{{
^bb0(%x: {element}, %y: {element}, %s: {sums}):
{factors}%p = arith.{product} {x}, {y} : {sums}
%q = arith.{add} %s, %p : {sums}
linalg.yield %q : {sums}
}}"""
    if not epilogue and not narrow_operands:
        return f"""func.func @f(%a: {operand}, %b: {operand}, %c: {result}) {{
linalg.generic {attributes} ins(%a, %b : {operand}, {operand}) outs(%c : {result}) {body}
return
}}
"""
    narrow, bias = f"memref<{SIZE}x{SIZE}xbf16>", f"memref<{SIZE}xf32>"
    widen_sum = "%w = arith.sitofp %p : i32 to f32" if sums == "i32" else "%w = arith.addf %p, %z : f32"
    wide = f"memref<{SIZE}x{SIZE}xf32>"
    stored = {o: wide if o in narrow_operands else operand for o in "ab"}
    casts = "".join(narrowing(o, element, wide, operand) for o in narrow_operands)
    x0, y0 = ("%" + o + ("1" if o in narrow_operands else "0") for o in "ab")
    product = f"linalg.generic {attributes} ins({x0}, {y0} : {operand}, {operand})"
    on_tensors = lambda text: text.replace("memref", "tensor")
    if not epilogue:
        return on_tensors(f"""func.func @f(%a: {stored["a"]}, %b: {stored["b"]}, %o: {result}) -> {result} {{
%d = mpk.dispatch ins(%a, %b : {stored["a"]}, {stored["b"]}) outs(%o : {result}) schedule = <matmul> -> {result} {{
^bb0(%a0: {stored["a"]}, %b0: {stored["b"]}, %o0: {result}):
{casts}%e = tensor.empty() : {result}
%c = {product} outs(%e : {result}) {body} -> {result}
mpk.yield %c : {result}
}}
return %d : {result}
}}
""")
    return on_tensors(f"""func.func @f(%a: {stored["a"]}, %b: {stored["b"]}, %v: {bias}, %r: {narrow}, %o: {narrow}) -> {narrow} {{
%d = mpk.dispatch ins(%a, %b, %v, %r : {stored["a"]}, {stored["b"]}, {bias}, {narrow}) outs(%o : {narrow}) schedule = <matmul> -> {narrow} {{
^bb0(%a0: {stored["a"]}, %b0: {stored["b"]}, %v0: {bias}, %r0: {narrow}, %o0: {narrow}):
%z = arith.constant 0.0 : f32
%e = tensor.empty() : {result}
{casts}%c = {product} outs(%e : {result}) {body} -> {result}
%n = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
    affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
    ins(%c, %v0, %r0 : {result}, {bias}, {narrow}) outs(%o0 : {narrow}) {{
^bb0(%p: {sums}, %q: f32, %t: bf16, %u: bf16):
{widen_sum}
%f = arith.addf %w, %q : f32
%g = arith.extf %t : bf16 to f32
%h = arith.addf %f, %g : f32
%i = arith.maximumf %h, %z : f32
%j = arith.truncf %i : f32 to bf16
linalg.yield %j : bf16
}} -> {narrow}
mpk.yield %n : {narrow}
}}
return %d : {narrow}
}}
""")


def convolution_text(m, n, k, stages):
    """A 3x3 convolution of images with channels last and zeros around them."""
    x, padded, w, o = (f"tensor<{shape}>" for shape in ("32x56x56x64xbf16", "32x58x58x64xbf16", "3x3x64x128xbf16",
                                                        "32x56x56x128xf32"))
    schedule = f"unit=mma.sync tile={m}x{n}x{k} warps={WARPS['mma.sync'][m, n]} stages={stages} copy=async"
    loops = "affine_map<(n, y, x, f, r, s, c) ->"
    return f"""func.func @f(%x: {x}, %w: {w}, %o: {o}) -> {o} {{
%d = mpk.dispatch ins(%x, %w : {x}, {w}) outs(%o : {o}) schedule = <matmul> -> {o} {{
^bb0(%x0: {x}, %w0: {w}, %o0: {o}):
%z = arith.constant 0.0 : bf16
%p = tensor.pad %x0 low[0, 1, 1, 0] high[0, 1, 1, 0] {{
^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
tensor.yield %z : bf16
}} : {x} to {padded}
%e = tensor.empty() : {o}
%c = linalg.generic {{indexing_maps = [{loops} (n, y + r, x + s, c)>, {loops} (r, s, c, f)>, {loops} (n, y, x, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"],
    mpk.fresh, mpk.mma = "bf16", mpk.schedule = #mpk.schedule<matmul, "{schedule}">}} ins(%p, %w0 : {padded}, {w}) outs(%e : {o}) {{
^bb0(%a: bf16, %b: bf16, %s: f32):
%wa = arith.extf %a : bf16 to f32
%wb = arith.extf %b : bf16 to f32
%m = arith.mulf %wa, %wb : f32
%q = arith.addf %s, %m : f32
linalg.yield %q : f32
}} -> {o}
mpk.yield %c : {o}
}}
return %d : {o}
}}
"""


def thin_text(name, m, n, k, stages, slices, order):
    """A product of one row: with slices as they are, else by a deep ring."""
    ring = f"warps=1x1 stages={stages} slices={slices}" if slices else "warps=1x2 stages=16"
    schedule = f"unit=mma.sync tile={m}x{n}x{k} {ring} copy=async"
    weights = "(n, k)" if order[1] == "t" else "(k, n)"
    a, b, c = f"memref<1x{SIZE}x{name}>", f"memref<{SIZE}x{SIZE}x{name}>", f"memref<1x{SIZE}xf32>"
    return f"""func.func @f(%a: {a}, %b: {b}, %c: {c}) {{
linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {weights}>,
    affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], mpk.fresh, mpk.mma = "{name}",
    mpk.schedule = #mpk.schedule<matmul, "{schedule}">}} ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
^bb0(%x: {name}, %y: {name}, %s: f32):
%wx = arith.extf %x : {name} to f32
%wy = arith.extf %y : {name} to f32
%p = arith.mulf %wx, %wy : f32
%q = arith.addf %s, %p : f32
linalg.yield %q : f32
}}
return
}}
"""


def emit(mp_opt, text, target, kind, path):
    """None, or why the kernel was refused."""
    with tempfile.TemporaryDirectory() as scratch:
        options = f"target={target} sums=tree emit={kind} dir={scratch}"
        run = subprocess.run([mp_opt, "-", f"--mp-to-nvvm={options}", "-o", "/dev/null"],
                             input=text, capture_output=True, text=True)
        if run.returncode:
            return next((line for line in run.stderr.splitlines() if "error:" in line), run.stderr)
        path.write_bytes((pathlib.Path(scratch) / f"mp_kernels.{kind}").read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--mp-opt", required=True)
    parser.add_argument("--only", default="", help="regular expression of identifiers")
    parser.add_argument("--order", default="nt", choices=["nn", "nt", "tn", "tt"])
    parser.add_argument("--epilogue", action="store_true")
    parser.add_argument("--emit", default="cubin", choices=["cubin", "ptx"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    emitted = 0
    for gate in json.loads(GATES.read_text())["gates"]:
        match = ID.fullmatch(gate["id"])
        unit = FAMILIES.get(gate["family"])
        if not unit or not match or not re.search(args.only, gate["id"]):
            continue
        kind, name, m, n, k, narrow, slices, target = match.groups("")
        m, n, k = int(m), int(n), int(k)
        for stages in (4, 3, 2) if slices else (3, 2):  # the most that fit, of those the gates were set with
            text = (thin_text(name, m, n, k, stages, slices, args.order) if kind == "thin" else
                    convolution_text(m, n, k, stages) if kind == "conv" else
                    module_text(unit, name, m, n, k, stages, args.order, args.epilogue, narrow))
            refused = emit(args.mp_opt, text, target, args.emit, args.folder / f"{gate['id']}.{args.emit}")
            if not refused:
                emitted += 1
                break
        else:
            print(f"{gate['id']}: {refused}")
    if not emitted:
        sys.exit("no kernel was emitted")


if __name__ == "__main__":
    main()
