# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random scatters, scans, sorts and top-ks in the exporters' text, and their results in plain Python.

usage: sweep.py SEED        the module, whose @main prints every result
       sweep.py SEED OUT    compares what @main printed
"""
import itertools
import json
import random
import sys

COUNT = 40


def indices(shape):
    return itertools.product(*(range(n) for n in shape))


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def literal(values, shape, prefix=()):
    """Nested lists as MLIR writes them."""
    if len(prefix) == len(shape):
        value = values[prefix]
        return f"{value}.0" if isinstance(value, int) and literal.floats else str(value)
    return "[" + ", ".join(literal(values, shape, prefix + (i,)) for i in range(shape[len(prefix)])) + "]"


def flat(nested):
    if not isinstance(nested, list):
        return [nested]
    return [x for part in nested for x in flat(part)]


class Case:
    """Inputs, the op's text, and the results expected."""

    def __init__(self, rng):
        self.rng = rng
        self.inputs, self.results = [], []
        self.dialect = rng.choice(["iree_linalg_ext", "tm_tensor"])
        getattr(self, rng.choice(["scatter", "scan", "sort", "topk"]))()

    def input(self, shape, element, low=-9, high=9):
        values = {i: self.rng.randint(low, high) for i in indices(shape)}
        self.inputs.append((shape, element, values))
        return values

    def shape(self, rank):
        return [self.rng.randint(1, 5) for _ in range(rank)]

    def scatter(self):
        rng = self.rng
        table = self.shape(rng.randint(1, 3))
        depth = rng.randint(1, len(table))
        mapped = list(range(depth)) if self.dialect == "iree_linalg_ext" else rng.sample(range(depth), depth)
        count = rng.randint(1, 6)
        old = self.input(table, "f32")
        where = self.input([count, depth], "i64", -1, 5)
        updates_shape = [count] + table[depth:]
        updates = self.input(updates_shape, "f32")
        op, combine = rng.choice([("arith.addf", lambda a, b: a + b), ("arith.maximumf", max),
                                  ("arith.subf", lambda a, b: a - b)])
        new = dict(old)
        for at in indices(updates_shape):
            target = [None] * depth + list(at[1:])
            for j, dim in enumerate(mapped):
                target[dim] = where[(at[0], j)]
            if tuple(target) in new:
                new[tuple(target)] = combine(new[tuple(target)], updates[at])
        self.results.append((table, "f32", new))
        spelled = (f"dimension_map = {mapped}" if self.dialect == "iree_linalg_ext" else
                   "{dimension_map = array<i64: " + ", ".join(map(str, mapped)) + ">}")
        self.text = f"""
  %r = {self.dialect}.scatter {spelled} unique_indices(false) ins(%2, %1 : {tensor(updates_shape, "f32")}, {tensor([count, depth], "i64")}) outs(%0 : {tensor(table, "f32")}) {{
  ^bb0(%u: f32, %o: f32):
    %c = {op} %o, %u : f32
    {self.dialect}.yield %c : f32
  }} -> {tensor(table, "f32")}"""

    def scan(self):
        rng = self.rng
        shape = self.shape(rng.randint(1, 3))
        dim = rng.randrange(len(shape))
        rest = shape[:dim] + shape[dim + 1:]
        inclusive = rng.choice([True, False])
        values = self.input(shape, "f32")
        start = self.input(rest, "f32")
        out, last = {}, {}
        for at in indices(rest):
            state = start[at]
            for k in range(shape[dim]):
                here = at[:dim] + (k,) + at[dim:]
                before = at[:dim] + (k - 1,) + at[dim:]
                if inclusive:
                    state = values[here] if k == 0 else state + values[here]
                elif k > 0:
                    state = state + values[before]
                out[here] = state
            last[at] = state
        self.results += [(shape, "f32", out), (rest, "f32", last)]
        full, small = tensor(shape, "f32"), tensor(rest, "f32")
        self.text = f"""
  %e = tensor.empty() : {full}
  %r:2 = {self.dialect}.scan dimension({dim}) inclusive({str(inclusive).lower()}) ins(%0 : {full}) outs(%e, %1 : {full}, {small}) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    {self.dialect}.yield %c : f32
  }} -> {full}, {small}"""

    def sort(self):
        rng = self.rng
        shape = self.shape(rng.randint(1, 3))
        dim = rng.randrange(len(shape))
        shape[dim] = rng.randint(1, 17)
        keys = self.input(shape, "f32", -3, 3)
        payload = self.input(shape, "i64")
        predicate = rng.choice(["olt", "ole", "ogt", "oge"])
        sorted_keys, sorted_payload = {}, {}
        for at in indices(shape[:dim] + shape[dim + 1:]):
            line = [at[:dim] + (k,) + at[dim:] for k in range(shape[dim])]
            order = sorted(line, key=lambda i: keys[i] if predicate in ("olt", "ole") else -keys[i])
            for to, source in zip(line, order):
                sorted_keys[to], sorted_payload[to] = keys[source], payload[source]
        self.results += [(shape, "f32", sorted_keys), (shape, "i64", sorted_payload)]
        types = f"{tensor(shape, 'f32')}, {tensor(shape, 'i64')}"
        self.text = f"""
  %r:2 = {self.dialect}.sort dimension({dim}) outs(%0, %1 : {types}) {{
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %p = arith.cmpf {predicate}, %a, %b : f32
    {self.dialect}.yield %p : i1
  }} -> {types}"""

    def topk(self):
        rng = self.rng
        shape = self.shape(rng.randint(1, 3))
        dim = rng.randrange(len(shape))
        shape[dim] = rng.randint(1, 9)
        k = rng.randint(1, shape[dim])
        out = shape[:dim] + [k] + shape[dim + 1:]
        values = self.input(shape, "f32", -3, 3)
        best, number = {}, {}
        for at in indices(shape[:dim] + shape[dim + 1:]):
            line = [at[:dim] + (i,) + at[dim:] for i in range(shape[dim])]
            order = sorted(range(shape[dim]), key=lambda i: -values[line[i]])
            for to, source in enumerate(order[:k]):
                best[at[:dim] + (to,) + at[dim:]] = values[line[source]]
                number[at[:dim] + (to,) + at[dim:]] = source
        self.results += [(out, "f32", best), (out, "i64", number)]
        types = f"{tensor(out, 'f32')}, {tensor(out, 'i64')}"
        self.text = f"""
  %lowest = arith.constant dense<0xFF800000> : {tensor(out, 'f32')}
  %last = arith.constant dense<9223372036854775807> : {tensor(out, 'i64')}
  %r:2 = {self.dialect}.topk dimension({dim}) ins(%0 : {tensor(shape, 'f32')}) outs(%lowest, %last : {types}) {{
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf ogt, %a, %b : f32
    {self.dialect}.yield %p : i1
  }} -> {types}"""

    def function(self, name):
        arguments = ", ".join(f"%{i}: {tensor(s, e)}" for i, (s, e, _) in enumerate(self.inputs))
        types = ", ".join(tensor(s, e) for s, e, _ in self.results)
        names = "%r" if len(self.results) == 1 else ", ".join(f"%r#{i}" for i in range(len(self.results)))
        return f"util.func private @{name}({arguments}) -> ({types}) {{{self.text}\n  util.return {names} : {types}\n}}\n"

    def call(self, name):
        lines, values, types = [], [], []
        for i, (shape, element, data) in enumerate(self.inputs):
            literal.floats = element == "f32"
            values.append(f"%{name}_{i}")
            types.append(tensor(shape, element))
            lines.append(f"  {values[-1]} = arith.constant dense<{literal(data, shape)}> : {types[-1]}")
        results = [tensor(s, e) for s, e, _ in self.results]
        lines.append(f"  %{name}:{len(results)} = func.call @{name}({', '.join(values)}) : "
                     f"({', '.join(types)}) -> ({', '.join(results)})")
        for i, (shape, element, _) in enumerate(self.results):
            lines.append(f"  %{name}_u{i} = tensor.cast %{name}#{i} : {results[i]} to tensor<*x{element}>")
            lines.append(f"  func.call @printMemref{element.upper()}(%{name}_u{i}) : (tensor<*x{element}>) -> ()")
        return "\n".join(lines) + "\n"


def main():
    rng = random.Random(int(sys.argv[1]))
    cases = [Case(rng) for _ in range(COUNT)]
    if len(sys.argv) == 2:
        print("func.func private @printMemrefF32(tensor<*xf32>)\nfunc.func private @printMemrefI64(tensor<*xi64>)")
        for i, case in enumerate(cases):
            print(case.function(f"f{i}"))
        print("func.func @main() {")
        for i, case in enumerate(cases):
            print(case.call(f"f{i}"))
        print("  return\n}")
        return 0
    printed = [flat(json.loads(part.split("data =")[1])) for part in open(sys.argv[2]).read().split("Unranked")[1:]]
    expected = [(i, case.text, [data[at] for at in indices(shape)])
                for i, case in enumerate(cases) for shape, _, data in case.results]
    if len(printed) != len(expected):
        print(f"{len(printed)} results printed, {len(expected)} expected")
        return 1
    wrong = [(e, p) for e, p in zip(expected, printed) if e[2] != p]
    for (i, text, values), found in wrong:
        print(f"case {i}:{text}\n  expected {values}\n  found    {found}")
    print(f"{len(expected)} results, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
