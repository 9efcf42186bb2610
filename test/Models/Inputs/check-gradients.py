# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: check-gradients.py SCRATCH-FOLDER "MODEL --OPTIONS"
# The gradients that one step of SGD applied, against how much the loss changes when all
# parameters move a little in three random directions, in both dialects. Prints the largest
# difference relative to the gradient's length along the direction.
import array
import itertools
import math
import pathlib
import random
import re
import struct
import subprocess
import sys

RATE, STEP = 0.05, 5e-4  # mp-gen's learning rate; length of the move per parameter
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def save(name, shape, values, code):
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({''.join(f'{s},' for s in shape)}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path = folder / name
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
                     + array.array({"<f4": "f", "<i8": "q", "<i4": "i"}[code], values).tobytes())
    return path


def load(path):
    data = path.read_bytes()
    return list(array.array("f", data[10 + struct.unpack("<H", data[8:10])[0]:]))


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr[:2000]}")
    return done.stdout


worst = 0.0
for dialect in ("linalg", "tosa"):
    draw = random.Random(5)
    step = folder / "step.mlir"
    run("mp-gen", *sys.argv[2].split(), "--train=sgd", f"--dialect={dialect}", "-o", step)
    signature = re.search(r"func.func @main\((.*?)\) ->", step.read_text())[1]
    arguments = []
    for sizes, element, name in re.findall(r'tensor<((?:\d+x)*)(\w+)> loc\("([^"]+)"\)', signature):
        shape = [int(s) for s in sizes.split("x") if s]
        count = math.prod(shape)
        if element == "f32":
            bound = 1 / math.sqrt(max(1, count // shape[-1])) if len(shape) > 1 else 0.5
            arguments.append((name, shape, "<f4", [draw.uniform(-1, 1) * (1 if name in ("x", "image") else bound)
                                                   for _ in range(count)]))
        else:
            arguments.append((name, shape, {"i64": "<i8", "i32": "<i4"}[element], [draw.randrange(4) for _ in range(count)]))
    parameters = [i for i, a in enumerate(arguments) if "." in a[0]]

    def evaluate(values, outputs):
        inputs = [f"--input=@{save(f'{i}.npy', a[1], values[i], a[2])}" for i, a in enumerate(arguments)]
        return run("mp-run", step, *inputs, *[f"--output=@{folder / f'out{k}.npy'}" for k in range(outputs)])

    start = [a[3] for a in arguments]

    def loss(values):
        evaluate(values, len(parameters) + 1)
        return load(folder / f"out{len(parameters)}.npy")[0]

    loss(start)
    gradients = [[(old - new) / RATE for old, new in zip(start[p], load(folder / f"out{k}.npy"))]
                 for k, p in enumerate(parameters)]
    length = math.sqrt(sum(g * g for g in itertools.chain(*gradients)))
    for _ in range(3):
        direction = [[draw.choice((-1, 1)) for _ in g] for g in gradients]
        moved = {}
        for sign in (-1, 1):
            values = list(start)
            for p, d in zip(parameters, direction):
                values[p] = [v + sign * STEP * e for v, e in zip(start[p], d)]
            moved[sign] = loss(values)
        measured = (moved[1] - moved[-1]) / (2 * STEP)
        expected = sum(g * d for g, d in zip(itertools.chain(*gradients), itertools.chain(*direction)))
        worst = max(worst, abs(measured - expected) / length)
print(f"largest difference: {worst:.4f} of the gradient's length")
sys.exit(worst > 0.05)
