#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the weights of `mp-gen digits` and writes them with the held-out images.

usage: pip install numpy scikit-learn; tools/dev/tables/train-digits.py

A perceptron 64 - 48 - 32 - 10 on the 1437 training images of scikit-learn's copy of the
UCI handwritten digits (8 x 8 pixels, 0 to 16); the other 360 are never trained on.
Training runs in f64 from a fixed seed; another BLAS may give other last bits. Writes
  lib/Models/data/DigitsWeights.inc      the weights, f32, as hexadecimal bit patterns
  test/Models/Inputs/digits-images.npy   held-out images, f32 [360, 64]
  test/Models/Inputs/digits-labels.npy   their digits, i64 [360]
"""
import pathlib

import numpy
from sklearn.datasets import load_digits

ROOT = pathlib.Path(__file__).resolve().parents[3]
WIDTHS = [64, 48, 32, 10]
HELD_OUT = 360


def forward(weights, x):
    """The activations before each layer and the logits."""
    inputs = [x / 16]
    for index, (weight, bias) in enumerate(weights):
        y = inputs[-1] @ weight + bias
        inputs.append(numpy.maximum(y, 0) if index + 1 < len(weights) else y)
    return inputs


def gradients(weights, x, labels):
    """Gradients of the mean cross entropy with a little weight decay."""
    inputs = forward(weights, x)
    logits = inputs[-1] - inputs[-1].max(axis=1, keepdims=True)
    slope = numpy.exp(logits)
    slope /= slope.sum(axis=1, keepdims=True)
    slope[numpy.arange(len(labels)), labels] -= 1
    slope /= len(labels)
    result = []
    for (weight, _), incoming in zip(reversed(weights), reversed(inputs[:-1])):
        result.insert(0, [incoming.T @ slope + 1e-4 * weight, slope.sum(axis=0)])
        slope = (slope @ weight.T) * (incoming > 0)
    return result


def train(images, labels, random):
    """Adam with a falling rate, over images shifted by up to one pixel."""
    weights = [[random.uniform(-1, 1, (n, m)) * numpy.sqrt(3 / n), numpy.zeros(m)]
               for n, m in zip(WIDTHS, WIDTHS[1:])]
    first = [[numpy.zeros_like(p) for p in layer] for layer in weights]
    second = [[numpy.zeros_like(p) for p in layer] for layer in weights]
    epochs, batch, step = 150, 64, 0
    for epoch in range(epochs):
        rate = 2e-3 * (1 - epoch / epochs)
        order = random.permutation(len(images))
        for begin in range(0, len(order), batch):
            chosen = order[begin:begin + batch]
            x = images[chosen].reshape(-1, 8, 8)
            x = numpy.roll(x, tuple(random.integers(-1, 2, 2) * (random.random() < 0.3)), (1, 2))
            slopes = gradients(weights, x.reshape(-1, 64), labels[chosen])
            step += 1
            for layer, m, v, slope in zip(weights, first, second, slopes):
                for k in (0, 1):
                    m[k] = 0.9 * m[k] + 0.1 * slope[k]
                    v[k] = 0.999 * v[k] + 0.001 * slope[k] ** 2
                    scale = numpy.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
                    layer[k] -= rate * scale * m[k] / (numpy.sqrt(v[k]) + 1e-8)
    return [[p.astype(numpy.float32) for p in layer] for layer in weights]


def write_weights(path, weights, right):
    lines = ["// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
             "//",
             "// Written by tools/dev/tables/train-digits.py: weight and bias of each layer, bit patterns "
             "of f32.",
             f"// {right} of the {HELD_OUT} held-out images are classified correctly in f32."]
    flat = numpy.concatenate([p.ravel() for layer in weights for p in layer])
    words = [f"{bits:08x}" for bits in flat.view(numpy.uint32)]
    for begin in range(0, len(words), 12):
        lines.append('"' + "".join(words[begin:begin + 12]) + '"')
    path.write_text("\n".join(lines) + "\n")


def main():
    data = load_digits()
    random = numpy.random.default_rng(7)
    order = random.permutation(len(data.data))
    held, rest = order[:HELD_OUT], order[HELD_OUT:]
    weights = train(data.data[rest], data.target[rest], random)
    images, labels = data.data[held].astype(numpy.float32), data.target[held].astype(numpy.int64)
    right = int((forward(weights, images)[-1].argmax(axis=1) == labels).sum())
    print(f"{right} of {HELD_OUT} held-out images right")
    write_weights(ROOT / "lib/Models/data/DigitsWeights.inc", weights, right)
    numpy.save(ROOT / "test/Models/Inputs/digits-images.npy", images)
    numpy.save(ROOT / "test/Models/Inputs/digits-labels.npy", labels)


if __name__ == "__main__":
    main()
