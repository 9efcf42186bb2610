# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers, losses and models."""
import jax
import jax.numpy as jnp
import optax
from jax import lax

from optax_steps.basics import (BATCH, HIDDEN, INPUTS, LABELS, OUTPUTS, PARAMS, X, Y, by_gradient, by_optimizer,
                                classified, cross_entropy, dense, first, mlp, squared)

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
    "nadamw": optax.nadamw(1e-3), "adamaxw": optax.adamaxw(1e-3), "adan": optax.adan(1e-3), "sm3": optax.sm3(1e-2),
    "rprop": optax.rprop(1e-3), "optimistic": optax.optimistic_gradient_descent(1e-2), "adopt": optax.contrib.adopt(1e-3),
    "ademamix": optax.contrib.ademamix(1e-3), "prodigy": optax.contrib.prodigy(1.0), "dadapt": optax.contrib.dadapt_adamw(1.0),
    "dog": optax.contrib.dog(1.0), "cocob": optax.contrib.cocob(), "muon": optax.contrib.muon(1e-3),
    "masked": optax.masked(optax.adam(1e-3), [True, False, True]),
    "zero_nans": optax.chain(optax.zero_nans(), optax.adam(1e-3)),
    "apply_every": optax.chain(optax.adam(1e-3), optax.apply_every(4)),
    "trust_ratio": optax.chain(optax.scale_by_adam(), optax.scale_by_trust_ratio(), optax.scale(-1e-3)),
    "normalize": optax.chain(optax.normalize_by_update_norm(), optax.sgd(0.1)),
    "schedule_piecewise": optax.sgd(optax.piecewise_constant_schedule(0.1, {10: 0.1, 20: 0.1}), momentum=0.9),
    "schedule_one_cycle": optax.adamw(optax.cosine_onecycle_schedule(100, 1e-2)),
    "schedule_joined": optax.sgd(optax.join_schedules([optax.linear_schedule(0, 0.1, 5), optax.cosine_decay_schedule(0.1, 50)], [5])),
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
