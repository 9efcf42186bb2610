#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mp-opt on hostile input and demands an error in words, exit status 2, no death by
signal, and an existing output file left as it was.

usage: hostile.py nested | garbage | truncated FILE | bytecode FILE COUNT
       hostile.py print-regions DEPTH      (prints nested text, runs nothing)
"""
import pathlib
import random
import subprocess
import sys
import tempfile

KEPT = "kept\n"


def nested(depth):
    """name -> text nested `depth` deep, complete and cut in the middle."""
    regions = "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "return\n}\n"
    return {
        "regions": regions,
        "open regions": regions[: len(regions) // 2],
        "arrays": "module attributes {a.b = " + "[" * depth + "]" * depth + "} {}",
        "tuples": "func.func private @f(" + "tuple<" * depth + "f32" + ">" * depth + ")",
        "affine": "#m = affine_map<(d0) -> (" + "(" * depth + "d0" + ")" * depth + ")>",
        "locations": "func.func private @f() loc(" + 'callsite("a" at ' * depth + '"b"' + ")" * depth + ")",
        "dense": "%0 = arith.constant dense<" + "[" * depth + "1.0" + "]" * depth + "> : tensor<1xf32>",
        "dialect type": "func.func private @f(" + "!llvm.ptr<" * depth + ")",
        "generic": '"a.b"() ({' * depth + "}) : () -> ()\n" * depth,
    }


def garbage():
    rng = random.Random(7)
    words = ["func.func", "@f", "(", ")", "{", "}", "tensor<", ">", "4x", "f32", "%0", "=", ":", "->", "mp.cast",
             "#mp.precision<", "dense<", '"', "\n", "^bb0", "affine_map<", "linalg.generic", "-1", "0x", "//", "loc("]
    return {
        "empty quotes": '"',
        "random bytes": bytes(rng.randrange(256) for _ in range(4096)),
        "random printable": bytes(rng.randrange(32, 127) for _ in range(4096)),
        "word salad": " ".join(rng.choice(words) for _ in range(4000)),
        "zeros": b"\0" * 4096,
        "byte order mark": b"\xef\xbb\xbfmodule {}",
        "utf-16": "module {}".encode("utf-16"),
        "elf": b"\x7fELF\x02\x01\x01" + b"\0" * 64,
        "bytecode header alone": b"ML\xefR",
        "long line": "x" * 10_000_000,
        "wrong resource": "{-# builtin: { mlir_reproducer: { pipeline: 3 #-}",
        "unknown op": "mp.nonsense",
        "bad cast": "func.func @f(%x: f32) { %0 = mp.cast sideways %x : f32 to bf16 }",
        "huge dimension": "func.func private @f(tensor<99999999999999999999xf32>)",
    }


def run(name, content, demand_error=True):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in.mlir"), pathlib.Path(folder, "out.mlir")
        source.write_bytes(content.encode() if isinstance(content, str) else content)
        target.write_text(KEPT)
        try:
            done = subprocess.run(["mp-opt", source, "--canonicalize", "--cse", "-o", target],
                                  capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return f"{name}: did not end within 60 s"
        message = done.stderr.decode(errors="replace")
        if done.returncode == 0 and not demand_error:
            return None
        if done.returncode != 2:
            return f"{name}: exit status {done.returncode}, expected 2; said: {message[:300]}"
        if "internal error" in message:
            return f"{name}: a check of our own failed; said: {message[:300]}"
        if "error:" not in message:
            return f"{name}: no error in words; said: {message[:300]}"
        if target.read_text() != KEPT:
            return f"{name}: the existing output file is gone or changed"
        if len(list(pathlib.Path(folder).iterdir())) != 2:
            return f"{name}: a temporary file is left behind"
        return None


def mutations(original, count):
    rng = random.Random(count)
    for i in range(count):
        data = bytearray(original)
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(4, len(data))] = rng.randrange(256)
        yield f"mutation {i}", bytes(data), False


def cases(arguments):
    kind = arguments[0]
    if kind == "nested":
        return [(f"{name} x {depth}", text, True) for depth in (10_000, 100_000) for name, text in nested(depth).items()]
    if kind == "garbage":
        return [(name, text, True) for name, text in garbage().items()]
    content = pathlib.Path(arguments[1]).read_bytes()
    if kind == "truncated":
        start, end = content.index(b"func.func") + 1, len(content.rstrip(b"}\n \t"))
        return [(f"first {n} bytes", content[:n], True) for n in range(start, end, (end - start) // 25)]
    return mutations(content, int(arguments[2]))


def main():
    if sys.argv[1] == "print-regions":
        print(nested(int(sys.argv[2]))["regions"])
        return 0
    problems, total = [], 0
    for case in cases(sys.argv[1:]):
        total += 1
        problem = run(*case)
        if problem:
            problems.append(problem)
    for problem in problems:
        print(problem)
    print(f"{total} inputs, {len(problems)} problems")
    return 1 if problems or not total else 0


if __name__ == "__main__":
    sys.exit(main())
