# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks and ways of training that people publish: language models, experts, generative models, reinforcement, distillation."""
import functools

import jax
import jax.numpy as jnp
import optax
from jax import lax

from optax_steps.basics import (BATCH, HIDDEN, INPUTS, LABELS, OUTPUTS, PARAMS, X, Y, by_gradient, by_optimizer, classified,
                                cross_entropy, dense, first, mlp, moved, squared, step, zeros)


# A language model: rotary positions, RMS norms, gated layers, tied embedding, smoothed labels, padding, a penalty on logits.
def language_model_parameters(layers, width=16, vocabulary=24):
    key = jax.random.key(0)
    shapes = {name: (width, width) for name in ("q", "k", "v", "o")} | {name: (width, 2 * width) for name in ("up", "gate")}
    layer = {name: jax.random.normal(key, shape) * 0.1 for name, shape in shapes.items()}
    layer |= {"before": jnp.ones(width), "between": jnp.ones(width), "down": jax.random.normal(key, (2 * width, width)) * 0.1}
    return {"embedding": jax.random.normal(key, (vocabulary, width)) * 0.1, "layers": [layer] * layers, "last": jnp.ones(width)}


def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def rotated(x):
    time, width = x.shape[-2:]
    angle = jnp.arange(time)[:, None] / 10000 ** (jnp.arange(0, width, 2) / width)
    even, odd, cosine, sine = x[..., ::2], x[..., 1::2], jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).reshape(x.shape)


def attended(p, x):
    def heads(y):
        return y.reshape(*y.shape[:2], 2, -1).transpose(0, 2, 1, 3)
    q, k, v = rotated(heads(x @ p["q"])), rotated(heads(x @ p["k"])), heads(x @ p["v"])
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / jnp.sqrt(8.0)
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    mixed = jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(scores, -1), v)
    return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["o"]


def language_model_loss(p, words, targets, mask):
    h = p["embedding"][words]
    for layer in p["layers"]:
        h = h + attended(layer, rms_norm(h, layer["before"]))
        x = rms_norm(h, layer["between"])
        h = h + (jax.nn.silu(x @ layer["gate"]) * (x @ layer["up"])) @ layer["down"]
    logits = rms_norm(h, p["last"]) @ p["embedding"].T
    smoothed = optax.smooth_labels(jax.nn.one_hot(targets, logits.shape[-1]), 0.1)
    losses = optax.softmax_cross_entropy(logits, smoothed) + 1e-4 * jax.nn.logsumexp(logits, -1) ** 2
    return jnp.sum(mask * losses) / jnp.maximum(mask.sum(), 1)


WORDS, MASK = jnp.zeros((2, 6), jnp.int32), jnp.ones((2, 6))
CLIPPED_ADAMW = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
    optax.warmup_cosine_decay_schedule(0, 1e-3, 10, 100), b2=0.95, weight_decay=0.1,
    mask=lambda p: jax.tree.map(lambda q: q.ndim > 1, p)))
by_optimizer("language_model", CLIPPED_ADAMW, language_model_loss, language_model_parameters(1), (WORDS, WORDS, MASK))
by_optimizer("language_model_lion", optax.lion(1e-4), language_model_loss, language_model_parameters(2), (WORDS, WORDS, MASK))


@step
def language_model_micro_batches():
    def train(params, state, *data):
        def one(carried, batch):
            value, g = jax.value_and_grad(language_model_loss)(params, *batch)
            return (carried[0] + value, jax.tree.map(jnp.add, carried[1], g)), value
        (value, g), values = lax.scan(one, (0.0, zeros(params)), data)
        updates, state = CLIPPED_ADAMW.update(jax.tree.map(lambda q: q / 3, g), state, params)
        return optax.apply_updates(params, updates), state, value / 3, values
    params = language_model_parameters(1)
    return train, (params, CLIPPED_ADAMW.init(params), *(jnp.stack([v] * 3) for v in (WORDS, WORDS, MASK)))


