#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes train steps of a small perceptron with optimizers and structure written by hand: one .mlir file each.

usage: hand_made_steps.py FOLDER

Adagrad; RMSProp, centered, with momentum; Lion by copysign with decay of matrices; Adam with clipping by global norm, decay in the
gradient, an integer counter and a cosine schedule; averaged parameters; dropout with a generator's state; micro-batches in a loop;
lookahead in a branch; parameters in one vector; sign descent with error feedback; forward, backward and update in functions;
a learned scalar; scalars that are no tensors and results in another order; updates made orthogonal by products of matrices; two
losses that only the trunk and a norm of all gradients connect; a schedule that multiplies masks of integers.
"""
import math
import pathlib
import sys

BATCH, INPUTS, HIDDEN, OUTPUTS = 8, 16, 12, 4
SHAPES = {"w1": (INPUTS, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, OUTPUTS), "b2": (OUTPUTS,)}
NAMES = list(SHAPES)
SCALAR = "tensor<f32>"


def tensor(*shape, element="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Code:
    """Lines of a body; values know their types."""
    count = 0

    def __init__(self, parent=None):
        self.lines, self.types = [], parent.types if parent else {}

    def declare(self, name, type):
        self.types[name] = type
        return name

    def op(self, text, type):
        Code.count += 1
        self.lines.append(f"  %v{Code.count} = {text}")
        return self.declare(f"%v{Code.count}", type)

    def shape(self, x):
        return [int(size) for size in self.types[x][7:-1].split("x")[:-1]]

    def constant(self, value, type):
        return self.op(f"arith.constant dense<{value if isinstance(value, (int, str)) else f'{value:.9e}'}> : {type}", type)

    def like(self, value, x):
        return self.constant(float(value), self.types[x])

    def map(self, name, *operands):
        return self.op(f"{name} {', '.join(operands)} : {self.types[operands[0]]}", self.types[operands[0]])

    def add(self, x, y):
        return self.map("arith.addf", x, y)

    def sub(self, x, y):
        return self.map("arith.subf", x, y)

    def mul(self, x, y):
        return self.map("arith.mulf", x, y)

    def div(self, x, y):
        return self.map("arith.divf", x, y)

    def times(self, x, factor):
        return self.mul(x, self.like(factor, x))

    def average(self, old, new, keep):
        return self.add(self.times(old, keep), self.times(new, 1 - keep))

    def transpose(self, x):
        rows, columns = self.shape(x)
        empty = self.op(f"tensor.empty() : {tensor(columns, rows)}", tensor(columns, rows))
        return self.op(f"linalg.transpose ins({x} : {self.types[x]}) outs({empty} : {self.types[empty]}) permutation = [1, 0]", self.types[empty])

    def matmul(self, x, y):
        type = tensor(self.shape(x)[0], self.shape(y)[1])
        zero = self.constant(0.0, type)
        return self.op(f"linalg.matmul ins({x}, {y} : {self.types[x]}, {self.types[y]}) outs({zero} : {type}) -> {type}", type)

    def broadcast(self, x, shape, dims, element="f32"):
        type = tensor(*shape, element=element)
        empty = self.op(f"tensor.empty() : {type}", type)
        return self.op(f"linalg.broadcast ins({x} : {self.types[x]}) outs({empty} : {type}) dimensions = {list(dims)}", type)

    def everywhere(self, scalar, x):
        shape = self.shape(x)
        return self.broadcast(scalar, shape, range(len(shape)))

    def reduce(self, x, dims, combiner="arith.addf", first=0.0):
        type = tensor(*[size for i, size in enumerate(self.shape(x)) if i not in dims])
        zero = self.constant(first, type)
        return self.op(f"linalg.reduce {{ {combiner} }} ins({x} : {self.types[x]}) outs({zero} : {type}) dimensions = {list(dims)}", type)

    def total(self, x):
        return self.reduce(x, range(len(self.shape(x))))

    def backward(self, p, x, y, smoothing=0.0, mask=None, cross_entropy=True):
        """Gradients by name, and the loss."""
        before = self.add(self.matmul(x, p["w1"]), self.broadcast(p["b1"], (BATCH, HIDDEN), [0]))
        zero = self.like(0, before)
        hidden = self.map("arith.maximumf", before, zero)
        hidden = self.mul(hidden, mask) if mask else hidden
        logits = self.add(self.matmul(hidden, p["w2"]), self.broadcast(p["b2"], (BATCH, OUTPUTS), [0]))
        if cross_entropy:
            largest = self.reduce(logits, [1], "arith.maximumf", "0xFF800000")
            shifted = self.sub(logits, self.broadcast(largest, (BATCH, OUTPUTS), [1]))
            powers = self.map("math.exp", shifted)
            sums = self.reduce(powers, [1])
            target = self.add(self.times(y, 1 - smoothing), self.like(smoothing / OUTPUTS, y)) if smoothing else y
            logs = self.sub(shifted, self.broadcast(self.map("math.log", sums), (BATCH, OUTPUTS), [1]))
            loss = self.times(self.total(self.mul(target, logs)), -1 / BATCH)
            error = self.sub(self.div(powers, self.broadcast(sums, (BATCH, OUTPUTS), [1])), target)
        else:
            error = self.sub(logits, y)
            loss = self.times(self.total(self.mul(error, error)), 0.5 / BATCH)
        error = self.times(error, 1 / BATCH)
        back = self.matmul(error, self.transpose(p["w2"]))
        back = self.mul(back, mask) if mask else back
        positive = self.op(f"arith.cmpf ogt, {before}, {zero} : {self.types[zero]}", tensor(BATCH, HIDDEN, element="i1"))
        back = self.op(f"arith.select {positive}, {back}, {zero} : {self.types[positive]}, {self.types[zero]}", self.types[zero])
        return {"w1": self.matmul(self.transpose(x), back), "b1": self.reduce(back, [0]),
                "w2": self.matmul(self.transpose(hidden), error), "b2": self.reduce(error, [0])}, loss


class Step(Code):
    """@main with the parameters, state of their shapes by name, scalars, and a batch."""

    def __init__(self, *states, scalars=(), data=(BATCH,), parameters=NAMES):
        super().__init__()
        self.p = {n: self.declare(f"%{n}", tensor(*SHAPES[n])) for n in parameters}
        self.state = {(s, n): self.declare(f"%{s}_{n}", tensor(*SHAPES[n])) for s in states for n in parameters}
        for name, type in scalars:
            self.declare(name, type)
        self.x = self.declare("%x", tensor(*data, INPUTS))
        self.y = self.declare("%y", tensor(*data, OUTPUTS))
        self.arguments = list(self.types.items())
        self.before = ""  # other functions

    def write(self, folder, name, results):
        arguments = ", ".join(f"{n}: {t}" for n, t in self.arguments)
        types = ", ".join(self.types[r] for r in results)
        body = "\n".join([*self.lines, f"  return {', '.join(results)} : {types}"])
        (folder / f"{name}_step.mlir").write_text(f"{self.before}func.func @main({arguments}) -> ({types}) {{\n{body}\n}}\n")


def root(s, v):
    return s.add(s.map("math.sqrt", v), s.like(1e-8, v))


def sign(s, magnitude, x):
    return s.op(f"math.copysign {magnitude}, {x} : {s.types[x]}", s.types[x])


def adagrad(s):
    g, loss = s.backward(s.p, s.x, s.y)
    sums = {n: s.add(s.state["h", n], s.mul(g[n], g[n])) for n in NAMES}
    return [s.sub(s.p[n], s.times(s.div(g[n], root(s, sums[n])), 0.01)) for n in NAMES] + [*sums.values(), loss]


def rmsprop(s):
    g, loss = s.backward(s.p, s.x, s.y, cross_entropy=False)
    squares = {n: s.average(s.state["s", n], s.mul(g[n], g[n]), 0.99) for n in NAMES}
    means = {n: s.average(s.state["m", n], g[n], 0.99) for n in NAMES}
    steps = {}
    for n in NAMES:
        variance = s.sub(squares[n], s.mul(means[n], means[n]))
        inverse = s.map("math.rsqrt", s.add(variance, s.like(1e-6, variance)))
        steps[n] = s.add(s.times(s.state["d", n], 0.9), s.times(s.mul(g[n], inverse), 0.001))
    return [s.sub(s.p[n], steps[n]) for n in NAMES] + [*squares.values(), *means.values(), *steps.values(), loss]


def lion(s):
    g, loss = s.backward(s.p, s.x, s.y, smoothing=0.1)
    parameters, moments = [], []
    for n in NAMES:
        direction = s.average(s.state["m", n], g[n], 0.9)
        direction = sign(s, s.like(1, direction), direction)
        if len(SHAPES[n]) > 1:
            direction = s.add(direction, s.times(s.p[n], 0.01))
        moments.append(s.average(s.state["m", n], g[n], 0.99))
        parameters.append(s.sub(s.p[n], s.times(direction, 1e-3)))
    return parameters + moments + [loss]


def adam(s):
    g, loss = s.backward(s.p, s.x, s.y, smoothing=0.1)
    count = s.map("arith.addi", "%t", s.constant(1, "tensor<i32>"))
    time = s.op(f"arith.sitofp {count} : tensor<i32> to {SCALAR}", SCALAR)
    squares = [s.total(s.mul(g[n], g[n])) for n in NAMES]
    norm = s.map("math.sqrt", s.add(s.add(squares[0], squares[1]), s.add(squares[2], squares[3])))
    one = s.like(1, norm)
    factor = s.map("arith.minimumf", s.div(one, s.add(norm, s.like(1e-6, norm))), one)
    first, second = (s.sub(one, s.map("math.powf", s.like(b, one), time)) for b in (0.9, 0.999))
    angle = s.times(s.map("arith.minimumf", s.times(time, 1e-3), one), math.pi)
    rate = s.times(s.add(s.map("math.cos", angle), one), 5e-4)
    parameters, m, v = [], [], []
    for n in NAMES:
        clipped = s.add(s.mul(g[n], s.everywhere(factor, g[n])), s.times(s.p[n], 1e-4))
        m.append(s.average(s.state["m", n], clipped, 0.9))
        v.append(s.average(s.state["v", n], s.mul(clipped, clipped), 0.999))
        update = s.div(s.div(m[-1], s.everywhere(first, m[-1])), root(s, s.div(v[-1], s.everywhere(second, v[-1]))))
        parameters.append(s.sub(s.p[n], s.mul(update, s.everywhere(rate, update))))
    return parameters + m + v + [count, loss]


def averaged(s):
    g, loss = s.backward(s.p, s.x, s.y)
    count = s.map("arith.addi", "%t", s.constant(1, "tensor<i64>"))
    time = s.op(f"arith.uitofp {count} : tensor<i64> to {SCALAR}", SCALAR)
    keep = s.map("arith.minimumf", s.div(s.add(time, s.like(1, time)), s.add(time, s.like(10, time))), s.like(0.999, time))
    parameters, averages = [], []
    for n in NAMES:
        parameters.append(s.sub(s.p[n], s.times(g[n], 0.1)))
        decay = s.everywhere(keep, parameters[-1])
        averages.append(s.add(s.mul(s.state["e", n], decay), s.mul(parameters[-1], s.sub(s.like(1, decay), decay))))
    return parameters + averages + [count, loss]


def dropout(s):
    integers = tensor(BATCH, HIDDEN, element="i32")
    places = s.constant(str([[r * HIDDEN + c for c in range(HIDDEN)] for r in range(BATCH)]), integers)
    seeds = s.broadcast("%seed", (BATCH, HIDDEN), [0, 1], element="i32")
    mixed = s.map("arith.muli", s.map("arith.xori", places, seeds), s.constant(747796405, integers))
    kept = s.op(f"arith.cmpi ugt, {s.map('arith.shrui', mixed, s.constant(16, integers))}, {s.constant(13107, integers)} : {integers}",
                tensor(BATCH, HIDDEN, element="i1"))
    mask = s.times(s.op(f"arith.uitofp {kept} : {s.types[kept]} to {tensor(BATCH, HIDDEN)}", tensor(BATCH, HIDDEN)), 1.25)
    g, loss = s.backward(s.p, s.x, s.y, mask=mask)
    seed = s.map("arith.addi", s.map("arith.muli", "%seed", s.constant(1664525, "tensor<i32>")), s.constant(1013904223, "tensor<i32>"))
    return [s.sub(s.p[n], s.times(g[n], 0.1)) for n in NAMES] + [seed, loss]


def micro_batches(s):
    body = Code(s)
    x, y = body.declare("%xi", tensor(BATCH, INPUTS)), body.declare("%yi", tensor(BATCH, OUTPUTS))
    sums = [body.declare(f"%sum_{n}", tensor(*SHAPES[n])) for n in NAMES] + [body.declare("%losses", SCALAR)]
    g, loss = body.backward(s.p, x, y)
    yielded = [body.add(v, w) for v, w in zip(sums, [*(g[n] for n in NAMES), loss])]
    types = ", ".join(s.types[v] for v in sums)
    first = ", ".join(f"{v} = {s.constant(0.0, s.types[v])}" for v in sums)
    s.lines += ["  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index", "  %c4 = arith.constant 4 : index",
                f"  %r:5 = scf.for %i = %c0 to %c4 step %c1 iter_args({first}) -> ({types}) {{"]
    for name, whole, width in (("%xi", s.x, INPUTS), ("%yi", s.y, OUTPUTS)):
        s.lines.append(f"  {name} = tensor.extract_slice {whole}[%i, 0, 0] [1, {BATCH}, {width}] [1, 1, 1] : {s.types[whole]} to {s.types[name]}")
    s.lines += [*body.lines, f"  scf.yield {', '.join(yielded)} : {types}", "  }"]
    for i, v in enumerate(sums):
        s.declare(f"%r#{i}", s.types[v])
    moments = [s.add(s.times(s.state["m", n], 0.9), s.times(f"%r#{i}", 0.25)) for i, n in enumerate(NAMES)]
    return [s.sub(s.p[n], s.times(m, 0.1)) for n, m in zip(NAMES, moments)] + moments + [s.times("%r#4", 0.25)]


def lookahead(s):
    g, loss = s.backward(s.p, s.x, s.y, cross_entropy=False)
    count = s.map("arith.addi", "%t", s.constant(1, "tensor<i32>"))
    fast = [s.sub(s.p[n], s.times(g[n], 0.1)) for n in NAMES]
    slow = [s.state["slow", n] for n in NAMES]
    body = Code(s)
    moved = [body.add(v, body.times(body.sub(f, v), 0.5)) for f, v in zip(fast, slow)]
    types = ", ".join([s.types[v] for v in slow] * 2)
    s.lines += [f"  %now = tensor.extract {count}[] : tensor<i32>", "  %five = arith.constant 5 : i32", "  %none = arith.constant 0 : i32",
                "  %rest = arith.remsi %now, %five : i32", "  %is = arith.cmpi eq, %rest, %none : i32",
                f"  %q:8 = scf.if %is -> ({types}) {{", *body.lines, f"  scf.yield {', '.join(moved * 2)} : {types}", "  } else {",
                f"  scf.yield {', '.join(fast + slow)} : {types}", "  }"]
    return [s.declare(f"%q#{i}", s.types[slow[i % 4]]) for i in range(8)] + [count, loss]


def in_one_vector(folder):
    s = Step(parameters=[])
    sizes = {n: math.prod(SHAPES[n]) for n in NAMES}
    whole = tensor(sum(sizes.values()))
    s.arguments = [(s.declare(n, whole), whole) for n in ("%p", "%m", "%v")] + s.arguments
    p, offset = {}, 0
    for n in NAMES:
        part = tensor(sizes[n])
        p[n] = s.op(f"tensor.extract_slice %p[{offset}] [{sizes[n]}] [1] : {whole} to {part}", part)
        if len(SHAPES[n]) > 1:
            p[n] = s.op(f"tensor.expand_shape {p[n]} [[0, 1]] output_shape {list(SHAPES[n])} : {part} into {tensor(*SHAPES[n])}", tensor(*SHAPES[n]))
        offset += sizes[n]
    g, loss = s.backward(p, s.x, s.y)
    flat = [s.op(f"tensor.collapse_shape {g[n]} [[0, 1]] : {s.types[g[n]]} into {tensor(sizes[n])}", tensor(sizes[n]))
            if len(SHAPES[n]) > 1 else g[n] for n in NAMES]
    joined = s.op(f"tensor.concat dim(0) {', '.join(flat)} : ({', '.join(s.types[f] for f in flat)}) -> {whole}", whole)
    m, v = s.average("%m", joined, 0.9), s.average("%v", s.mul(joined, joined), 0.999)
    s.write(folder, "in_one_vector", [s.sub("%p", s.times(s.div(m, root(s, v)), 1e-3)), m, v, loss])


def error_feedback(s):
    g, loss = s.backward(s.p, s.x, s.y)
    parameters, errors = [], []
    for n in NAMES:
        wanted = s.add(s.times(g[n], 0.1), s.state["e", n])
        mean = s.times(s.total(s.map("math.absf", wanted)), 1 / math.prod(SHAPES[n]))
        sent = sign(s, s.everywhere(mean, wanted), wanted)
        parameters.append(s.sub(s.p[n], sent))
        errors.append(s.sub(wanted, sent))
    return parameters + errors + [loss]


def functions(s):
    g, loss = s.backward(s.p, s.x, s.y)
    types = ", ".join(tensor(*SHAPES[n]) for n in NAMES)
    own = [(n, t) for n, t in s.arguments if "_" not in n]
    s.before = (f"func.func private @gradients({', '.join(f'{n}: {t}' for n, t in own)}) -> ({types}, {SCALAR}) {{\n" + "\n".join(s.lines)
                + f"\n  return {', '.join(g[n] for n in NAMES)}, {loss} : {types}, {SCALAR}\n}}\n")
    s.lines = [f"  %g:5 = call @gradients({', '.join(n for n, _ in own)}) : ({', '.join(t for _, t in own)}) -> ({types}, {SCALAR})"]
    for i, n in enumerate(NAMES):
        update, type = Code(), tensor(*SHAPES[n])
        for name in ("%w", "%m", "%g"):
            update.declare(name, type)
        m = update.add(update.times("%m", 0.9), "%g")
        w = update.sub("%w", update.times(m, 0.1))
        s.before += (f"func.func private @update_{n}(%w: {type}, %m: {type}, %g: {type}) -> ({type}, {type}) {{\n" + "\n".join(update.lines)
                     + f"\n  return {w}, {m} : {type}, {type}\n}}\n")
        s.lines.append(f"  %u{i}:2 = call @update_{n}({s.p[n]}, {s.state['m', n]}, %g#{i}) : ({type}, {type}, {type}) -> ({type}, {type})")
    results = [s.declare(f"%u{i}#{k}", tensor(*SHAPES[n])) for k in (0, 1) for i, n in enumerate(NAMES)]
    return results + [s.declare("%g#4", SCALAR)]


def learned_scalar(s):
    zero = s.constant(0.0, tensor(BATCH, HIDDEN))
    hidden = s.map("arith.maximumf", s.matmul(s.x, s.p["w1"]), zero)
    plain = s.matmul(hidden, s.p["w2"])
    factor = s.broadcast("%temperature", (BATCH, OUTPUTS), [0, 1])
    error = s.sub(s.mul(plain, factor), s.y)
    loss = s.times(s.total(s.mul(error, error)), 0.5 / BATCH)
    error = s.times(error, 1 / BATCH)
    moment = s.add(s.times("%moment", 0.9), s.total(s.mul(error, plain)))
    inner = s.mul(error, factor)
    back = s.matmul(inner, s.transpose(s.p["w2"]))
    positive = s.op(f"arith.cmpf ogt, {hidden}, {zero} : {s.types[zero]}", tensor(BATCH, HIDDEN, element="i1"))
    back = s.op(f"arith.select {positive}, {back}, {zero} : {s.types[positive]}, {s.types[zero]}", s.types[zero])
    g = {"w1": s.matmul(s.transpose(s.x), back), "w2": s.matmul(s.transpose(hidden), inner)}
    return [s.sub(s.p[n], s.times(g[n], 0.1)) for n in s.p] + [s.sub("%temperature", s.times(moment, 0.01)), moment, loss]


def numbers(s):
    g, _ = s.backward(s.p, s.x, s.y)
    s.lines += ["  %one = arith.constant 1.0 : f32", "  %next = arith.addf %t, %one : f32", "  %beta = arith.constant 0.9 : f32",
                "  %power = math.powf %beta, %next : f32", "  %bias = arith.subf %one, %power : f32", "  %quotient = arith.divf %rate, %bias : f32",
                "  %each = tensor.from_elements %quotient : tensor<f32>"]
    s.declare("%each", SCALAR), s.declare("%next", "f32")
    m = [s.average(s.state["m", n], g[n], 0.9) for n in NAMES]
    v = [s.average(s.state["v", n], s.mul(g[n], g[n]), 0.999) for n in NAMES]
    updates = [s.div(x, root(s, y)) for x, y in zip(m, v)]
    parameters = [s.sub(s.p[n], s.mul(u, s.everywhere("%each", u))) for n, u in zip(NAMES, updates)]
    return ["%next", *v[::-1], *parameters, *m]


def orthogonal(s):
    g, loss = s.backward(s.p, s.x, s.y)
    parameters, moments = [], []
    for n in NAMES:
        moments.append(s.average(s.state["m", n], g[n], 0.9))
        update = moments[-1]
        if len(SHAPES[n]) > 1:
            norm = s.map("math.sqrt", s.total(s.mul(update, update)))
            update = s.div(update, s.everywhere(s.add(norm, s.like(1e-7, norm)), update))
            for _ in range(2):
                square = s.matmul(s.transpose(update), update)
                update = s.sub(s.times(update, 1.5), s.times(s.matmul(update, square), 0.5))
        parameters.append(s.sub(s.p[n], s.times(update, 0.02)))
    return parameters + moments + [loss]


def two_heads(s):
    before = s.add(s.matmul(s.x, s.p["w1"]), s.broadcast(s.p["b1"], (BATCH, HIDDEN), [0]))
    hidden = s.map("math.tanh", before)
    policy = s.add(s.matmul(hidden, s.p["w2"]), s.broadcast(s.p["b2"], (BATCH, OUTPUTS), [0]))
    value = s.matmul(hidden, "%wv")
    wrong, missed = s.map("math.tanh", s.sub(policy, s.y)), s.sub(value, "%returns")
    back = s.add(s.matmul(missed, s.transpose("%wv")), s.matmul(wrong, s.transpose(s.p["w2"])))
    back = s.mul(back, s.sub(s.like(1, hidden), s.mul(hidden, hidden)))
    g = [s.matmul(s.transpose(s.x), back), s.reduce(back, [0]), s.matmul(s.transpose(hidden), wrong), s.reduce(wrong, [0]),
         s.matmul(s.transpose(hidden), missed)]
    norm = s.total(s.mul(g[0], g[0]))
    for other in g[1:]:
        norm = s.add(norm, s.total(s.mul(other, other)))
    factor = s.map("arith.minimumf", s.map("math.rsqrt", norm), s.like(1, norm))
    return [s.sub(p, s.times(s.mul(d, s.everywhere(factor, d)), 0.1)) for p, d in zip([*s.p.values(), "%wv"], g)] + [s.total(missed)]


def masked_schedule(s):
    g, loss = s.backward(s.p, s.x, s.y)
    count = s.map("arith.addi", "%t", s.constant(1, "tensor<i32>"))
    passed = s.op(f"arith.cmpi sgt, {s.broadcast(count, (2,), [0], element='i32')}, {s.constant('[0, 100]', 'tensor<2xi32>')} : tensor<2xi32>", "tensor<2xi1>")
    rate = s.op(f"linalg.dot ins({passed}, {s.constant('[0.1, -0.05]', 'tensor<2xf32>')} : tensor<2xi1>, tensor<2xf32>) "
                f"outs({s.constant(0.0, SCALAR)} : {SCALAR}) -> {SCALAR}", SCALAR)
    return [s.sub(s.p[n], s.mul(g[n], s.everywhere(rate, g[n]))) for n in NAMES] + [count, loss]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    steps = {
        adagrad: Step("h"), rmsprop: Step("s", "m", "d"), lion: Step("m"), adam: Step("m", "v", scalars=[("%t", "tensor<i32>")]),
        averaged: Step("e", scalars=[("%t", "tensor<i64>")]), dropout: Step(scalars=[("%seed", "tensor<i32>")]),
        micro_batches: Step("m", data=(4, BATCH)), lookahead: Step("slow", scalars=[("%t", "tensor<i32>")]), error_feedback: Step("e"),
        functions: Step("m"), learned_scalar: Step(scalars=[("%temperature", SCALAR), ("%moment", SCALAR)], parameters=["w1", "w2"]),
        numbers: Step("m", "v", scalars=[("%rate", "f32"), ("%t", "f32")]), orthogonal: Step("m"),
        two_heads: Step(scalars=[("%wv", tensor(HIDDEN, 3)), ("%returns", tensor(BATCH, 3))]),
        masked_schedule: Step(scalars=[("%t", "tensor<i32>")]),
    }
    for make, step in steps.items():
        step.write(folder, make.__name__, make(step))
    in_one_vector(folder)


if __name__ == "__main__":
    main()
