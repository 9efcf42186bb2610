# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints graphs around one product: casts of the user and transpositions on every subset of its values.

Each of the two factors, the addend and the result is f32, or bf16 behind a cast of the user, and is
transposed or not: 256 functions. In bf16 mode none may need a cast of a factor that is bf16 already.
"""
import itertools


def function(name, narrow, turned):
    """`narrow` and `turned` say it of left factor, right factor, addend and result."""
    lines, count = [], itertools.count()

    def emit(text):
        value = f"%v{next(count)}"
        lines.append(f"  {value} = {text}")
        return value

    def turn(value, kind):
        empty = emit(f"tensor.empty() : {kind}")
        return emit(f"linalg.transpose ins({value} : {kind}) outs({empty} : {kind}) permutation = [1, 0]")

    wide, low = "tensor<4x4xf32>", "tensor<4x4xbf16>"
    values = []
    for k in range(3):
        kind = low if narrow[k] else wide
        value = f"%a{k}"
        if turned[k]:
            value = turn(value, kind)
        if narrow[k]:
            value = emit(f"arith.extf {value} : {low} to {wide}")
        values.append(value)
    product = emit(f"linalg.matmul ins({values[0]}, {values[1]} : {wide}, {wide}) outs({values[2]} : {wide}) -> {wide}")
    result = wide
    if narrow[3]:
        product, result = emit(f"arith.truncf {product} : {wide} to {low}"), low
    if turned[3]:
        product = turn(product, result)
    arguments = ", ".join(f"%a{k}: {low if narrow[k] else wide}" for k in range(3))
    return "\n".join([f"func.func @{name}({arguments}) -> {result} {{", *lines, f"  return {product} : {result}", "}"])


def main():
    for narrow in itertools.product((0, 1), repeat=4):
        for turned in itertools.product((0, 1), repeat=4):
            name = "f" + "".join(map(str, narrow)) + "_" + "".join(map(str, turned))
            print(function(name, narrow, turned))


if __name__ == "__main__":
    main()
