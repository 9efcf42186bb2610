#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module whose function @f is one dispatch.

usage: family-kernels.py KIND ROWS COLUMNS [FORMAT] [--schedule=TEXT] [--dynamic] [--fill=VALUE]
KIND: softmax log-softmax layernorm torch-layernorm (mean and variance in f64, as torch-mlir exports it) rmsnorm
residual-layernorm row-sum row-max column-sum f64-sum (with its terms) cast bias-gelu transpose embedding (of 50 rows). FORMAT (f32, f16, bf16) is that of the input and, but for sums and casts, of the result.
--schedule is what stands between < > of a schedule; --dynamic hides the sizes from the types.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/dev/kernels"))
import bodies  # noqa: E402


class Body:
    """Ops of a dispatch's body, on tensors over (row, column)."""

    def __init__(self, rows, columns, dynamic):
        self.size = ["?", "?", "50"] if dynamic else [str(rows), str(columns), "50"]
        self.dynamic = dynamic
        self.lines, self.types, self.count = [], {}, 0

    def tensor(self, dims, element):
        return "tensor<" + "".join(self.size["rcv".index(d)] + "x" for d in dims) + element + ">"

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text):
        self.lines.append("    " + text)

    def empty(self, dims, element):
        name = self.name()
        sizes = ", ".join("%rows" if d == "r" else "%columns" for d in dims) if self.dynamic else ""
        self.emit(f"{name} = tensor.empty({sizes}) : {self.tensor(dims, element)}")
        return name

    def generic(self, inputs, out, dims, element, body, reduced=False):
        """`body` sees %i0, %i1, ... and %o, and defines %r."""
        name = self.name()
        maps = [f"#{self.types[x][0] or 'none'}" for x in inputs] + [f"#{dims}"]
        iterators = '"parallel", "reduction"' if reduced == "c" else '"reduction", "parallel"' if reduced else '"parallel", "parallel"'
        types = ", ".join(self.tensor(*self.types[x]) for x in inputs)
        args = ", ".join([f"%i{i}: {self.types[x][1]}" for i, x in enumerate(inputs)] + [f"%o: {element}"])
        own = self.tensor(dims, element)
        self.emit(f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} "
                  f"ins({', '.join(inputs)} : {types}) outs({out} : {own}) {{")
        self.emit(f"^bb0({args}):")
        for line in body.strip().split("\n"):
            self.emit("  " + line.strip())
        self.emit(f"  linalg.yield %r : {element}")
        self.emit(f"}} -> {own}")
        self.types[name] = (dims, element)
        return name

    def map(self, inputs, body, element="f32", dims="rc", out=None):
        return self.generic(inputs, out or self.empty(dims, element), dims, element, body)

    def reduce(self, x, op, start, body, along="c", element="f32", inputs=()):
        dims = "r" if along == "c" else "c"
        init, filled, own = self.empty(dims, element), self.name(), self.tensor(dims, element)
        self.emit(f"%start{self.count} = arith.constant {start} : {element}")
        self.emit(f"{filled} = linalg.fill ins(%start{self.count} : {element}) outs({init} : {own}) -> {own}")
        return self.generic([x, *inputs], filled, dims, element, body + f"\n%r = {op} %o, %u : {element}", along)


