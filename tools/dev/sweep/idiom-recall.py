#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how many spellings of each idiom mp-annotate-idioms recognises.

usage: idiom-recall.py [--write=docs/results/IdiomRecall.md]

Every idiom is written in its algebraic variants (reciprocal or quotient, one pass or two, affine or
not), each in every spelling of spellings.py; then generalised, fused and lowered from TOSA by upstream
passes, and transposed. Found means: some op carries the idiom as `KIND#N!`. Near misses, which differ
from an idiom in one place, must carry none of their kind. Prints a table; exits 1 if something is missed
that is not known to be, or wrongly found. mp-opt is taken from PATH.
"""
import pathlib
import re
import subprocess
import sys

from spellings import SPELLINGS, Named

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import write_table  # noqa: E402

IDIOMS, MISSES = {}, {}


def idiom(kind, **variants):
    """Registers a builder(spelling, **variant) of one idiom; variants lists values per parameter."""
    def register(build):
        combinations = [{}]
        for name, values in variants.items():
            combinations = [{**c, name: value} for c in combinations for value in values]
        IDIOMS.setdefault(kind, []).extend((build, c) for c in combinations)
        return build
    return register


def miss(kind):
    def register(build):
        MISSES.setdefault(kind, []).append(build)
        return build
    return register


def mean(s, x, axes):
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return s.binary("div", s.reduce("sum", x, axes), float(count))


def times_mean(s, x, axes):
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return s.binary("mul", s.reduce("sum", x, axes), 1.0 / count)


def square(s, x):
    return s.binary("mul", x, x)


def over_root(s, x, spread, how):
    if how == "rsqrt":
        return s.binary("mul", x, s.unary("rsqrt", spread))
    root = s.unary("sqrt", spread)
    if how == "sqrt":
        return s.binary("div", x, root)
    return s.binary("mul", x, s.binary("div", 1.0, root))


def shifted_exp(s, x, axes):
    return s.unary("exp", s.binary("sub", x, s.reduce("max", x, axes)))


def last(x):
    return (len(x.shape) - 1,)


@idiom("softmax", how=("div", "reciprocal", "unshifted", "scaled"))
def softmax(s, how):
    x = s.arg((4, 8, 16))
    if how == "scaled":
        x = s.binary("mul", x, 0.125)
    e = s.unary("exp", x) if how == "unshifted" else shifted_exp(s, x, last(x))
    total = s.reduce("sum", e, last(x))
    return s.binary("mul", e, s.binary("div", 1.0, total)) if how == "reciprocal" else s.binary("div", e, total)


@idiom("log_softmax", how=("shifted", "difference", "log"))
def log_softmax(s, how):
    x = s.arg((8, 16))
    peak = s.reduce("max", x, (1,))
    d = s.binary("sub", x, peak)
    e = s.unary("exp", d)
    total = s.reduce("sum", e, (1,))
    if how == "log":
        return s.unary("log", s.binary("div", e, total))
    if how == "difference":
        return s.binary("sub", x, s.binary("add", s.unary("log", total), peak))
    return s.binary("sub", d, s.unary("log", total))


@idiom("logsumexp", how=("shifted", "plain"))
def logsumexp(s, how):
    x = s.arg((8, 16))
    if how == "plain":
        return s.unary("log", s.reduce("sum", s.unary("exp", x), (1,)))
    peak = s.reduce("max", x, (1,))
    e = s.unary("exp", s.binary("sub", x, peak))
    return s.binary("add", s.unary("log", s.reduce("sum", e, (1,))), peak)


@idiom("mean", how=(mean, times_mean))
def plain_mean(s, how):
    return how(s, s.arg((4, 8, 16)), (2,))


@idiom("variance", how=("two passes", "one pass", "unbiased"))
def variance(s, how):
    x = s.arg((4, 16))
    m = mean(s, x, (1,))
    if how == "one pass":
        return s.binary("sub", mean(s, square(s, x), (1,)), square(s, m))
    total = s.reduce("sum", square(s, s.binary("sub", x, m)), (1,))
    return s.binary("div", total, 15.0 if how == "unbiased" else 16.0)


def normalized(s, x, axes, how="rsqrt"):
    d = s.binary("sub", x, mean(s, x, axes))
    return over_root(s, d, s.binary("add", mean(s, square(s, d), axes), 1e-5), how)


@idiom("layer_norm", how=("rsqrt", "sqrt", "reciprocal"), affine=(False, True))
def layer_norm(s, how, affine):
    y = normalized(s, s.arg((4, 8, 16)), (2,), how)
    if affine:
        y = s.binary("add", s.binary("mul", y, s.arg((1, 1, 16), (0, 1))), s.arg((1, 1, 16), (0, 1)))
    return y


@idiom("layer_norm", first=("scale", "variance"))
def layer_norm_one_pass(s, first):
    x = s.arg((8, 16))
    m = times_mean(s, x, (1,))
    v = s.binary("sub", times_mean(s, square(s, x), (1,)), square(s, m))
    r = s.unary("rsqrt", s.binary("add", v, 1e-5))
    if first == "scale":
        r = s.binary("mul", s.arg((1, 16), (0,)), r)
    return s.binary("mul", s.binary("sub", x, m), r)


@idiom("rms_norm", how=("rsqrt", "sqrt", "reciprocal"), affine=(False, True))
def rms_norm(s, how, affine):
    x = s.arg((4, 8, 16))
    y = over_root(s, x, s.binary("add", mean(s, square(s, x), (2,)), 1e-6), how)
    return s.binary("mul", y, s.arg((1, 1, 16), (0, 1))) if affine else y


@idiom("l2_norm", how=("rsqrt", "sqrt", "largest", "beside"))
def l2_norm(s, how):
    x = s.arg((8, 16))
    total = s.reduce("sum", square(s, x), (1,))
    if how == "largest":
        return s.binary("mul", x, s.unary("rsqrt", s.binary("max", total, 1e-12)))
    if how == "beside":
        return s.binary("div", x, s.binary("add", s.unary("sqrt", total), 1e-12))
    return over_root(s, x, s.binary("add", total, 1e-12), how)


@idiom("batch_norm", affine=(False, True))
def batch_norm(s, affine):
    y = normalized(s, s.arg((2, 6, 4, 4)), (0, 2, 3))
    return s.binary("mul", y, s.arg((1, 6, 1, 1), (0, 2, 3))) if affine else y


@idiom("batch_norm", how=("rsqrt", "sqrt"))
def batch_norm_inference(s, how):
    x, m, v = s.arg((2, 6, 4, 4)), s.arg((1, 6, 1, 1), (0, 2, 3)), s.arg((1, 6, 1, 1), (0, 2, 3))
    return over_root(s, s.binary("sub", x, m), s.binary("add", v, 1e-5), how)


@idiom("instance_norm", how=("rsqrt", "sqrt"))
def instance_norm(s, how):
    return normalized(s, s.arg((2, 6, 4, 4)), (2, 3), how)


@idiom("group_norm", how=("rsqrt", "sqrt"))
def group_norm(s, how):
    x = s.reshape(s.arg((2, 6, 4, 4)), (2, 2, 3, 4, 4))
    return s.reshape(normalized(s, x, (2, 3, 4), how), (2, 6, 4, 4))


@idiom("gelu", order=(0, 1, 2))
def gelu(s, order):
    x = s.arg((4, 16))
    gate = s.binary("add", s.unary("erf", s.binary("mul", x, 0.70710678)), 1.0)
    if order == 0:
        return s.binary("mul", s.binary("mul", x, 0.5), gate)
    if order == 1:
        return s.binary("mul", s.binary("mul", gate, x), 0.5)
    gate = s.binary("add", s.binary("mul", s.unary("erf", s.binary("div", x, 1.41421356)), 0.5), 0.5)
    return s.binary("mul", x, gate)


@idiom("gelu_tanh", order=(0, 1))
def gelu_tanh(s, order):
    x = s.arg((4, 16))
    cube = s.binary("mul", square(s, x), x)
    inner = s.binary("add", x, s.binary("mul", cube, 0.044715))
    gate = s.binary("add", s.unary("tanh", s.binary("mul", inner, 0.7978845608)), 1.0)
    half = s.binary("mul", x, 0.5)
    return s.binary("mul", half, gate) if order == 0 else s.binary("mul", s.binary("mul", x, gate), 0.5)


@idiom("silu", how=("div", "reciprocal", "product"))
def silu(s, how):
    x = s.arg((4, 16))
    below = s.binary("add", s.unary("exp", s.unary("neg", x)), 1.0)
    if how == "div":
        return s.binary("div", x, below)
    gate = s.binary("div", 1.0, below)
    return s.binary("mul", x, gate) if how == "reciprocal" else s.binary("mul", gate, x)


@idiom("mean_square_error", how=(mean, times_mean))
def mean_square_error(s, how):
    return how(s, square(s, s.binary("sub", s.arg((8, 16)), s.arg((8, 16)))), (0, 1))


@idiom("cross_entropy", sign=("outside", "inside"))
def cross_entropy(s, sign):
    y, target = log_softmax(s, "shifted"), s.arg((8, 16))
    terms = s.binary("mul", s.unary("neg", y) if sign == "inside" else y, target)
    total = s.binary("div", s.reduce("sum", terms, (0, 1)), 8.0)
    return total if sign == "inside" else s.unary("neg", total)


@miss("softmax")
def another_total(s):
    x, y = s.arg((8, 16)), s.arg((8, 16))
    return s.binary("div", shifted_exp(s, x, (1,)), s.reduce("sum", shifted_exp(s, y, (1,)), (1,)))


@miss("softmax")
def without_exp(s):
    x = s.arg((8, 16))
    return s.binary("div", x, s.reduce("sum", x, (1,)))


@miss("rms_norm")
def another_root(s):
    x, y = s.arg((8, 16)), s.arg((8, 16))
    return over_root(s, x, s.binary("add", mean(s, square(s, y), (1,)), 1e-6), "rsqrt")


@miss("layer_norm")
def another_mean(s):
    x, y = s.arg((8, 16)), s.arg((8, 16))
    d = s.binary("sub", x, mean(s, y, (1,)))
    return over_root(s, d, s.binary("add", mean(s, square(s, s.binary("sub", x, mean(s, x, (1,)))), (1,)), 1e-6), "rsqrt")


@miss("mean")
def wrong_count(s):
    return s.binary("div", s.reduce("sum", s.arg((8, 16)), (1,)), 3.0)


@miss("silu")
def another_gate(s):
    x, y = s.arg((8, 16)), s.arg((8, 16))
    return s.binary("div", x, s.binary("add", s.unary("exp", s.unary("neg", y)), 1.0))


@miss("gelu")
def without_root(s):
    x = s.arg((8, 16))
    return s.binary("mul", x, s.binary("add", s.unary("erf", x), 1.0))


def transposed(base):
    """The spelling with every argument of full rank permuted first, and the result permuted back."""
    class Transposed(base):
        def arg(self, shape, gone=()):
            if gone:
                return super().arg(shape, gone)
            last = list(reversed(range(len(shape))))
            return self.transpose(super().arg([shape[i] for i in last]), last)
    return Transposed


LOWER_TOSA = ["--pass-pipeline=builtin.module(func.func(tosa-make-broadcastable,tosa-to-linalg-named,tosa-to-linalg,"
              "tosa-to-arith,tosa-to-tensor))"]
# Column: spelling and upstream passes applied to it.
COLUMNS = {
    "generic": (SPELLINGS["generic"], []),
    "permuted": (SPELLINGS["permuted"], []),
    "transposed": (transposed(SPELLINGS["generic"]), []),
    "fused": (SPELLINGS["generic"], ["--linalg-fuse-elementwise-ops", "--canonicalize"]),
    "tensor": (SPELLINGS["tensor"], []),
    "named": (SPELLINGS["named"], []),
    "generalised": (SPELLINGS["named"], ["--linalg-generalize-named-ops"]),
    "generalised, fused": (SPELLINGS["named"], ["--linalg-generalize-named-ops", "--linalg-fuse-elementwise-ops",
                                                "--canonicalize"]),
    "tosa": (SPELLINGS["tosa"], []),
    "tosa lowered": (SPELLINGS["tosa"], LOWER_TOSA),
    "tosa lowered, fused": (SPELLINGS["tosa"], [LOWER_TOSA[0][:-1] + ",func.func(linalg-fuse-elementwise-ops))"]),
}


# Cases that cannot be told apart: with space collapsed to one dimension, batch, group | channels, space looks
# like batch, channel | height, width.
KNOWN = {("group_norm", "tosa lowered, fused")}


def annotate(text, passes):
    """Function name -> kinds of the idioms found in it."""
    if passes:
        text = run(["mp-opt", *passes], text)
    text = run(["mp-opt", "--mp-annotate-idioms"], text)
    found = {}
    for body in text.split("func.func @")[1:]:
        found[body.split("(")[0]] = re.findall(r'"(\w+)#\d+!"', body)
    return found


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed: {done.stderr[:2000]}")
    return done.stdout


def measure():
    """(kind, column) -> (found, written), and descriptions of what is missed or wrong."""
    cells, wrong = {}, []
    for column, (spelling, passes) in COLUMNS.items():
        text, expected = [], {}
        for kind, builders in IDIOMS.items():
            for index, (build, variant) in enumerate(builders):
                s, name = spelling(), f"{kind}_{index}"
                text.append(s.function(name, build(s, **variant)))
                expected[name] = kind
        if spelling is Named:
            s = Named()
            text.append(s.function("softmax_named", s.softmax(s.arg((8, 16)), 1)))
            expected["softmax_named"] = "softmax"
        for kind, builders in MISSES.items():
            for build in builders:
                s = spelling()
                text.append(s.function("miss_" + build.__name__, build(s)))
        found = annotate("\n".join(text), passes)
        for name, kind in expected.items():
            hits, written = cells.get((kind, column), (0, 0))
            good = kind in found[name]
            cells[kind, column] = (hits + good, written + 1)
            if not good and (kind, column) not in KNOWN:
                wrong.append(f"missed: @{name} in '{column}', found {found[name]}")
        for kind, builders in MISSES.items():
            for build in builders:
                if kind in found["miss_" + build.__name__]:
                    wrong.append(f"wrongly found: {kind} in @miss_{build.__name__} of '{column}'")
    return cells, wrong


def main():
    writes = [a.removeprefix("--write=") for a in sys.argv[1:] if a.startswith("--write=")]
    cells, wrong = measure()
    lines = ["| idiom | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * len(COLUMNS)]
    for kind in IDIOMS:
        row = ["{} of {}".format(*cells[kind, column]) for column in COLUMNS]
        lines.append(f"| {kind} | " + " | ".join(row) + " |")
    text = "\n".join(lines)
    total = [sum(cell[i] for cell in cells.values()) for i in (0, 1)]
    summary = f"recall: {total[0]} of {total[1]} spellings, {sum('wrongly' in w for w in wrong)} wrongly found"
    print(text, *wrong, summary, sep="\n")
    for target in map(pathlib.Path, writes):
        write_table(target, f"{text}\n\n{summary[0].upper()}{summary[1:]}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
