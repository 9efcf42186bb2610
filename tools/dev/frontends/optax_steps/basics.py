# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What steps are made of, and the list of them."""
import jax
import jax.numpy as jnp
import optax

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
