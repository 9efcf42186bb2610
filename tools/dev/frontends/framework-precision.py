#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What frameworks' own mixed precision loses on the exported models, as a measure of mp's.

usage: framework-precision.py FOLDER

FOLDER holds NAME.npz and recipe.py, see shared-models.py. The models are written again in JAX, with
the casts of the framework they came from: for the PyTorch models those of torch.autocast (convolutions and linear
layers read and return the narrow format, softmax and norms compute in f32), for the JAX step those
of a policy with f32 parameters and narrow computation. Prints, per model and format, the largest error over
the largest magnitude of the framework's f32 results; the first row of each model says how far the
rewritten model is from them in f32. Needs numpy and jax.
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

WIDE = jnp.float32


def multiply(a, b, kind):
    """A product that reads `kind`, accumulates in f32 and returns `kind`."""
    return jnp.matmul(a.astype(kind), b.astype(kind), preferred_element_type=WIDE).astype(kind)


def linear(x, weight, bias, kind):
    product = jnp.matmul(x.astype(kind), weight.astype(kind), preferred_element_type=WIDE)
    return (product + bias.astype(kind).astype(WIDE)).astype(kind)


def resnet18(p, kind):
    def convolve(x, weight, stride, pad):
        return lax.conv_general_dilated(x.astype(kind), weight.astype(kind), (stride, stride), ((pad, pad), (pad, pad)),
                                        dimension_numbers=("NCHW", "OIHW", "NCHW"), preferred_element_type=WIDE).astype(kind)

    def normalise(x, name):
        wide = (x.astype(WIDE) - p[name + ".running_mean"][:, None, None]) / jnp.sqrt(p[name + ".running_var"] + 1e-5)[:, None, None]
        return (wide * p[name + ".weight"][:, None, None] + p[name + ".bias"][:, None, None]).astype(kind)

    x = jnp.maximum(normalise(convolve(p["x"], p["conv1.weight"], 2, 3), "bn1"), 0)
    x = lax.reduce_window(x, jnp.array(-jnp.inf, kind), lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)))
    for layer in range(1, 5):
        for block in range(2):
            name, stride = f"layer{layer}.{block}", 2 if layer > 1 and block == 0 else 1
            y = jnp.maximum(normalise(convolve(x, p[name + ".conv1.weight"], stride, 1), name + ".bn1"), 0)
            y = normalise(convolve(y, p[name + ".conv2.weight"], 1, 1), name + ".bn2")
            if name + ".downsample.0.weight" in p:
                x = normalise(convolve(x, p[name + ".downsample.0.weight"], stride, 0), name + ".downsample.1")
            x = jnp.maximum(x + y, 0)
    return [linear(x.astype(WIDE).mean((2, 3)), p["fc.weight"].T, p["fc.bias"], kind)]


def gpt2(p, kind):
    heads, width = 12, 768
    tokens = p["ids"].shape[1]

    def normalise(x, name):
        centred = x.astype(WIDE) - x.astype(WIDE).mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * p[name + ".weight"] + p[name + ".bias"]

    def project(x, name):
        return linear(x, p[name + ".weight"], p[name + ".bias"], kind)

    h = p["m.transformer.wte.weight"][p["ids"]] + p["m.transformer.wpe.weight"][:tokens][None]
    for layer in range(2):
        name = f"m.transformer.h.{layer}."
        q, k, v = (part.reshape(1, tokens, heads, -1).transpose(0, 2, 1, 3)
                   for part in jnp.split(project(normalise(h, name + "ln_1"), name + "attn.c_attn"), 3, -1))
        scores = (multiply(q, k.transpose(0, 1, 3, 2), kind) / jnp.array(8, kind)).astype(WIDE)
        probabilities = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -1e30), -1)
        context = multiply(probabilities, v, kind).transpose(0, 2, 1, 3).reshape(1, tokens, width)
        h = h + project(context, name + "attn.c_proj")
        inner = project(normalise(h, name + "ln_2"), name + "mlp.c_fc").astype(WIDE)
        inner = (0.5 * inner * (1 + jnp.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner ** 3)))).astype(kind)
        h = h + project(inner, name + "mlp.c_proj")
    return [multiply(normalise(h, "m.transformer.ln_f"), p["m.lm_head.weight"].T, kind)]


def adam_step(p, kind):
    names = [f"l{layer}/{part}" for layer in range(3) for part in "bw"]

    def loss(weights):
        w = dict(zip(names, (weight.astype(kind) for weight in weights)))
        h = p["x"].astype(kind)
        for layer in range(3):
            h = h @ w[f"l{layer}/w"] + w[f"l{layer}/b"]
            h = jax.nn.relu(h) if layer < 2 else h
        chosen = jnp.take_along_axis(jax.nn.log_softmax(h.astype(WIDE)), p["y"][:, None], 1)
        return -jnp.mean(chosen)

    value, gradients = jax.value_and_grad(loss)([p["p/" + name] for name in names])
    step = p["t"] + 1
    first = [0.9 * p["m/" + name] + 0.1 * g for name, g in zip(names, gradients)]
    second = [0.999 * p["v/" + name] + (1 - 0.999) * g * g for name, g in zip(names, gradients)]
    weights = [p["p/" + name] - 1e-3 * (m / (1 - 0.9 ** step)) / (jnp.sqrt(v / (1 - 0.999 ** step)) + 1e-8)
               for name, m, v in zip(names, first, second)]
    return [*weights, *first, *second, step, value]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    import recipe  # pylint: disable=import-error,import-outside-toplevel
    for name, model in {"resnet18": resnet18, "gpt2_2layer": gpt2, "jax_mlp_adam_step": adam_step}.items():
        rows, inputs, outputs, _ = recipe.load(folder / f"{name}.npz")
        values = {row["name"]: jnp.asarray(value) for row, value in zip(rows, inputs)}
        for label, kind in {"f32": WIDE, "bf16": jnp.bfloat16, "f16": jnp.float16}.items():
            errors = []
            for found, wanted in zip(model(values, kind), outputs, strict=True):
                found = recipe.sample(np.asarray(found, np.float64)).reshape(-1)
                wanted = np.asarray(wanted, np.float64).reshape(-1)
                errors.append(np.abs(found - wanted).max() / np.abs(wanted).max())
            print(f"{name:<20}{label:<6}{max(errors):.2e}")


if __name__ == "__main__":
    main()
