# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one layer of a model as JAX exports it, lowered to linalg: jax-layers.py MODEL ATTENTION [WIDTH]."""
import sys

import jax
import jax.numpy as jnp
from jax import lax

from mp.frontends.jax import lower

model, attention = sys.argv[1:3]
width = int(sys.argv[3]) if len(sys.argv) > 3 else 768
head, tokens, words = (64, 128, 1000) if width == 768 else (16, 16, 50)
heads, groups = width // head, width // head // (3 if width == 768 else 2)
low = jnp.finfo(jnp.float32).min


def array(*shape, kind=jnp.float32):
    return jax.ShapeDtypeStruct(shape, kind)


def linear(inputs, outputs):
    return {"weight": array(inputs, outputs), "bias": array(outputs)}


def layer():
    return {**{name: linear(width, width) for name in "qkvo"}, "up": linear(width, 4 * width), "down": linear(4 * width, width),
            "first": linear(1, width), "second": linear(1, width)}


def dense(x, p):
    return x @ p["weight"] + p["bias"]


def norm(x, p):
    if attention == "nn":
        return jax.nn.standardize(x, epsilon=1e-5) * p["weight"][0] + p["bias"]
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p["weight"][0] + p["bias"]


def attend(q, k, v, bias=None, causal=False):
    """As jax.nn does, by sums of products, or by products of transposed tensors."""
    if attention == "nn":
        return jax.nn.dot_product_attention(q, k, v, bias=bias, is_causal=causal)
    if q.shape != k.shape:
        k, v = (jnp.repeat(each, q.shape[2] // k.shape[2], 2) for each in (k, v))
    if attention == "einsum":
        scores = jnp.einsum("bthd,bshd->bhts", q, k) / jnp.sqrt(q.shape[-1])
    else:
        scores = q.transpose(0, 2, 1, 3) @ k.transpose(0, 2, 3, 1) * q.shape[-1] ** -0.5
    if bias is not None:
        scores += bias
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, low)
    shares = jax.nn.softmax(scores)
    if attention == "einsum":
        return jnp.einsum("bhts,bshd->bthd", shares, v)
    return (shares @ v.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)


def split(x, count):
    return x.reshape(*x.shape[:2], count, head)


def mix(x, p, **mask):
    q, k, v = (split(dense(x, p[name]), heads) for name in "qkv")
    return dense(attend(q, k, v, **mask).reshape(x.shape), p["o"])


def bert(p, ids, types, mask):
    x = norm(p["words"][ids] + p["places"][:tokens] + p["types"][types], p["norm"])
    x = norm(x + mix(x, p, bias=(1 - mask[:, None, None].astype(jnp.float32)) * low), p["first"])
    return norm(x + dense(jax.nn.gelu(dense(x, p["up"]), approximate=False), p["down"]), p["second"])


def deepen(x, p, **choices):
    x = x + mix(norm(x, p["first"]), p, **choices)
    return norm(x + dense(jax.nn.gelu(dense(norm(x, p["second"]), p["up"])), p["down"]), p["norm"])


def gpt2(p, ids):
    return deepen(p["words"][ids] + p["places"][:tokens], p, causal=True) @ p["words"].T


def vit(p, image):
    patches = lax.conv_general_dilated(image, p["patch"], (16, 16), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    patches = patches.reshape(1, -1, width) + p["bias"]
    x = jnp.concatenate([jnp.broadcast_to(p["class"], (1, 1, width)), patches], 1) + p["places"][:patches.shape[1] + 1]
    return dense(deepen(x, p)[:, 0], p["head"])


def scale(x, weight):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * weight


def rotate(x):
    angles = jnp.arange(tokens)[:, None] * 1e4 ** (-jnp.arange(head // 2) / (head // 2))
    a, b = jnp.split(x, 2, -1)
    if attention == "products":  # of whole heads
        angles = jnp.concatenate([angles, angles], -1)
        return x * jnp.cos(angles)[:, None] + jnp.concatenate([-b, a], -1) * jnp.sin(angles)[:, None]
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def llama(p, ids):
    x = p["words"][ids]
    y = scale(x, p["first"])
    q, k, v = rotate(split(y @ p["q"], heads)), rotate(split(y @ p["k"], groups)), split(y @ p["v"], groups)
    x = x + attend(q, k, v, causal=True).reshape(x.shape) @ p["o"]
    y = scale(x, p["second"])
    x = x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]
    return scale(x, p["last"]) @ p["head"]


ids = array(1, tokens, kind=jnp.int32)
tables = {"words": array(words, width), "places": array(512, width), "types": array(2, width), "norm": linear(1, width)}
side = 224 if width == 768 else 64
models = {
    "bert": (bert, {**layer(), **tables}, ids, ids, ids), "gpt2": (gpt2, {**layer(), **tables}, ids),
    "vit": (vit, {**layer(), **tables, "patch": array(16, 16, 3, width), "bias": array(width), "class": array(width), "head": linear(width, words)},
            array(1, side, side, 3)),
    "llama": (llama, {"words": array(words, width), "q": array(width, width), "k": array(width, groups * head), "v": array(width, groups * head),
                      "o": array(width, width), "gate": array(width, 2 * width), "up": array(width, 2 * width), "down": array(2 * width, width),
                      "first": array(width), "second": array(width), "last": array(width), "head": array(width, words)}, ids),
}
function, *arguments = models[model]
text = jax.jit(function, keep_unused=True).lower(*arguments).compiler_ir("stablehlo").operation.get_asm(enable_debug_info=False)
print(lower(text)[0])
