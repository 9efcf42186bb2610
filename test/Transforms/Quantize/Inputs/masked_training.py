# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains `mp-gen digits` for 100 Adam steps under a fixed 2:4 mask, and counts values that are not exactly 0 where they should be.

usage: masked_training.py FOLDER MASK
"""
import array
import pathlib
import re
import subprocess
import sys

folder, mask = pathlib.Path(sys.argv[1]), sys.argv[2]
folder.mkdir(exist_ok=True, parents=True)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")


step, sparse = str(folder / "step.mlir"), folder / "sparse.mlir"
run("mp-gen", "digits", "--train=adam", "--batch=8", "-o", step)
run("mp-opt", step, f"--mp-prune=train=true mask={mask}", "-o", str(sparse))
# Weights 64x48, 48x32, 32x10 are results 0, 2, 4; their moments follow six results later, and six after those.
results = re.search(r"func.func @main\(.*?\) -> \((.*?)\)", sparse.read_text())[1].count("tensor<")
outputs = [folder / f"out{i}.npy" for i in range(results)]
run("mp-run", str(sparse), "--steps=100", "--log-every=100", *[f"--output=@{path}" for path in outputs])


def load(path):
    data = path.read_bytes()
    end = 10 + int.from_bytes(data[8:10], "little")
    shape = eval(re.search(rb"'shape': (\(.*?\))", data[:end])[1])
    return shape, array.array("f", data[end:])


broken = groups = alive = 0
for weight in (0, 2, 4):
    (rows, columns), w = load(outputs[weight])
    moments = [load(outputs[weight + 6 * k])[1] for k in (1, 2)]
    for column in range(columns):
        for row in range(0, rows, 4):
            places = [(row + i) * columns + column for i in range(4)]
            zeros = [p for p in places if w[p] == 0]
            groups += 1
            broken += len(zeros) < 2 or any(moment[p] != 0 for moment in moments for p in zeros)
            alive += any(moments[1][p] != 0 for p in places)
print(f"{groups} groups, {broken} broken, {'most' if alive * 2 > groups else 'few'} of them trained")
