# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What steps are made of, and the list of them."""
import torch
from torch.func import functional_call, grad_and_value

STEPS = {}  # name: function that makes a step and its first arguments


def step(make):
    STEPS[make.__name__] = make
    return make


def sgd(rate=0.05):
    return lambda p, g, s: ([a - rate * b for a, b in zip(p, g)], s), lambda p: []


def zeros(p):
    return [torch.zeros_like(x) for x in p]


def momentum(rate=0.05, keep=0.9, decay=1e-4, nesterov=False):
    def update(p, g, s):
        g = [b + decay * a for a, b in zip(p, g)]
        s = [keep * m + b for m, b in zip(s, g)]
        return [a - rate * (b + keep * m if nesterov else m) for a, b, m in zip(p, g, s)], s
    return update, zeros


def adamw(rate=1e-3, first=0.9, second=0.999, epsilon=1e-8, decay=0.01):
    """First and second moments of all parameters, and the count of steps."""
    def update(p, g, s):
        n, count = len(p), s[-1] + 1
        m = [first * a + (1 - first) * b for a, b in zip(s[:n], g)]
        v = [second * a + (1 - second) * b * b for a, b in zip(s[n:], g)]
        large, small = 1 - torch.pow(torch.tensor(first), count), 1 - torch.pow(torch.tensor(second), count)
        moved = [a * (1 - rate * decay) - rate * (b / large) / (torch.sqrt(c / small) + epsilon) for a, b, c in zip(p, m, v)]
        return moved, [*m, *v, count]
    return update, lambda p: [*zeros(p), *zeros(p), torch.zeros(())]


def rmsprop(rate=1e-3):
    def update(p, g, s):
        s = [0.99 * v + 0.01 * b * b for v, b in zip(s, g)]
        return [a - rate * b / (v.sqrt() + 1e-8) for a, b, v in zip(p, g, s)], s
    return update, zeros


def adagrad(rate=1e-2):
    def update(p, g, s):
        s = [v + b * b for v, b in zip(s, g)]
        return [a - rate * b / (v.sqrt() + 1e-10) for a, b, v in zip(p, g, s)], s
    return update, lambda p: [torch.full_like(x, 0.1) for x in p]


def lion(rate=1e-4):
    def update(p, g, s):
        signs = [torch.sign(0.9 * m + 0.1 * b) for m, b in zip(s, g)]
        return [a - rate * (u + 0.01 * a) for a, u in zip(p, signs)], [0.99 * m + 0.01 * b for m, b in zip(s, g)]
    return update, zeros


def lamb(rate=1e-3):
    update_adam, start = adamw(rate=1.0)

    def update(p, g, s):
        moved, s = update_adam(p, g, s)
        steps = [a - b for a, b in zip(p, moved)]
        trust = [torch.where(u.norm() > 0, a.norm() / (u.norm() + 1e-6), 1.0) for a, u in zip(p, steps)]
        return [a - rate * t * u for a, t, u in zip(p, trust, steps)], s
    return update, start


def clipped(optimizer, limit=1.0):
    """As clip_grad_norm_ does it."""
    update, start = optimizer

    def clip(p, g, s):
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(x) for x in g]))
        factor = torch.clamp(limit / (norm + 1e-6), max=1.0)
        return update(p, [x * factor for x in g], s)
    return clip, start


def clipped_by_value(optimizer, limit=0.01):
    update, start = optimizer
    return lambda p, g, s: update(p, [x.clamp(-limit, limit) for x in g], s), start


def weights_of(model):
    return [p.detach().clone() for p in model.parameters()]


def loss_of(model, loss):
    """The loss as a function of parameters in order, and of data."""
    names = [name for name, _ in model.named_parameters()]

    def compute(parameters, *data):
        return loss(lambda *x: functional_call(model, dict(zip(names, parameters)), x), *data)
    return compute


def prepared(model, loss, optimizer):
    """The loss as a function, the update, the first weights and the first state."""
    parameters, (update, start) = weights_of(model), optimizer
    return loss_of(model, loss), update, parameters, start(parameters)


def trained(model, loss, optimizer, data):
    """A step of `optimizer` on loss(model, *data): parameters, state and data to parameters, state and the loss."""
    compute, update, parameters, state = prepared(model, loss, optimizer)

    def run(*arguments):
        p, s, d = split(arguments, len(parameters), len(state))
        gradients, value = grad_and_value(compute)(p, *d)
        p, s = update(p, gradients, s)
        return *p, *s, value
    return run, (*parameters, *state, *data)


def split(arguments, *counts):
    """Lists of so many arguments each, and of the rest."""
    parts, begin = [], 0
    for count in (*counts, len(arguments) - sum(counts)):
        parts.append(list(arguments[begin:begin + count]))
        begin += count
    return parts
