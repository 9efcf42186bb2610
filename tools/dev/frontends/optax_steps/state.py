# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is returned, how state is kept, and loops."""
import jax
import jax.flatten_util
import jax.numpy as jnp
import optax
from jax import lax

from optax_steps.basics import (BATCH, HIDDEN, INPUTS, LABELS, OUTPUTS, PARAMS, STEPS, X, Y, by_gradient, by_optimizer,
                                classified, dense, first, mlp, moved, squared, step, zeros)

# These steps differ in what they return, and in how they keep state.
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
    def discriminator_loss(discriminator, generator, z, x):
        return jnp.mean(jax.nn.softplus(-mlp(discriminator, x))) + jnp.mean(jax.nn.softplus(mlp(discriminator, mlp(generator, z))))

    def train(generator, discriminator, z, x):
        lost, g = jax.value_and_grad(discriminator_loss)(discriminator, generator, z, x)
        won, h = jax.value_and_grad(lambda m: jnp.mean(jax.nn.softplus(-mlp(discriminator, mlp(m, z)))))(generator)
        return moved(generator, h), moved(discriminator, g), lost, won
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