def experts_loss(p, x, y):
    scores = x @ p["router"]
    weights, chosen = lax.top_k(jax.nn.softmax(scores), 2)
    gate = jnp.zeros_like(scores).at[jnp.arange(BATCH)[:, None], chosen].set(weights / weights.sum(-1, keepdims=True))
    made = jnp.einsum("beh,eho->beo", jax.nn.gelu(jnp.einsum("bi,eih->beh", x, p["up"])), p["down"])
    balance = jnp.sum(jnp.mean(gate > 0, 0) * jax.nn.softmax(scores).mean(0))
    return jnp.mean((jnp.einsum("beo,be->bo", made, gate) - y) ** 2) + 0.01 * balance


by_optimizer("experts", optax.adamw(1e-3), experts_loss, {"router": first([INPUTS, 4])[0]["w"], "up": jnp.zeros((4, INPUTS, HIDDEN)),
                                                          "down": jnp.zeros((4, HIDDEN, OUTPUTS))})


# Losses between several forward passes.
by_gradient("distillation", lambda p, teacher, x, labels: (cross_entropy(mlp(p, x), labels) + 2 * optax.kl_divergence(
    jax.nn.log_softmax(mlp(p, x) / 2), jax.nn.softmax(mlp(teacher, x) / 2))).mean(), data=(PARAMS, X, LABELS))
by_gradient("inner_step", lambda p, x, y, later, target: squared(moved(p, jax.grad(squared)(p, x, y)), later, target), data=(X, Y, X, Y))
by_gradient("masked_rows", lambda p, x, y, m: jnp.sum(m[:, None] * (mlp(p, x) - y) ** 2) / jnp.sum(m), data=(X, Y, jnp.ones(BATCH)))
by_gradient("focal", lambda p, x, labels: optax.sigmoid_focal_loss(mlp(p, x), jax.nn.one_hot(labels, OUTPUTS), gamma=2.0).mean(), data=(X, LABELS))
by_gradient("poisson", lambda p, x, y: jnp.mean(jnp.exp(mlp(p, x)) - y * mlp(p, x)))
by_gradient("quantile", lambda p, x, y: jnp.mean(jnp.maximum(0.9 * (y - mlp(p, x)), -0.1 * (y - mlp(p, x)))))
by_gradient("triplet", lambda p, x, near, far: jnp.mean(jnp.maximum(
    jnp.sum((mlp(p, x) - mlp(p, near)) ** 2, -1) - jnp.sum((mlp(p, x) - mlp(p, far)) ** 2, -1) + 0.2, 0)), data=(X, X, X))
by_gradient("alignment", lambda p, x, labels: jnp.mean(optax.ctc_loss(mlp(p, x), jnp.zeros(x.shape[:2]), labels, jnp.zeros(labels.shape))),
            data=(jnp.zeros((2, 5, INPUTS)), jnp.ones((2, 3), jnp.int32)))
by_gradient("differential_equation", lambda p, x, y: jnp.mean((lax.scan(
    lambda h, _: (h + 0.25 * jnp.tanh(dense(p, h)), None), x, None, 4)[0] - y) ** 2), first([INPUTS, INPUTS])[0], (X, X))


def rounded_weights(params):
    """To 8 bits, with the gradient passed straight through."""
    def through(w):
        scale = jnp.max(jnp.abs(w)) / 127
        return w + lax.stop_gradient(jnp.round(w / scale) * scale - w)
    return [p | {"w": through(p["w"])} for p in params]


by_gradient("quantization_aware", lambda p, x, y: squared(rounded_weights(p), x, y))


# Generative models and reinforcement, with keys of random numbers.
@step
def autoencoder():
    params, adam = {"to": first([INPUTS, HIDDEN, 8]), "back": first([4, HIDDEN, INPUTS])}, optax.adam(1e-3)

    def loss(p, key, x):
        mean, spread = jnp.split(mlp(p["to"], x), 2, -1)
        made = mlp(p["back"], mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape))
        return jnp.mean(optax.sigmoid_binary_cross_entropy(made, x).sum(-1) - 0.5 * jnp.sum(1 + spread - mean ** 2 - jnp.exp(spread), -1))

    def train(p, state, key, x):
        key, own = jax.random.split(key)
        value, g = jax.value_and_grad(loss)(p, own, x)
        updates, state = adam.update(g, state)
        return optax.apply_updates(p, updates), state, key, value
    return train, (params, adam.init(params), jax.random.PRNGKey(0), X)