def build(kind, rows, columns, element, schedule, dynamic):
    b = Body(rows, columns, dynamic)
    wide = lambda i: f"%w{i} = arith.extf %i{i} : {element} to f32" if element != "f32" else f"%w{i} = arith.bitcast %i{i} : f32 to f32"
    narrow = (lambda v: f"%r = arith.truncf {v} : f32 to {element}") if element != "f32" else (lambda v: f"%r = arith.bitcast {v} : f32 to f32")
    result, dims, inputs = element, "rc", [("%x", "rc", element)]
    if kind in ("layernorm", "residual-layernorm", "torch-layernorm"):
        inputs += [("%weight", "c", element), ("%bias", "c", element)]
    if kind == "residual-layernorm":
        inputs += [("%residual", "rc", element)]
    if kind == "rmsnorm":
        inputs += [("%weight", "c", element)]
    if kind == "embedding":
        inputs = [("%x", "vc", element), ("%ids", "r", "i32")]
    if kind == "bias-gelu":
        inputs += [("%bias", "c", element)]
    if kind in ("row-sum", "row-max"):
        result, dims = "f32", "r"
    if kind == "column-sum":
        result, dims = "f32", "c"
    if kind == "cast":
        result = "bf16"
    if kind == "transpose":
        dims = "cr"
    outputs = [("%out", dims, result)]
    if kind == "f64-sum":
        outputs = [("%out", "r", "f64"), ("%terms", "rc", "f64")]
    if kind == "residual-layernorm":
        outputs = [("%out", "rc", "bf16"), ("%sum", "rc", element), ("%amax", "r", "f32")]
    for name, d, e in inputs + outputs:
        b.types[name] = (d, e)
    x = "%x"
    plain = "%u = arith.bitcast %i0 : f32 to f32"
    if kind in ("softmax", "log-softmax"):
        top = b.reduce(x, "arith.maximumf", "0xFF800000", wide(0) + "\n%u = arith.bitcast %w0 : f32 to f32")
        shifted = wide(0) + "\n%d = arith.subf %w0, %i1 : f32\n"
        if kind == "softmax":
            e = b.map([x, top], shifted + "%r = math.exp %d : f32")
            total = b.reduce(e, "arith.addf", "0.0", plain)
            y = b.map([e, total], "%q = arith.divf %i0, %i1 : f32\n" + narrow("%q"), element, out="%out")
        else:
            d = b.map([x, top], shifted + "%r = arith.bitcast %d : f32 to f32")
            total = b.reduce(d, "arith.addf", "0.0", "%u = math.exp %i0 : f32")
            y = b.map([d, total], "%l = math.log %i1 : f32\n%q = arith.subf %i0, %l : f32\n" + narrow("%q"), element, out="%out")
        results = [y]
    elif kind in ("layernorm", "residual-layernorm"):
        if kind == "residual-layernorm":
            x = b.map([x, "%residual"], wide(0) + "\n" + wide(1) + "\n%s = arith.addf %w0, %w1 : f32\n" + narrow("%s"), element, out="%sum")
        total = b.reduce(x, "arith.addf", "0.0", wide(0) + "\n%u = arith.bitcast %w0 : f32 to f32")
        d = b.map([x, total], wide(0) + "\n" + bodies.centred("%w0", "%i1", columns, "%r"))
        squares = b.reduce(d, "arith.addf", "0.0", "%u = arith.mulf %i0, %i0 : f32")
        norm = (bodies.normalised("%i0", "%i1", columns, "%h") + "\n" + wide(2) + "\n" + wide(3) + "\n%hw = arith.mulf %h, %w2 : f32\n%y = arith.addf %hw, %w3 : f32\n")
        if kind == "layernorm":
            results = [b.map([d, squares, "%weight", "%bias"], norm + narrow("%y"), element, out="%out")]
        else:
            y = b.map([d, squares, "%weight", "%bias"], norm + "%r = arith.bitcast %y : f32 to f32")
            amax = b.reduce(y, "arith.maximumf", "0.0", "%u = math.absf %i0 : f32")
            results = [b.map([y], "%r = arith.truncf %i0 : f32 to bf16", "bf16", out="%out"), x, amax]
    elif kind == "torch-layernorm":
        double = lambda i: wide(i) + f"\n%x{i} = arith.extf %w{i} : f32 to f64\n"
        count = f"%n = arith.constant {columns}.0 : f64\n%nf = arith.constant {columns}.0 : f32\n%eps = arith.constant 1.0e-5 : f32\n"
        total = b.reduce(x, "arith.addf", "0.0", double(0) + "%u = arith.bitcast %x0 : f64 to f64", element="f64")
        squares = b.reduce(x, "arith.addf", "0.0", count + double(0) + "%m = arith.divf %i1, %n : f64\n%d = arith.subf %x0, %m : f64\n%u = arith.mulf %d, %d : f64", element="f64", inputs=[total])
        plain_sum = b.reduce(x, "arith.addf", "0.0", wide(0) + "\n%u = arith.bitcast %w0 : f32 to f32")
        results = [b.map([x, squares, "%weight", "%bias", plain_sum], count + wide(0) + "\n" + wide(2) + "\n" + wide(3) +
                         "\n%v = arith.divf %i1, %n : f64\n%vf = arith.truncf %v : f64 to f32\n%ve = arith.addf %vf, %eps : f32\n"
                         "%rs = math.rsqrt %ve : f32\n%m = arith.divf %i4, %nf : f32\n%d = arith.subf %w0, %m : f32\n%h = arith.mulf %d, %rs : f32\n"
                         "%hw = arith.mulf %h, %w2 : f32\n%y = arith.addf %hw, %w3 : f32\n" + narrow("%y"), element, out="%out")]
    elif kind == "f64-sum":
        as64 = "%x0 = arith.bitcast %i0 : f64 to f64\n" if element == "f64" else f"%x0 = arith.extf %i0 : {element} to f64\n"
        terms = b.map([x], as64 + "%r = math.exp %x0 : f64", "f64", out="%terms")
        results = [b.reduce(terms, "arith.addf", "0.0", "%u = arith.mulf %i0, %i0 : f64", element="f64"), terms]
    elif kind == "rmsnorm":
        squares = b.reduce(x, "arith.addf", "0.0", wide(0) + "\n%u = arith.mulf %w0, %w0 : f32")
        y = b.map([x, squares, "%weight"], wide(0) + "\n" + wide(2) + "\n" +
                  bodies.normalised("%w0", "%i1", columns, "%h") + "\n%y = arith.mulf %h, %w2 : f32\n" + narrow("%y"), element, out="%out")
        results = [y]
    elif kind in ("row-sum", "column-sum", "row-max"):
        op, start = ("arith.maximumf", "0xFF800000") if kind == "row-max" else ("arith.addf", "0.0")
        results = [b.reduce(x, op, start, wide(0) + "\n%u = arith.bitcast %w0 : f32 to f32", along="r" if kind == "column-sum" else "c")]
    elif kind == "transpose":
        results = [b.map([x], f"%r = arith.bitcast %i0 : {element} to {element}", element, "cr", out="%out")]
    elif kind == "embedding":
        results = [b.map(["%ids"], """%fifty = arith.constant 50 : i32
          %id = arith.remui %i0, %fifty : i32
          %row = arith.index_cast %id : i32 to index
          %column = linalg.index 1 : index
          %e = tensor.extract %x[%row, %column] : """ + b.tensor("vc", element) + """
          %r = arith.addf %e, %e : """ + element, element, out="%out")]
    elif kind == "cast":
        results = [b.map([x], "%r = arith.truncf %i0 : f32 to bf16", "bf16", out="%out")]
    elif kind == "bias-gelu":
        y = b.map([x, "%bias"], wide(0) + "\n" + wide(1) + "\n" + bodies.gelu("%w0", "%w1", "%y") +
                  "\n" + narrow("%y"), element, out="%out")
        results = [y]
    else:
        raise SystemExit(f"family-kernels.py: no kind '{kind}'")
    return b, inputs, outputs, results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("rows", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument("element", nargs="?", default="f32")
    parser.add_argument("--schedule", default="")
    parser.add_argument("--dynamic", action="store_true")
    parser.add_argument("--fill", help="what check-family.sh gives as the input's elements")
    a = parser.parse_args()
    b, inputs, outputs, results = build(a.kind, a.rows, a.columns, a.element, a.schedule, a.dynamic)
    print("#rc = affine_map<(r, c) -> (r, c)>\n#r = affine_map<(r, c) -> (r)>\n#c = affine_map<(r, c) -> (c)>\n#cr = affine_map<(r, c) -> (c, r)>")
    typed = lambda vs, own="": ", ".join(f"{n}{own}: {b.tensor(d, e)}" for n, d, e in vs)
    types = lambda vs: ", ".join(b.tensor(d, e) for n, d, e in vs)
    print(f"func.func @f({typed(inputs, '_')}) -> ({types(outputs)}) {{")
    first = inputs[-1][0] if a.kind == "embedding" else "%x"
    if a.dynamic:
        print(f"  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index")
        print(f"  %d0 = tensor.dim {first}_, %c0 : {b.tensor(b.types[first][0], b.types[first][1])}\n  %d1 = tensor.dim %x_, %c1 : {b.tensor(b.types['%x'][0], a.element)}")
    sizes = lambda d: ", ".join("%d0" if x == "r" else "%d1" for x in d) if a.dynamic else ""
    for i, (n, d, e) in enumerate(outputs):
        print(f"  %e{i} = tensor.empty({sizes(d)}) : {b.tensor(d, e)}")
    index = [("%rows", "", "index"), ("%columns", "", "index")] if a.dynamic else []
    ins = ", ".join(n + "_" for n, _, _ in inputs) + (", %d0, %d1" if a.dynamic else "")
    schedule = f" schedule = <{a.schedule}>" if a.schedule else ""
    print(f"  %r:{len(outputs)} = mpk.dispatch ins({ins} : {types(inputs)}{', index, index' if a.dynamic else ''}) "
          f"outs({', '.join(f'%e{i}' for i in range(len(outputs)))} : {types(outputs)}){schedule} -> {types(outputs)} {{")
    args = typed(inputs) + (", %rows: index, %columns: index" if a.dynamic else "") + ", " + typed(outputs)
    print(f"  ^bb0({args}):")
    print("\n".join(b.lines))
    print(f"    mpk.yield {', '.join(results)} : {types(outputs)}\n  }}")
    print(f"  return {', '.join(f'%r#{i}' for i in range(len(outputs)))} : {types(outputs)}\n}}")


if __name__ == "__main__":
    main()
