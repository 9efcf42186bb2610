# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one computation in many spellings, for idiom-recall.py.

A spelling is a class: `generic` (one linalg.generic a step), `permuted` (the same with its loops in
another order), `tensor` (arith and math on tensors, broadcasts explicit), `named` (named linalg ops) and
`tosa`. All offer arg, constant, unary, binary, reduce, transpose and reshape.
"""

ARITH = {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div": "arith.divf",
         "max": "arith.maximumf"}
MATH = {"exp": "math.exp", "log": "math.log", "rsqrt": "math.rsqrt", "sqrt": "math.sqrt",
        "tanh": "math.tanh", "erf": "math.erf", "neg": "arith.negf"}


class Value:
    """A float tensor. Dimensions in `gone` were reduced: they are 1 in `shape`, and linalg spellings
    leave them out of the type."""

    def __init__(self, name, shape, gone=(), keeps=False):
        self.name, self.shape = name, tuple(shape)
        self.gone = frozenset(gone) if not keeps else frozenset()

    def stored(self):
        return [size for i, size in enumerate(self.shape) if i not in self.gone]

    @property
    def type(self):
        return tensor(self.stored())


def literal(value):
    """A float as MLIR spells it: with a point."""
    return value if isinstance(value, str) else f"{value:.9e}"


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Spelling:
    """What all spellings share: names, arguments, the function around it."""

    keeps = False  # reduced dimensions stay in the type

    def __init__(self):
        self.lines, self.arguments, self.count = [], [], 0

    def emit(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def value(self, text, shape, gone=()):
        return Value(self.emit(text), shape, gone, self.keeps)

    def arg(self, shape, gone=()):
        """`gone`: dimensions that the argument lacks and is broadcast over."""
        value = Value(f"%arg{len(self.arguments)}", shape, gone, self.keeps)
        self.arguments.append(value)
        return value

    def function(self, name, result):
        arguments = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        return "\n".join([f"func.func @{name}({arguments}) -> {result.type} {{", *self.lines,
                          f"  return {result.name} : {result.type}", "}", ""])


class Linalg(Spelling):
    def scalar(self, value):
        return self.emit(f"arith.constant {literal(value)} : f32")

    def empty(self, shape):
        return self.emit(f"tensor.empty() : {tensor(shape)}")

    def filled(self, value, shape):
        scalar, empty = self.scalar(value), self.empty(shape)
        return self.emit(f"linalg.fill ins({scalar} : f32) outs({empty} : {tensor(shape)}) -> {tensor(shape)}")

    def transpose(self, x, permutation):
        shape = [x.shape[i] for i in permutation]
        return self.value(f"linalg.transpose ins({x.name} : {x.type}) outs({self.empty(shape)} : {tensor(shape)}) "
                          f"permutation = {list(permutation)}", shape)

    def reshape(self, x, shape):
        """Splits or joins one run of dimensions."""
        small, large = sorted([list(x.shape), list(shape)], key=len)
        groups, start = [], 0
        for size in small:
            end, product = start + 1, large[start]
            while product < size:
                product *= large[end]
                end += 1
            groups.append(list(range(start, end)))
            start = end
        if len(shape) > len(x.shape):
            return self.value(f"tensor.expand_shape {x.name} {groups} output_shape {list(shape)} : "
                              f"{x.type} into {tensor(shape)}", shape)
        return self.value(f"tensor.collapse_shape {x.name} {groups} : {x.type} into {tensor(shape)}", shape)


class Generic(Linalg):
    def loops(self, rank):
        return list(range(rank))

    def map(self, value, rank):
        loops = self.loops(rank)
        results = ", ".join(f"d{loops[i]}" for i in range(rank) if i not in value.gone)
        return f"affine_map<({', '.join(f'd{i}' for i in range(rank))}) -> ({results})>"

    def generic(self, inputs, out, init, reduced, body):
        rank = len(out.shape)
        loops = self.loops(rank)
        kinds = {loops[i]: "reduction" if i in reduced else "parallel" for i in range(rank)}
        maps = ", ".join(self.map(v, rank) for v in [*inputs, out])
        arguments = ", ".join([f"%i{k}: f32" for k in range(len(inputs))] + ["%o: f32"])
        ins = ", ".join(v.name for v in inputs) + " : " + ", ".join(v.type for v in inputs)
        text = (f"linalg.generic {{indexing_maps = [{maps}], iterator_types = "
                f"[{', '.join(chr(34) + kinds[i] + chr(34) for i in range(rank))}]}} ins({ins}) "
                f"outs({init} : {out.type}) {{\n  ^bb0({arguments}):\n    %q = {body}\n"
                f"    linalg.yield %q : f32\n  }} -> {out.type}")
        return self.value(text, out.shape, out.gone)

    def elementwise(self, op, operands):
        values = [v for v in operands if isinstance(v, Value)]
        shape = [max(sizes) for sizes in zip(*(v.shape for v in values))]
        gone = frozenset.intersection(*(v.gone for v in values))
        names = [f"%i{values.index(v)}" if isinstance(v, Value) else self.scalar(v) for v in operands]
        keep = [i for i in range(len(shape)) if i not in gone]
        squeezed = [Value(v.name, [v.shape[i] for i in keep], [k for k, i in enumerate(keep) if i in v.gone])
                    for v in values]
        out = Value("", [shape[i] for i in keep])
        result = self.generic(squeezed, out, self.empty(out.stored()), (), f"{op} {', '.join(names)} : f32")
        return Value(result.name, shape, gone)

    def unary(self, op, x):
        return self.elementwise(MATH[op], [x])

    def binary(self, op, x, y):
        return self.elementwise(ARITH[op], [x, y])

    def reduce(self, op, x, axes):
        shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
        out = Value("", shape, axes)
        init = self.filled({"sum": 0.0, "max": "0xFF800000"}[op], out.stored())
        return self.generic([x], out, init, axes, f"{ARITH['add' if op == 'sum' else 'max']} %i0, %o : f32")


class Permuted(Generic):
    def loops(self, rank):
        return list(reversed(range(rank)))


class Tensor(Linalg):
    def broadcast(self, value, shape):
        if not isinstance(value, Value):
            if self.constants_are_dense:
                return self.emit(f"arith.constant dense<{literal(value)}> : {tensor(shape)}")
            return self.filled(value, shape)
        added = [i for i in range(len(shape)) if i in value.gone]
        if not added:
            return value.name
        return self.emit(f"linalg.broadcast ins({value.name} : {value.type}) outs({self.empty(shape)} : "
                         f"{tensor(shape)}) dimensions = {added}")

    constants_are_dense = True

    def unary(self, op, x):
        return self.value(f"{MATH[op]} {x.name} : {x.type}", x.shape, x.gone)

    def operands(self, x, y):
        values = [v for v in (x, y) if isinstance(v, Value)]
        shape = [max(sizes) for sizes in zip(*(v.shape for v in values))]
        gone = frozenset.intersection(*(v.gone for v in values))
        stored = [size for i, size in enumerate(shape) if i not in gone]
        names = []
        for v in (x, y):
            if isinstance(v, Value):
                keep = [i for i in range(len(shape)) if i not in gone]
                v = Value(v.name, [v.shape[i] for i in keep], [k for k, i in enumerate(keep) if i in v.gone])
            names.append(self.broadcast(v, stored))
        return names, shape, gone, stored

    def binary(self, op, x, y):
        names, shape, gone, stored = self.operands(x, y)
        return self.value(f"{ARITH[op]} {names[0]}, {names[1]} : {tensor(stored)}", shape, gone)

    def reduce(self, op, x, axes):
        shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
        stored = [size for i, size in enumerate(shape) if i not in axes]
        init = self.filled({"sum": 0.0, "max": "0xFF800000"}[op], stored)
        return self.value(f"linalg.reduce {{ {ARITH['add' if op == 'sum' else 'max']} }} ins({x.name} : {x.type}) "
                          f"outs({init} : {tensor(stored)}) dimensions = {sorted(axes)}", shape, axes)


class Named(Tensor):
    constants_are_dense = False

    def named(self, op, names, shape, gone, stored):
        kind = tensor(stored)
        return self.value(f"linalg.{op} ins({', '.join(names)} : {', '.join([kind] * len(names))}) "
                          f"outs({self.empty(stored)} : {kind}) -> {kind}", shape, gone)

    def unary(self, op, x):
        name = {"neg": "negf"}.get(op, op)
        return self.named(name, [x.name], x.shape, x.gone, x.stored())

    def binary(self, op, x, y):
        return self.named(op, *self.operands(x, y))

    def softmax(self, x, axis):
        return self.value(f"linalg.softmax dimension({axis}) ins({x.name} : {x.type}) outs({self.empty(x.shape)} : "
                          f"{x.type}) -> {x.type}", x.shape)


class Tosa(Spelling):
    keeps = True

    def constant(self, value, rank):
        kind = tensor([1] * rank)
        return Value(self.emit(f'"tosa.const"() <{{values = dense<{literal(value)}> : {kind}}}> : () -> {kind}'), [1] * rank)

    def unary(self, op, x):
        if op == "sqrt":
            return self.unary("reciprocal", self.unary("rsqrt", x))
        if op == "neg":
            zero = self.emit('"tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>')
            return self.value(f"tosa.negate {x.name}, {zero}, {zero} : ({x.type}, tensor<1xf32>, tensor<1xf32>) "
                              f"-> {x.type}", x.shape)
        return self.value(f"tosa.{op} {x.name} : ({x.type}) -> {x.type}", x.shape)

    def binary(self, op, x, y):
        rank = len((x if isinstance(x, Value) else y).shape)
        x, y = (v if isinstance(v, Value) else self.constant(v, rank) for v in (x, y))
        if op == "div":
            return self.binary("mul", x, self.unary("reciprocal", y))
        shape = [max(sizes) for sizes in zip(x.shape, y.shape)]
        if op == "mul":
            shift = self.emit('"tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>')
            return self.value(f"tosa.mul {x.name}, {y.name}, {shift} : ({x.type}, {y.type}, tensor<1xi8>) -> "
                              f"{tensor(shape)}", shape)
        name = {"max": "maximum"}.get(op, op)
        return self.value(f"tosa.{name} {x.name}, {y.name} : ({x.type}, {y.type}) -> {tensor(shape)}", shape)

    def reduce(self, op, x, axes):
        for axis in sorted(axes):
            shape = [1 if i == axis else size for i, size in enumerate(x.shape)]
            x = self.value(f"tosa.reduce_{op} {x.name} {{axis = {axis} : i32}} : ({x.type}) -> {tensor(shape)}", shape)
        return x

    def transpose(self, x, permutation):
        shape = [x.shape[i] for i in permutation]
        return self.value(f"tosa.transpose {x.name} {{perms = array<i32: {', '.join(map(str, permutation))}>}} : "
                          f"({x.type}) -> {tensor(shape)}", shape)

    def reshape(self, x, shape):
        target = self.emit(f"tosa.const_shape {{values = dense<{list(shape)}> : tensor<{len(shape)}xindex>}} : () -> "
                           f"!tosa.shape<{len(shape)}>")
        return self.value(f"tosa.reshape {x.name}, {target} : ({x.type}, !tosa.shape<{len(shape)}>) -> {tensor(shape)}",
                          shape)


SPELLINGS = {"generic": Generic, "permuted": Permuted, "tensor": Tensor, "named": Named, "tosa": Tosa}