@step
def diffusion():
    params, adamw = first([INPUTS + 1, HIDDEN, HIDDEN, INPUTS]), optax.adamw(1e-3)

    def loss(p, key, x):
        for_time, for_noise = jax.random.split(key)
        time, noise = jax.random.uniform(for_time, (BATCH, 1)), jax.random.normal(for_noise, x.shape)
        kept = jnp.cos(time * jnp.pi / 2)
        seen = jnp.concatenate([kept * x + jnp.sqrt(1 - kept * kept) * noise, time], 1)
        return jnp.mean((mlp(p, seen, jax.nn.silu) - noise) ** 2)

    def train(p, average, state, count, x):
        value, g = jax.value_and_grad(loss)(p, jax.random.fold_in(jax.random.PRNGKey(0), count), x)
        updates, state = adamw.update(g, state, p)
        p, keep = optax.apply_updates(p, updates), jnp.minimum(0.9999, (1 + count) / (10 + count))
        return p, jax.tree.map(lambda a, q: keep * a + (1 - keep) * q, average, p), state, count + 1, value
    return train, (params, params, adamw.init(params), jnp.int32(0), X)


@step
def policy_and_value():
    params = {"trunk": first([INPUTS, HIDDEN]), "policy": first([HIDDEN, OUTPUTS])[0], "value": first([HIDDEN, 1])[0]}
    optimizer, none = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4, eps=1e-5)), jnp.zeros(BATCH)

    def loss(p, x, actions, advantage, returns, old):
        h = jnp.tanh(mlp(p["trunk"], x))
        logs = jax.nn.log_softmax(dense(p["policy"], h))
        ratio = jnp.exp(jnp.take_along_axis(logs, actions[:, None], 1)[:, 0] - old)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        chosen = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage).mean()
        missed = ((dense(p["value"], h)[:, 0] - returns) ** 2).mean()
        return chosen + 0.5 * missed + 0.01 * (jnp.exp(logs) * logs).sum(-1).mean(), (chosen, missed)

    def train(p, state, *data):
        (value, parts), g = jax.value_and_grad(loss, has_aux=True)(p, *data)
        updates, state = optimizer.update(g, state)
        return optax.apply_updates(p, updates), state, value, *parts
    return train, (params, optimizer.init(params), X, LABELS, none, none, none)


@step
def two_views():
    """A network predicts what its own average sees (BYOL)."""
    def unit(x):
        return x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-6)

    def train(p, target, velocity, x, y):
        def loss(p):
            def side(a, b):
                return -jnp.mean(jnp.sum(unit(mlp(p["head"], mlp(p["body"], a))) * lax.stop_gradient(unit(mlp(target, b))), -1))
            return side(x, y) + side(y, x)
        value, g = jax.value_and_grad(loss)(p)
        velocity = jax.tree.map(lambda v, q: 0.9 * v + q, velocity, g)
        p = moved(p, velocity)
        return p, jax.tree.map(lambda t, q: 0.99 * t + 0.01 * q, target, p["body"]), velocity, value
    params = {"body": PARAMS, "head": first([OUTPUTS, OUTPUTS])}
    return train, (params, PARAMS, zeros(params), X, X)


@step
def adversaries_in_turn():
    """The second network is trained against the first as just updated: two steps in one."""
    a, b = optax.adam(1e-4, b1=0.5), optax.adam(4e-4, b1=0.5)
    generator, discriminator = first([6, HIDDEN, INPUTS], 1), first([INPUTS, HIDDEN, 1], 2)

    def train(generator, discriminator, ours, theirs, z, x):
        def discriminator_loss(q):
            return jnp.mean(jax.nn.relu(1 - mlp(q, x))) + jnp.mean(jax.nn.relu(1 + mlp(q, mlp(generator, z))))
        lost, g = jax.value_and_grad(discriminator_loss)(discriminator)
        updates, theirs = b.update(g, theirs)
        discriminator = optax.apply_updates(discriminator, updates)
        won, g = jax.value_and_grad(lambda q: -jnp.mean(mlp(discriminator, mlp(q, z))))(generator)
        updates, ours = a.update(g, ours)
        return optax.apply_updates(generator, updates), discriminator, ours, theirs, lost, won
    return train, (generator, discriminator, a.init(generator), b.init(discriminator), jnp.zeros((BATCH, 6)), X)


