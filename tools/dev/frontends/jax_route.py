# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/guides/FromJAX.md: the StableHLO that JAX prints, lowered to linalg by iree-compile."""
import os
import shutil
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

TOOL = shutil.which("iree-compile", path=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
random = np.random.default_rng(0)


def normal(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(np.float32)


def decode():
    """Eight steps of decoding with a cache of keys and values, in a while loop."""
    d, heads, length, words = 32, 4, 16, 50
    table, out = normal(words, d), normal(d, words, scale=d**-0.5)
    q, k, v, o = (normal(d, d, scale=d**-0.5) for _ in range(4))

    def step(carry):
        i, token, keys, values, total = carry
        x = jnp.asarray(table)[token][None]
        split = lambda w: (x @ w).reshape(1, heads, d // heads)
        keys = lax.dynamic_update_slice(keys, split(k), (i, 0, 0))
        values = lax.dynamic_update_slice(values, split(v), (i, 0, 0))
        scores = jnp.einsum("qhd,khd->hqk", split(q), keys) / np.sqrt(d // heads)
        scores = jnp.where(jnp.arange(length) <= i, scores, -1e9)
        x = x + jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), values).reshape(1, d) @ o
        logits = (x @ out)[0]
        return i + 1, jnp.argmax(logits).astype(jnp.int32), keys, values, total + jax.nn.logsumexp(logits)

    def run(token):
        cache = jnp.zeros((length, heads, d // heads))
        return lax.while_loop(lambda c: c[0] < 8, step, (jnp.int32(0), token, cache, cache, jnp.float32(0)))[4]

    return run, (np.int32(3),)


def lstm():
    """A scan over time."""
    w, b = normal(48, 128, scale=0.15), normal(128, scale=0.1)

    def cell(carry, x):
        h, s = carry
        i, f, o, u = jnp.split(jnp.concatenate([x, h], -1) @ w + b, 4, -1)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(u)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h

    return lambda x: lax.scan(cell, (jnp.zeros((4, 32)), jnp.zeros((4, 32))), x)[1], (normal(12, 4, 16),)


def experts():
    """The two best of four experts for each token: top-k, scatter, einsum."""
    gate, up, down = normal(32, 4, scale=0.2), normal(4, 32, 64, scale=0.2), normal(4, 64, 32, scale=0.1)

    def run(x):
        best, index = lax.top_k(jax.nn.softmax(x @ gate), 2)
        weights = jnp.zeros((x.shape[0], 4)).at[jnp.arange(x.shape[0])[:, None], index].set(best)
        hidden = jax.nn.silu(jnp.einsum("nd,edf->enf", x, up))
        return jnp.einsum("end,ne->nd", jnp.einsum("enf,efd->end", hidden, down), weights)

    return run, (normal(24, 32),)


def vit():
    """A block as flax writes it: the factor of a norm before its difference, exact GELU."""
    d = 32
    patches, place, first = normal(4, 4, 3, d, scale=0.15), normal(1, 17, d, scale=0.1), normal(1, 1, d, scale=0.1)
    q, k, v, o = (normal(d, d, scale=d**-0.5) for _ in range(4))
    up, down, head = normal(d, 64, scale=d**-0.5), normal(64, d, scale=0.125), normal(d, 10, scale=d**-0.5)
    scale, bias = 1 + normal(3, d, scale=0.1), normal(3, d, scale=0.1)

    def norm(x, i):
        mean = x.mean(-1, keepdims=True)
        variance = jnp.maximum((x * x).mean(-1, keepdims=True) - mean * mean, 0)
        return (x - mean) * (lax.rsqrt(variance + 1e-6) * scale[i]) + bias[i]

    def run(x):
        x = lax.conv_general_dilated(x, patches, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jnp.concatenate([jnp.broadcast_to(first, (x.shape[0], 1, d)), x.reshape(x.shape[0], -1, d)], 1) + place
        split = lambda w: (norm(x, 0) @ w).reshape(*x.shape[:2], 4, -1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", split(q), split(k)) / np.sqrt(d // 4)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), split(v)).reshape(x.shape) @ o
        x = x + jax.nn.gelu(norm(x, 1) @ up, approximate=False) @ down
        return norm(x, 2)[:, 0] @ head

    return run, (normal(2, 16, 16, 3),)


def unet():
    """Convolutions, group norm, a resize and a skip connection."""
    k1, k2, k3 = normal(3, 3, 3, 16, scale=0.2), normal(3, 3, 16, 32, scale=0.1), normal(3, 3, 48, 3, scale=0.1)

    def conv(x, kernel, stride=1):
        return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def norm(x, groups=4):
        y = x.reshape(*x.shape[:3], groups, -1)
        y = (y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)
        return y.reshape(x.shape)

    def run(x):
        a = jax.nn.silu(norm(conv(x, k1)))
        b = jax.nn.silu(norm(conv(a, k2, 2)))
        b = jnp.repeat(jnp.repeat(b, 2, 1), 2, 2)
        return conv(jnp.concatenate([a, b], -1), k3)

    return run, (normal(1, 16, 16, 3),)


def train():
    """A step of Adam for a perceptron with an embedding: gradients scatter into its table."""
    parameters = {"e": normal(20, 16), "w": normal(16, 32, scale=0.2), "v": normal(32, 5, scale=0.2)}

    def loss(p, ids, labels):
        logits = jnp.tanh(p["e"][ids].mean(1) @ p["w"]) @ p["v"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    def run(p, m, v, ids, labels):
        value, g = jax.value_and_grad(loss)(p, ids, labels)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        return value, jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-4), p, m, v), m, v

    zeros = jax.tree.map(np.zeros_like, parameters)
    return run, (parameters, zeros, zeros, random.integers(0, 20, (8, 6)).astype(np.int32), random.integers(0, 5, 8).astype(np.int32))


MODELS = {"decode": decode, "lstm": lstm, "experts": experts, "vit": vit, "unet": unet, "train": train}


def build(name):
    return MODELS[name]()


def leaves(results):
    return [np.asarray(y) for y in jax.tree.leaves(results)]


def run(function, arguments):
    return leaves(jax.jit(function)(*arguments))


def parameter_names(function):
    return set()  # what it closes over is constant


def export(name, folder):
    """Texts by kind, inputs and outputs."""
    function, arguments = MODELS[name]()
    outputs = jax.jit(function)(*arguments)
    source, text = os.path.join(folder, "stablehlo.mlir"), os.path.join(folder, "linalg.mlir")
    with open(source, "w") as file:
        file.write(jax.jit(function).lower(*arguments).as_text())
    subprocess.run([TOOL, "--iree-input-type=stablehlo", "--compile-to=input", source, "-o", text], check=True)
    return {"linalg": text}, jax.tree.leaves(arguments), [np.asarray(y) for y in jax.tree.leaves(outputs)]
