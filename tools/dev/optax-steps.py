#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small train steps the ways JAX and optax write them, for train-sweep.py.

usage: optax-steps.py FOLDER [--only=REGEX]

Needs jax and optax, iree-compile and mp-opt on PATH (docs/FromJAX.md). Each step becomes FOLDER/NAME_step.mlir: every
optimizer of optax that fits, schedules, clipping, counters of several types, packed state, random keys, running statistics,
several losses, loops over micro-batches, loss scales of the step's own, and models from linear regression to attention. What
cannot be converted is named, and the exit status is 1.
"""
import argparse
import pathlib
import re
import subprocess
import sys

import jax
import jax.flatten_util
import jax.numpy as jnp
import optax
from jax import lax

BATCH, INPUTS, HIDDEN, OUTPUTS = 8, 12, 16, 4


def cross_entropy(logits, labels):
    """Of rows; a label out of range counts nothing."""
    return optax.softmax_cross_entropy(logits, jax.nn.one_hot(labels, logits.shape[-1]))


def dense(p, x):
    return x @ p["w"] + p["b"]


def first(sizes, seed=0):
    """Parameters of dense layers."""
    keys = jax.random.split(jax.random.key(seed), len(sizes))
    return [{"w": jax.random.normal(key, shape) * 0.3, "b": jnp.zeros(shape[1])}
            for key, shape in zip(keys, zip(sizes, sizes[1:]))]


def mlp(params, x, activation=jax.nn.relu):
    for p in params[:-1]:
        x = activation(dense(p, x))
    return dense(params[-1], x)


def squared(params, x, y):
    return jnp.mean((mlp(params, x) - y) ** 2)


def classified(params, x, labels):
    return cross_entropy(mlp(params, x), labels).mean()


def moved(params, gradients, rate=0.1):
    return jax.tree.map(lambda p, g: p - rate * g, params, gradients)


def zeros(tree):
    return jax.tree.map(jnp.zeros_like, tree)


PARAMS = first([INPUTS, HIDDEN, HIDDEN, OUTPUTS])
X, Y, LABELS = jnp.zeros((BATCH, INPUTS)), jnp.zeros((BATCH, OUTPUTS)), jnp.zeros(BATCH, jnp.int32)
STEPS = {}  # name: function that makes a step and its first arguments


def step(make):
    STEPS[make.__name__] = make
    return make


def by_optimizer(name, optimizer, loss=squared, params=PARAMS, data=(X, Y)):
    def make():
        state = optimizer.init(params)

        def train(params, state, *data):
            value, gradients = jax.value_and_grad(loss)(params, *data)
            updates, state = optimizer.update(gradients, state, params)
            return optax.apply_updates(params, updates), state, value
        return train, (params, state, *data)
    STEPS[name] = make


def by_gradient(name, loss, params=PARAMS, data=(X, Y)):
    def train(params, *data):
        value, gradients = jax.value_and_grad(loss)(params, *data)
        return moved(params, gradients), value
    STEPS[name] = lambda: (train, (params, *data))


# Optimizers, and what stands around them.
OPTIMIZERS = {
    "sgd": optax.sgd(0.1), "momentum": optax.sgd(0.1, momentum=0.9), "nesterov": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": optax.adam(1e-3), "adamw": optax.adamw(1e-3), "nadam": optax.nadam(1e-3), "adamax": optax.adamax(1e-3),
    "amsgrad": optax.amsgrad(1e-3), "rmsprop": optax.rmsprop(1e-3), "adagrad": optax.adagrad(1e-2),
    "rmsprop_centered": optax.rmsprop(1e-3, momentum=0.9, centered=True), "adadelta": optax.adadelta(1e-1),
    "adabelief": optax.adabelief(1e-3), "radam": optax.radam(1e-3), "yogi": optax.yogi(1e-3), "novograd": optax.novograd(1e-3),
    "lamb": optax.lamb(1e-3), "lars": optax.lars(1e-2), "lion": optax.lion(1e-4), "fromage": optax.fromage(1e-3),
    "adafactor": optax.adafactor(1e-3, min_dim_size_to_factor=4), "sign_sgd": optax.sign_sgd(1e-3),
    "clip_norm": optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3)),
    "clip_value": optax.chain(optax.clip(0.5), optax.sgd(0.1, momentum=0.9)),
    "clip_block_rms": optax.chain(optax.clip_by_block_rms(1.0), optax.sgd(0.1)),
    "adaptive_clip": optax.chain(optax.adaptive_grad_clip(0.1), optax.sgd(0.1)),
    "weight_decay": optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(0.1, momentum=0.9)),
    "centralize": optax.chain(optax.centralize(), optax.adam(1e-3)),
    "schedule_cosine": optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-3, 10, 100)),
    "schedule_exponential": optax.sgd(optax.exponential_decay(0.1, 10, 0.9)),
    "schedule_free": optax.contrib.schedule_free_adamw(1e-3),
    "injected_rate": optax.inject_hyperparams(optax.adam)(learning_rate=1e-3),
    "average_of_updates": optax.chain(optax.adam(1e-3), optax.ema(0.99)),
    "multi_steps": optax.MultiSteps(optax.adam(1e-3), 4),
    "apply_if_finite": optax.apply_if_finite(optax.adam(1e-3), 5),
    "momentum_bf16": optax.sgd(0.1, momentum=0.9, accumulator_dtype=jnp.bfloat16),
    "first_moment_bf16": optax.adam(1e-3, mu_dtype=jnp.bfloat16),
}
for name, optimizer in OPTIMIZERS.items():
    by_optimizer(name, optimizer)
by_optimizer("classes", optax.adam(1e-3), classified, data=(X, LABELS))

# Losses.
by_gradient("loss_of_sum", lambda p, x, y: jnp.sum((mlp(p, x) - y) ** 2))
by_gradient("huber", lambda p, x, y: optax.huber_loss(mlp(p, x), y).mean())
by_gradient("absolute", lambda p, x, y: jnp.abs(mlp(p, x) - y).mean())
by_gradient("hinge", lambda p, x, y: optax.hinge_loss(mlp(p, x), y).mean())
by_gradient("decay_in_loss", lambda p, x, y: squared(p, x, y) + 1e-4 * sum(jnp.sum(q["w"] ** 2) for q in p))
by_gradient("one_element", lambda p, x, y: squared(p, x, y).reshape(1)[0])


def two_heads(p, x, y, labels):
    h = jnp.tanh(mlp(p["trunk"], x, jnp.tanh))
    return jnp.mean((dense(p["a"], h) - y) ** 2) + 0.3 * cross_entropy(dense(p["b"], h), labels).mean()


by_gradient("two_losses", two_heads, {"trunk": PARAMS[:2], "a": PARAMS[2], "b": first([HIDDEN, 3], 5)[0]}, (X, Y, LABELS))


def penalised(p, x, y):
    return squared(p, x, y) + 0.1 * jnp.mean(jnp.sum(jax.grad(lambda x: jnp.sum(mlp(p, x)))(x) ** 2, 1))


by_gradient("gradient_penalty", penalised)


def contrasted(p, x, y):
    a, b = (z / jnp.linalg.norm(z, axis=1, keepdims=True) for z in (mlp(p, x), mlp(p, y)))
    return cross_entropy(a @ b.T / 0.1, jnp.arange(BATCH)).mean()


by_gradient("contrastive", contrasted, data=(X, X))

# Models.
by_gradient("linear_regression", lambda w, x, y: jnp.mean((x @ w - y) ** 2), jnp.zeros((INPUTS, OUTPUTS)))
by_gradient("logistic_regression", lambda p, x, y: jnp.mean(jnp.logaddexp(0, -(2 * y - 1) * (x @ p[0] + p[1]))),
            (jnp.zeros(INPUTS), jnp.float32(0)), (X, jnp.zeros(BATCH)))
by_gradient("checkpoint", lambda p, x, y: jnp.mean((dense(p[1], jax.checkpoint(
    lambda q, h: jax.nn.gelu(dense(q, h)))(p[0], x)) - y) ** 2), first([INPUTS, HIDDEN, OUTPUTS]))
by_gradient("nested_jit", lambda p, x, y: jnp.mean((jax.jit(mlp)(p, x) - y) ** 2))


def recurrent(p, xs, y):
    h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ p["x"] + h @ p["h"]), None), jnp.zeros((BATCH, HIDDEN)), xs)
    return jnp.mean((h @ p["o"] - y) ** 2)


by_gradient("recurrent", recurrent, {"x": jnp.zeros((INPUTS, HIDDEN)), "h": jnp.zeros((HIDDEN, HIDDEN)),
                                     "o": jnp.zeros((HIDDEN, OUTPUTS))}, (jnp.zeros((5, BATCH, INPUTS)), Y))


def scanned(p, x, y):
    h, _ = lax.scan(lambda h, q: (jax.nn.relu(dense(q, h)), None), jax.nn.relu(dense(p["in"], x)), p["layers"])
    return jnp.mean((dense(p["out"], h) - y) ** 2)


by_optimizer("scanned_layers", optax.adam(1e-3), scanned,
             {"in": PARAMS[0], "layers": {"w": jnp.zeros((3, HIDDEN, HIDDEN)), "b": jnp.zeros((3, HIDDEN))}, "out": PARAMS[2]})
by_optimizer("embedding", optax.adam(1e-3), lambda p, ids, y: squared(p["d"], p["e"][ids], y),
             {"e": jnp.zeros((20, HIDDEN)), "d": PARAMS[1:]}, (LABELS, Y))
by_optimizer("low_rank", optax.adam(1e-3), lambda p, base, x, y: jnp.mean((x @ base + (x @ p["a"]) @ p["b"] - y) ** 2),
             {"a": jnp.zeros((INPUTS, 2)), "b": jnp.zeros((2, OUTPUTS))}, (jnp.zeros((INPUTS, OUTPUTS)), X, Y))


def convolved(p, images, labels):
    h = jax.nn.relu(lax.conv_general_dilated(images, p["c"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return cross_entropy(dense(p["d"], h.reshape(BATCH, -1)), labels).mean()


by_optimizer("convolution", optax.sgd(0.1, momentum=0.9), convolved,
             {"c": jnp.zeros((3, 3, 2, 5)), "d": first([45, OUTPUTS])[0]}, (jnp.zeros((BATCH, 6, 6, 2)), LABELS))


def attended(p, x, y):
    h = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * p["s"] + p["t"]
    a = jax.nn.softmax(jnp.einsum("btd,bsd->bts", h @ p["q"], h @ p["k"]) / 4, -1)
    return jnp.mean((x + (a @ (h @ p["v"])) @ p["o"] - y) ** 2)


by_optimizer("attention", OPTIMIZERS["clip_norm"], attended,
             {k: jnp.zeros((16, 16)) for k in "qkvo"} | {"s": jnp.ones(16), "t": jnp.zeros(16)}, (jnp.zeros((2, 6, 16)),) * 2)


# What is returned, and how state is kept.
@step
def measures():
    def train(params, x, labels):
        (value, logits), g = jax.value_and_grad(lambda p: (classified(p, x, labels), mlp(p, x)), has_aux=True)(params)
        return moved(params, g), {"loss": value, "right": (logits.argmax(-1) == labels).mean(), "norm": optax.global_norm(g)}
    return train, (PARAMS, X, LABELS)


@step
def loss_first():
    adam = optax.adam(1e-3)

    def train(x, y, state, params):
        value, g = jax.value_and_grad(squared)(params, x, y)
        updates, new = adam.update(g, state)
        return value, new, optax.apply_updates(params, updates)
    return train, (X, Y, adam.init(PARAMS), PARAMS)


@step
def returned_gradients():
    def train(params, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        return moved(params, g), g, value
    return train, (PARAMS, X, Y)


@step
def frozen_layer():
    def train(params, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        return [params[0], *moved(params, g)[1:]], value
    return train, (PARAMS, X, Y)


def packed(name, separate):
    """Adam on all parameters in one tensor, or on those as they are with both moments in one."""
    flat, unravel = jax.flatten_util.ravel_pytree(PARAMS)

    def train(params, moments, count, x, y):
        value, g = jax.value_and_grad(squared if separate else lambda f, x, y: squared(unravel(f), x, y))(params, x, y)
        g = jax.flatten_util.ravel_pytree(g)[0]
        count = count + 1
        m, v = 0.9 * moments[0] + 0.1 * g, 0.999 * moments[1] + 0.001 * g * g
        update = 1e-3 * m / (1 - 0.9 ** count) / (jnp.sqrt(v / (1 - 0.999 ** count)) + 1e-8)
        new = jax.tree.map(jnp.subtract, params, unravel(update)) if separate else params - update
        return new, jnp.stack([m, v]), count, value
    STEPS[name] = lambda: (train, (PARAMS if separate else flat, jnp.zeros((2, flat.size)), jnp.float32(0), X, Y))


packed("packed_all", False)
packed("packed_moments", True)


def counted(name, count):
    def train(params, velocity, count, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        count = count + 1
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, g)
        return moved(params, velocity, 0.1 * (1 - 0.9 ** count.astype(jnp.float32))), velocity, count, value
    STEPS[name] = lambda: (train, (PARAMS, zeros(PARAMS), count, X, Y))


counted("count_i32", jnp.int32(0))
counted("count_u32", jnp.uint32(0))
counted("count_f32", jnp.float32(0))


@step
def rate_argument():
    def train(params, rate, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        return moved(params, g, rate), value
    return train, (PARAMS, jnp.float32(0.1), X, Y)


@step
def rate_state():
    def train(params, rate, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        return moved(params, g, rate), rate * 0.999, value
    return train, (PARAMS, jnp.float32(0.1), X, Y)


@step
def running_loss():
    def train(params, average, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        return moved(params, g), 0.99 * average + 0.01 * value
    return train, (PARAMS, jnp.float32(0), X, Y)


@step
def averaged_parameters():
    def train(params, average, x, y):
        value, g = jax.value_and_grad(squared)(params, x, y)
        new = moved(params, g)
        return new, jax.tree.map(lambda a, p: 0.999 * a + 0.001 * p, average, new), value
    return train, (PARAMS, PARAMS, X, Y)


def dropped(params, key, x, y):
    h = jax.nn.relu(dense(params[0], x))
    h = jnp.where(jax.random.bernoulli(key, 0.8, h.shape), h / 0.8, 0)
    return squared(params[1:], h, y)


@step
def dropout():
    def train(params, key, x, y):
        key, own = jax.random.split(key)
        value, g = jax.value_and_grad(dropped)(params, own, x, y)
        return moved(params, g), key, value
    return train, (PARAMS, jax.random.PRNGKey(0), X, Y)


@step
def dropout_by_count():
    def train(params, count, x, y):
        value, g = jax.value_and_grad(dropped)(params, jax.random.fold_in(jax.random.PRNGKey(7), count), x, y)
        return moved(params, g), count + 1, value
    return train, (PARAMS, jnp.int32(0), X, Y)


@step
def batch_norm():
    def loss(params, norm, running, x, y):
        h = dense(params[0], x)
        seen = {"mean": h.mean(0), "var": h.var(0)}
        h = jax.nn.relu((h - seen["mean"]) * lax.rsqrt(seen["var"] + 1e-5) * norm["scale"] + norm["shift"])
        return squared(params[1:], h, y), jax.tree.map(lambda r, s: 0.9 * r + 0.1 * s, running, seen)

    def train(params, norm, running, velocity, x, y):
        (value, running), (g, of_norm) = jax.value_and_grad(loss, (0, 1), has_aux=True)(params, norm, running, x, y)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, g)
        return moved(params, velocity), moved(norm, of_norm), running, velocity, value
    one, none = jnp.ones(HIDDEN), jnp.zeros(HIDDEN)
    return train, (PARAMS, {"scale": one, "shift": none}, {"mean": none, "var": one}, zeros(PARAMS), X, Y)


# Several backward passes, loops, formats and scales of the step's own.
@step
def two_batches():
    def train(params, *data):
        g, h = jax.grad(squared)(params, *data[:2]), jax.grad(squared)(params, *data[2:])
        return moved(params, jax.tree.map(lambda a, b: (a + b) / 2, g, h))
    return train, (PARAMS, X, Y, X, Y)


@step
def adversaries():
    def judge(judging, making, z, x):
        return jnp.mean(jax.nn.softplus(-mlp(judging, x))) + jnp.mean(jax.nn.softplus(mlp(judging, mlp(making, z))))

    def train(making, judging, z, x):
        lost, g = jax.value_and_grad(judge)(judging, making, z, x)
        won, h = jax.value_and_grad(lambda m: jnp.mean(jax.nn.softplus(-mlp(judging, mlp(m, z)))))(making)
        return moved(making, h), moved(judging, g), lost, won
    return train, (first([6, HIDDEN, INPUTS], 1), first([INPUTS, HIDDEN, 1], 2), jnp.zeros((BATCH, 6)), X)


@step
def target_network():
    def train(params, target, x, actions, rewards, later):
        best = jnp.max(mlp(target, later), -1)
        chosen = jax.nn.one_hot(actions, OUTPUTS)
        value, g = jax.value_and_grad(lambda p: jnp.mean(((mlp(p, x) * chosen).sum(1) - rewards - 0.99 * best) ** 2))(params)
        new = moved(params, g)
        return new, jax.tree.map(lambda t, p: 0.99 * t + 0.01 * p, target, new), value
    return train, (PARAMS, PARAMS, X, LABELS, jnp.zeros(BATCH), X)


@step
def sharpness_aware():
    def train(params, x, y):
        g = jax.grad(squared)(params, x, y)
        ahead = moved(params, g, -0.05 / (optax.global_norm(g) + 1e-12))
        return moved(params, jax.grad(squared)(ahead, x, y))
    return train, (PARAMS, X, Y)


@step
def clipped_by_example():
    def train(params, x, y):
        g = jax.vmap(jax.grad(squared), (None, 0, 0))(params, x, y)
        norms = jnp.sqrt(sum(jnp.sum(q.reshape(BATCH, -1) ** 2, 1) for q in jax.tree.leaves(g)))
        factors = jnp.minimum(1, 1 / (norms + 1e-6)) / BATCH
        return moved(params, jax.tree.map(lambda q: jnp.einsum("b,b...->...", factors, q), g))
    return train, (PARAMS, X, Y)


def micro_batches(name, total):
    adam = optax.adam(1e-3)

    def train(params, state, xs, ys):
        value, g = total(params, xs, ys)
        updates, state = adam.update(jax.tree.map(lambda g: g / 4, g), state)
        return optax.apply_updates(params, updates), state, value
    STEPS[name] = lambda: (train, (PARAMS, adam.init(PARAMS), jnp.zeros((4, *X.shape)), jnp.zeros((4, *Y.shape))))


def added(params, carried, x, y):
    value, g = jax.value_and_grad(squared)(params, x, y)
    return carried[0] + value, jax.tree.map(jnp.add, carried[1], g)


micro_batches("micro_scan", lambda p, xs, ys: lax.scan(lambda c, xy: (added(p, c, *xy), None), (0.0, zeros(p)), (xs, ys))[0])
micro_batches("micro_loop", lambda p, xs, ys: lax.fori_loop(0, 4, lambda i, c: added(p, c, xs[i], ys[i]), (0.0, zeros(p))))
micro_batches("micro_unrolled", lambda p, xs, ys: added(p, added(p, (0.0, zeros(p)), xs[0], ys[0]), xs[1], ys[1]))


@step
def steps_in_a_loop():
    def train(params, xs, ys):
        return lax.scan(lambda p, xy: (moved(p, jax.grad(squared)(p, *xy)), None), params, (xs, ys))[0]
    return train, (PARAMS, jnp.zeros((3, *X.shape)), jnp.zeros((3, *Y.shape)))


def in_bf16(params, x, y):
    return jnp.mean((mlp(params, x.astype(jnp.bfloat16)).astype(jnp.float32) - y) ** 2)


def rounded(params):
    return jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)


by_gradient("parameters_bf16", in_bf16, rounded(PARAMS))
by_optimizer("masters_f32", optax.adam(1e-3), lambda p, x, y: in_bf16(rounded(p), x, y))


@step
def own_loss_scale():
    def train(params, scale, clean, x, y):
        g = jax.tree.map(lambda g: g / scale, jax.grad(lambda p: squared(p, x, y) * scale)(params))
        finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(q)) for q in jax.tree.leaves(g)]))
        new = jax.tree.map(lambda p, n: jnp.where(finite, n, p), params, moved(params, g))
        grows = clean >= 1999
        return new, jnp.where(finite, jnp.where(grows, scale * 2, scale), scale / 2), jnp.where(finite & ~grows, clean + 1, 0)
    return train, (PARAMS, jnp.float32(1024), jnp.int32(0), X, Y)


def convert(make, folder, name):
    """Why the step was not written, or nothing."""
    function, arguments = make()
    portable = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
    for command in (["iree-compile", "--iree-input-type=stablehlo", "--compile-to=input", "-"],
                    ["mp-opt", "--import", "-", "-o", folder / f"{name}_step.mlir"]):
        done = subprocess.run([str(word) for word in command], input=portable, capture_output=True, text=True)
        if done.returncode:
            return f"{command[0]}: {done.stderr[:300]}"
        portable = done.stdout
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", help="steps whose name matches")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    chosen = {name: make for name, make in STEPS.items() if re.search(options.only, name)}
    failures = {name: why for name, make in chosen.items() if (why := convert(make, options.folder, name))}
    for name, why in failures.items():
        print(f"{name}: {why}")
    print(f"{len(chosen) - len(failures)} of {len(chosen)} steps written")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
