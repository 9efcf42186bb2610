# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quantised train step of `mp-gen digits` against numpy, which differentiates it by hand.

usage: quantised_step.py FOLDER BITS [zero]

Trains one step with learned steps that clamp some values, and compares every result: weights, biases,
momenta and steps. With `zero` the input has negative values and an observed zero point. numpy computes in f64 from the formulas of Esser et al. (arXiv 1902.08153).
"""
import pathlib
import subprocess
import sys

import numpy as np

folder, bits, has_zero = pathlib.Path(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3
folder.mkdir(exist_ok=True, parents=True)
HI = 2 ** (bits - 1) - 1
sizes = [64, 48, 32, 10]
draw = np.random.default_rng(5)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")


step, fake = str(folder / "step.mlir"), str(folder / "fake.mlir")
run("mp-gen", "digits", "--train=momentum", "--batch=8", "-o", step)
run("mp-opt", step, f"--mp-insert-fake-quantize=train=true steps=learned step-rate=0.5 weights=i{bits} activations=i{bits} zero-points={str(has_zero).lower()}", "-o", fake)

weights = [draw.normal(0, (2 / m) ** 0.5, (m, n)).astype(np.float32) for m, n in zip(sizes, sizes[1:])]
biases = [draw.normal(0, 0.1, n).astype(np.float32) for n in sizes[1:]]
images = (draw.integers(0, 17, (8, 64)) - 5 * has_zero).astype(np.float32)
below = np.float32(0.25)  # state, as the moving average left it
labels = draw.integers(0, 10, 8)
# Steps that clamp the tail of their values; those of layer inputs are all of one tensor.
weight_steps = [(0.6 * np.abs(w).max(0, keepdims=True) / HI).astype(np.float32) for w in weights]
reach = 0.5 if has_zero else 1  # hidden values are smaller then
input_steps = [np.float32(s) for s in (1 / HI, reach * 1.1 / (2 ** bits - 1), reach * 0.9 / (2 ** bits - 1))]


def grid(x, step, lo, hi):
    """Rounded values, where nothing is clamped, and the slope of the result in the step."""
    v = (x.astype(np.float32) * (np.float32(1) / step)).astype(np.float32)
    code = np.clip(np.rint(v), lo, hi).astype(np.float64)
    inside = (np.rint(v) >= lo) & (np.rint(v) <= hi)
    return code * step.astype(np.float64), inside, np.where(inside, code - v, code)


# Forward.
ranges = [(-HI, HI), (0, 2 ** bits - 1), (0, 2 ** bits - 1)]  # what follows a ReLU is never negative
x, layers = images.astype(np.float64) / 16, []
for i in range(3):
    # The first step of an activation of which no gradient is known is what is observed, moved by the average.
    if i == 0:
        now = np.float32(np.float32(-x.min() + x.max()) / (2 ** bits - 1) if has_zero else np.abs(x).max() / HI)
        input_steps[0] = np.float32(input_steps[0] + np.float32(0.01) * (now - input_steps[0]))
    if i == 0 and has_zero:
        below = np.float32(below + np.float32(0.01) * (np.float32(-x.min()) - below))
        zero = np.clip(-HI - 1 + np.rint(below / input_steps[0]), -HI - 1, HI)
        assert -HI - 1 < zero < HI, "the zero point is at an end"
        ranges[0] = (-HI - 1 - zero, HI - zero)
    rx, ix, sx = grid(x, input_steps[i], *ranges[i])
    rw, iw, sw = grid(weights[i], weight_steps[i], -HI, HI)
    z = rx @ rw + biases[i]
    layers.append((rx, ix, sx, rw, iw, sw, z))
    x = np.maximum(z, 0)
p = np.exp(z - z.max(-1, keepdims=True))
p /= p.sum(-1, keepdims=True)

# Backward.
dz = (p - np.eye(10)[labels]) / 8
new_weights, new_biases, momenta, new_weight_steps, new_input_steps = [[None] * 3 for _ in range(5)]
for i in (2, 1, 0):
    rx, ix, sx, rw, iw, sw, z = layers[i]
    dw, dx = rx.T @ dz, dz @ rw.T
    slope = (dw * sw).sum(0, keepdims=True) / np.sqrt(sizes[i] * HI)
    new_weight_steps[i] = weight_steps[i] - 0.5 * slope
    if i:
        new_input_steps[i] = input_steps[i] - 0.5 * (dx * sx).sum() / np.sqrt(dx.size * ranges[i][1])
    else:
        new_input_steps[i] = input_steps[i]
    momenta[i] = (dw * iw, dz.sum(0))
    new_weights[i] = weights[i] - 0.02 * momenta[i][0]
    new_biases[i] = biases[i] - 0.02 * momenta[i][1]
    if i:
        dz = dx * ix * (layers[i - 1][6] > 0)
assert sum((~layer[1]).sum() for layer in layers[1:]) > 20 and sum((~layer[4]).sum() for layer in layers) > 100, "nothing is clamped"

# In the order of the signature.
inputs = [a for pair in zip(weights, biases) for a in pair]
inputs += [np.zeros_like(a) for a in inputs] + [images, labels]
inputs += [a for pair in zip([np.float32(1 / HI), *input_steps[1:]], weight_steps) for a in pair]
if has_zero:
    inputs.insert(-5, np.float32(0.25))
expected = [a for pair in zip(new_weights, new_biases) for a in pair] + [a for pair in momenta for a in pair] + [None]
expected += [a for pair in zip(new_input_steps, new_weight_steps) for a in pair]
if has_zero:
    expected.insert(-5, below)
words = ["mp-run", fake]
for i, value in enumerate(inputs):
    np.save(folder / f"in{i}.npy", np.asarray(value))
    words.append(f"--input=@{folder}/in{i}.npy")
words += [f"--output=@{folder}/out{i}.npy" for i in range(len(expected))]
run(*words)
worst = 0
for i, value in enumerate(expected):
    if value is None:
        continue
    found = np.load(folder / f"out{i}.npy")
    error = np.abs(found - value).max() / max(np.abs(value).max(), 1e-30)
    worst = max(worst, error)
    if not error < 2e-5:
        sys.exit(f"result {i} of shape {found.shape} is off by {error:.2e} of its largest magnitude")
print(f"{len(expected) - 1} results agree")
