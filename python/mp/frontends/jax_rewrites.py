# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO and chlo as text, in forms that torch-mlir lowers."""
import re


def without_meshes(text):
    """Of one device: meshes and shardings of Shardy, a dialect that torch-mlir lacks, say nothing."""
    text = re.sub(r"(?m)^ *sdy\.mesh @.*\n", "", text)
    text = re.sub(r"sdy\.sharding_constraint (%[\w#]+) <@[^>\n]*> : (tensor<[^>]*>)", r"stablehlo.reshape \1 : (\2) -> \2", text)
    return re.sub(r"(?:, )?\bsdy\.sharding = #sdy\.sharding<[^>\n]*>", "", text)


def result_names(text, name_of):
    """Results by the names that policies and comparisons know; `name_of` makes one of a path ("['logits'][0]")."""
    def named(match):
        name = name_of(match[1])
        return match[0] + (f', ml_program.identifier = "{name}"' if name and not name.isdecimal() else "")
    return re.sub(r'jax\.result_info = "result([^"\\]*)"', named, text)


# Giles, "Approximating the erfinv function", as XLA has it: for w below 5 and above, from the highest power down.
ERF_INV = ((2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727,
            1.50140941),
           (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406,
            2.83297682))


def erf_inv(name, type):
    """A function of StableHLO that is chlo.erf_inv of f32."""
    lines, where, bools = [], ' loc("erf_inv")', re.sub("f32>$", "i1>", type)

    def add(op, *values, types=None):
        result = f"%v{len(lines)}"
        lines.append(f"    {result} = {op} {', '.join(values)} : {types or type}{where}")
        return result

    constant = lambda value: add("stablehlo.constant", f"dense<{value}>")
    choose = lambda truth, a, b: add("stablehlo.select", truth, a, b, types=f"{bools}, {type}")
    less = lambda a, b, how: add("stablehlo.compare", how, a, b, types=f"({type}, {type}) -> {bools}")
    squared = add("stablehlo.multiply", "%x", "%x")
    w = add("stablehlo.negate", add("stablehlo.log_plus_one", add("stablehlo.negate", squared)))
    low = less(w, constant("5.0"), "LT")
    w = choose(low, add("stablehlo.subtract", w, constant("2.5")),
               add("stablehlo.subtract", add("stablehlo.sqrt", w), constant("3.0")))
    p = None
    for a, b in zip(*ERF_INV):
        factor = choose(low, constant(f"{a:.9e}"), constant(f"{b:.9e}"))
        p = factor if p is None else add("stablehlo.add", factor, add("stablehlo.multiply", p, w))
    at_one = less(add("stablehlo.abs", "%x"), constant("1.0"), "EQ")
    result = choose(at_one, add("stablehlo.multiply", "%x", constant("0x7F800000")), add("stablehlo.multiply", p, "%x"))
    return "\n".join([f"  func.func private @{name}(%x: {type}) -> {type} {{", *lines, f"    return {result} : {type}{where}", "  }", ""])


def inverse_error_functions(text):
    """chlo.erf_inv of f32, which normal random numbers need, as calls of functions of StableHLO."""
    types = {}

    def called(match):
        name = types.setdefault(match[2], f"mp_erf_inv_{len(types)}")
        return f"func.call @{name}({match[1]}) : ({match[2]}) -> {match[2]}"

    text = re.sub(r"chlo\.erf_inv (%[\w#]+) : (tensor<(?:\d+x)*f32>) -> \2", called, text)
    functions = "".join(erf_inv(name, type) for type, name in types.items())
    return re.sub(r"(?m)^(module\b.*\{)$", lambda match: match[1] + "\n" + functions, text, count=1)
