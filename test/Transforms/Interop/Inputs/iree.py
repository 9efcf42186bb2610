# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs converted models with IREE and compares its numbers with those of mp-run.

usage: iree.py SCRATCH

Inputs and weights are small integers, so that sums are exact in any order: without functions like
exp, results must be equal bit for bit, whatever was rounded where. With them, the two may round
a value to different neighbours: 4 units in the last place of the narrow format, of the largest result.
"""
import math
import pathlib
import re
import struct
import subprocess
import sys

WIDTHS = {"f32": ("<f4", "f", 4), "i64": ("<i8", "q", 8), "i32": ("<i4", "i", 4)}
BITS = {"bf16": 8, "f16": 11}
MODELS = {
    "mlp": ["--layers=3", "--inputs=24", "--hidden=24", "--outputs=24", "--batch=4"],
    "resnet-block": ["--image=8", "--channels=4"],
    "bert": ["--layers=1", "--hidden=16", "--heads=2", "--seq=8", "--vocab=20", "--intermediate=24"],
}
EXACT = ("mlp", "resnet-block")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}exit status {done.returncode}")
    return done.stdout


def write(path, shape, kind, salt):
    """Integers of -2 to 2, or 0 and 1 where the argument is of integers, as .npy."""
    descr, code, _ = WIDTHS[kind]
    state, data = 12345 + salt, []
    for _ in range(math.prod(shape)):
        state = state * 1103515245 + 12345 & 0x7fffffff
        data.append((state >> 16) % 2 if kind.startswith("i") else (state >> 16) % 5 - 2)
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{size},' for size in shape)}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(data)}{code}", *data))


def read(path):
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])


def main():
    scratch = pathlib.Path(sys.argv[1])
    scratch.mkdir(parents=True, exist_ok=True)
    for name, options in MODELS.items():
        for dialect in ("linalg", "tosa"):
            model = run("mp-gen", name, *options, f"--dialect={dialect}")
            (scratch / "model.mlir").write_text(model)
            arguments = re.search(r"func\.func @main\((.*?)\) ->", model).group(1)
            inputs = []
            for index, (shape, kind) in enumerate(re.findall(r": tensor<((?:\d+x)*)(\w+)>", arguments)):
                inputs.append(scratch / f"{index}.npy")
                write(inputs[-1], [int(size) for size in shape.split("x")[:-1]], kind, index)
            given = [f"--input=@{path}" for path in inputs]
            for form in BITS:
                run("mp-opt", str(scratch / "model.mlir"), "-o", str(scratch / "narrow.mlir"),
                    f"--mp-mixed-precision=format={form} table=false", "--mp-casts-to-upstream",
                    "--mlir-print-op-generic")  # which MLIR of another version reads, too
                run("mp-run", str(scratch / "narrow.mlir"), *given, f"--output=@{scratch / 'mp.npy'}")
                run("iree-compile", str(scratch / "narrow.mlir"), "--iree-hal-target-backends=llvm-cpu",
                    "--iree-llvmcpu-target-cpu=host", "-o", str(scratch / "narrow.vmfb"))
                run("iree-run-module", f"--module={scratch / 'narrow.vmfb'}", "--function=main", *given,
                    f"--output=@{scratch / 'iree.npy'}")
                ours, theirs = read(scratch / "mp.npy"), read(scratch / "iree.npy")
                largest = max(map(abs, ours))
                error = max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / largest
                good = largest > 0 and error <= (0 if name in EXACT else 4 * 2.0 ** -BITS[form])
                print(f"{name} {dialect} {form}: largest difference {error:.1e} {'as expected' if good else 'TOO LARGE'}")
                if not good:
                    sys.exit(1)
    print("all equal")


if __name__ == "__main__":
    main()