# Recurrence that goes on from step to step, images, and optimizers that contract.
@step
def carried_recurrence():
    params = {"i": jnp.zeros((INPUTS, 4 * HIDDEN)), "h": jnp.zeros((HIDDEN, 4 * HIDDEN)), "b": jnp.zeros(4 * HIDDEN), "o": first([HIDDEN, OUTPUTS])[0]}
    optimizer, none = optax.chain(optax.clip_by_global_norm(1.0), optax.rmsprop(1e-3)), jnp.zeros((BATCH, HIDDEN))

    def cell(p, carried, x):
        h, c = carried
        i, f, g, o = jnp.split(x @ p["i"] + h @ p["h"] + p["b"], 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def loss(p, carried, xs, ys):
        carried, hs = lax.scan(functools.partial(cell, p), carried, xs)
        return jnp.mean((dense(p["o"], hs) - ys) ** 2), carried

    def train(p, state, carried, xs, ys):
        (value, carried), g = jax.value_and_grad(loss, has_aux=True)(p, carried, xs, ys)
        updates, state = optimizer.update(g, state)
        return optax.apply_updates(p, updates), state, carried, value
    return train, (params, optimizer.init(params), (none, none), jnp.zeros((5, BATCH, INPUTS)), jnp.zeros((5, BATCH, OUTPUTS)))


@step
def residual_network():
    layout, optimizer = ("NHWC", "HWIO", "NHWC"), optax.sgd(optax.cosine_decay_schedule(0.1, 100), momentum=0.9, nesterov=True)
    params = {"kernels": [jnp.zeros((3, 3, 3, 8)), jnp.zeros((3, 3, 8, 8)), jnp.zeros((1, 1, 8, 16))],
              "scales": [jnp.ones(8), jnp.ones(8), jnp.ones(16)], "shifts": [jnp.zeros(8), jnp.zeros(8), jnp.zeros(16)], "last": first([16, 10])[0]}

    def loss(p, running, images, labels):
        seen = []

        def layer(x, i, stride=1):
            x = lax.conv_general_dilated(x, p["kernels"][i], (stride, stride), "SAME", dimension_numbers=layout)
            mean = x.mean((0, 1, 2))
            variance = jnp.mean(x * x, (0, 1, 2)) - mean * mean
            seen.append((mean, variance))
            return (x - mean) * lax.rsqrt(variance + 1e-5) * p["scales"][i] + p["shifts"][i]
        h = jax.nn.relu(layer(images, 0))
        h = jax.nn.relu(layer(jax.nn.relu(h + layer(h, 1)), 2, stride=2))
        logits = dense(p["last"], h.mean((1, 2)))
        decay = 1e-4 * sum(jnp.sum(k * k) for k in p["kernels"])
        return cross_entropy(logits, labels).mean() + decay, (jax.tree.map(lambda r, s: 0.9 * r + 0.1 * s, running, seen), logits)

    def train(p, running, state, images, labels):
        (value, (running, logits)), g = jax.value_and_grad(loss, has_aux=True)(p, running, images, labels)
        updates, state = optimizer.update(g, state, p)
        return optax.apply_updates(p, updates), running, state, {"loss": value, "right": (logits.argmax(-1) == labels).mean()}
    running = [(jnp.zeros(c), jnp.ones(c)) for c in (8, 8, 16)]
    return train, (params, running, optimizer.init(params), jnp.zeros((4, 8, 8, 3)), jnp.zeros(4, jnp.int32))


@step
def projected_gradients():
    """Adam on gradients projected to two dimensions (GaLore)."""
    def train(p, projections, m, v, count, x, y):
        value, g = jax.value_and_grad(squared)(p, x, y)
        count = count + 1
        low = [q.T @ d["w"] for q, d in zip(projections, g)]
        m, v = [0.9 * a + 0.1 * d for a, d in zip(m, low)], [0.999 * a + 0.001 * d * d for a, d in zip(v, low)]
        up = [q @ ((a / (1 - 0.9 ** count)) / (jnp.sqrt(b / (1 - 0.999 ** count)) + 1e-8)) for q, a, b in zip(projections, m, v)]
        new = [{"w": layer["w"] - 1e-3 * u, "b": layer["b"] - 0.1 * d["b"]} for layer, u, d in zip(p, up, g)]
        return new, projections, m, v, count, value
    moments = [jnp.zeros((2, layer["w"].shape[1])) for layer in PARAMS]
    return train, (PARAMS, [jnp.zeros((len(layer["w"]), 2)) for layer in PARAMS], moments, moments, jnp.float32(0), X, Y)


@step
def preconditioned():
    """Gradients times the inverse root of their summed outer products, by Newton's iteration (Shampoo)."""
    def root(a):
        one = jnp.eye(len(a))
        y, z = a / jnp.linalg.norm(a), one
        for _ in range(3):
            t = 0.5 * (3 * one - z @ y)
            y, z = y @ t, t @ z
        return z

    def train(p, sums, x, y):
        value, g = jax.value_and_grad(squared)(p, x, y)
        sums = [s + d["w"] @ d["w"].T for s, d in zip(sums, g)]
        new = [{"w": layer["w"] - 0.1 * root(s + 1e-4 * jnp.eye(len(s))) @ d["w"], "b": layer["b"] - 0.1 * d["b"]}
               for layer, d, s in zip(p, g, sums)]
        return new, sums, value
    return train, (PARAMS, [jnp.eye(len(layer["w"])) for layer in PARAMS], X, Y)


@step
def averaged_over_devices():
    def train(p, velocity, x, y):
        def one(x, y):
            value, g = jax.value_and_grad(squared)(p, x, y)
            return lax.pmean(value, "device"), lax.pmean(g, "device")
        value, g = jax.vmap(one, axis_name="device", out_axes=None)(x.reshape(2, BATCH // 2, -1), y.reshape(2, BATCH // 2, -1))
        velocity = jax.tree.map(lambda v, q: 0.9 * v + q, velocity, g)
        return moved(p, velocity), velocity, value
    return train, (PARAMS, zeros(PARAMS), X, Y)


@step
def update_in_a_branch():
    adam = optax.adam(1e-3)

    def train(p, state, sums, count, x, y):
        value, g = jax.value_and_grad(squared)(p, x, y)
        sums, count = jax.tree.map(jnp.add, sums, g), count + 1

        def update(held):
            p, state, sums = held
            updates, state = adam.update(jax.tree.map(lambda q: q / 4, sums), state)
            return optax.apply_updates(p, updates), state, zeros(sums)
        p, state, sums = lax.cond(count % 4 == 0, update, lambda held: held, (p, state, sums))
        return p, state, sums, count, value
    return train, (PARAMS, adam.init(PARAMS), zeros(PARAMS), jnp.int32(0), X, Y)


# A codebook follows the codes that are next to it: nothing contracts its gradient.
def coded_loss(p, x):
    z = jnp.tanh(x @ p["encode"])
    nearest = ((z[:, None] - p["codes"][None]) ** 2).sum(-1).argmin(-1)
    q = p["codes"][nearest]
    restored = (z + lax.stop_gradient(q - z)) @ p["decode"]
    return jnp.mean((restored - x) ** 2) + jnp.mean((lax.stop_gradient(z) - q) ** 2) + 0.25 * jnp.mean((z - lax.stop_gradient(q)) ** 2)


by_gradient("codebook", coded_loss, {"encode": PARAMS[0]["w"], "decode": PARAMS[0]["w"].T, "codes": PARAMS[1]["w"]}, (X,))

# One layer is frozen by updates of zero: it is replaced by itself.
by_optimizer("frozen_by_updates", optax.multi_transform({"trained": optax.adamw(1e-3), "frozen": optax.set_to_zero()},
                                                        [{"w": "trained", "b": "trained"}, {"w": "frozen", "b": "frozen"}, {"w": "trained", "b": "trained"}]))


@step
def mean_teacher():
    """A second loss, whose weight is an argument, against a running average of the parameters."""
    optimizer = optax.adam(1e-3)

    def loss(params, teacher, x, labels, unlabelled, noise, weight):
        apart = jax.nn.softmax(mlp(params, unlabelled + noise)) - jax.nn.softmax(mlp(teacher, unlabelled))
        return classified(params, x, labels) + weight * jnp.mean(apart ** 2)

    def train(params, teacher, state, *data):
        value, gradients = jax.value_and_grad(loss)(params, teacher, *data)
        updates, state = optimizer.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
        return params, optax.incremental_update(params, teacher, 0.01), state, value
    return train, (PARAMS, PARAMS, optimizer.init(PARAMS), X, LABELS, X, X, jnp.float32(1))
