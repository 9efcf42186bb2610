# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that are more than a loss and an optimizer."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, grad_and_value

from torch_steps.basics import adamw, loss_of, momentum, prepared, sgd, split, step, trained, weights_of
from torch_steps.networks import CLASSES, GPT, MLP, classified, images, rows, sentences


@step
def adapters():
    """Low ranks beside weights that stay: frozen weights are arguments that nothing replaces."""
    frozen, (update, start) = weights_of(MLP()), adamw()
    parameters = [torch.randn(32, 4) * 0.1, torch.randn(4, 64) * 0.1, torch.randn(64, 4) * 0.1, torch.randn(4, CLASSES) * 0.1]
    state = start(parameters)

    def run(*arguments):
        p, s, f, (x, labels) = split(arguments, len(parameters), len(state), len(frozen))

        def loss(p):
            h = F.relu(x @ f[0].t() + f[1] + (x @ p[0]) @ p[1])
            h = F.relu(h @ f[2].t() + f[3])
            return F.cross_entropy(h @ f[4].t() + f[5] + (h @ p[2]) @ p[3], labels)
        gradients, value = grad_and_value(loss)(p)
        p, s = update(p, gradients, s)
        return *p, *s, value
    return run, (*parameters, *state, *frozen, *rows())


@step
def distilled():
    """A student learns what a teacher says, who stays as it is."""
    student, teacher, (update, start) = MLP(), MLP(), momentum()
    parameters, frozen = weights_of(student), weights_of(teacher)
    state, names = start(parameters), [n for n, _ in student.named_parameters()]

    def run(*arguments):
        p, s, f, (x, labels) = split(arguments, len(parameters), len(state), len(frozen))
        told = functional_call(teacher, dict(zip(names, f)), (x,)).detach()

        def loss(p):
            y = functional_call(student, dict(zip(names, p)), (x,))
            return F.cross_entropy(y, labels) + 4 * F.kl_div(F.log_softmax(y / 2, -1), (told / 2).softmax(-1), reduction="batchmean")
        gradients, value = grad_and_value(loss)(p)
        p, s = update(p, gradients, s)
        return *p, *s, value
    return run, (*parameters, *state, *frozen, *rows())


@step
def adversaries():
    """A discriminator and a generator, each with a loss and an optimizer."""
    generator, discriminator, (update, start) = MLP(16, 32), MLP(32, 1), adamw()
    of_generator, of_discriminator = weights_of(generator), weights_of(discriminator)
    states = start(of_generator), start(of_discriminator)
    n, m = len(of_generator), len(states[0])

    def run(*arguments):
        a, b, s, t, (noise, x) = split(arguments, n, n, m, m)
        made = lambda a: functional_call(generator, dict(zip([k for k, _ in generator.named_parameters()], a)), (noise,))
        scores = lambda b, x: functional_call(discriminator, dict(zip([k for k, _ in discriminator.named_parameters()], b)), (x,))
        fake = made(a).detach()
        gradients, loss = grad_and_value(lambda b: F.softplus(-scores(b, x)).mean() + F.softplus(scores(b, fake)).mean())(b)
        b, t = update(b, gradients, t)
        gradients, other = grad_and_value(lambda a: F.softplus(-scores(b, made(a))).mean())(a)
        a, s = update(a, gradients, s)
        return *a, *b, *s, *t, loss, other
    return run, (*of_generator, *of_discriminator, *states[0], *states[1], torch.randn(8, 16), torch.randn(8, 32))


@step
def sharpness():
    """SAM: the gradient where a first one points uphill."""
    model, rate = MLP(), 0.05
    compute, parameters = loss_of(model, classified), weights_of(model)

    def run(*arguments):
        p, data = split(arguments, len(parameters))
        uphill, value = grad_and_value(compute)(p, *data)
        norm = torch.sqrt(sum((g * g).sum() for g in uphill)) + 1e-12
        gradients = grad(compute)([a + 0.05 * g / norm for a, g in zip(p, uphill)], *data)
        return *[a - rate * g for a, g in zip(p, gradients)], value
    return run, (*parameters, *rows())


@step
def gradient_penalty():
    """A gradient within the loss."""
    def loss(model, x, y):
        slope = grad(lambda x: model(x).sum())(x)
        return F.mse_loss(model(x), y) + 10 * ((slope.norm(dim=1) - 1) ** 2).mean()
    return trained(MLP(32, 1), loss, adamw(), (torch.randn(8, 32), torch.randn(8, 1)))


@step
def two_tasks():
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk, self.a, self.b = nn.Linear(32, 32), nn.Linear(32, CLASSES), nn.Linear(32, 1)

        def forward(self, x):
            x = F.relu(self.trunk(x))
            return self.a(x), self.b(x)

    def loss(model, x, labels, y):
        classes, value = model(x)
        return F.cross_entropy(classes, labels) + 0.3 * F.mse_loss(value, y)
    return trained(Heads(), loss, adamw(), (*rows(), torch.randn(8, 1)))


@step
def micro_batches():
    """The mean of four gradients."""
    compute, update, parameters, state = prepared(MLP(), classified, adamw())

    def run(*arguments):
        p, s, (x, labels) = split(arguments, len(parameters), len(state))
        total, sums = 0, None
        for part, target in zip(x.chunk(4), labels.chunk(4)):
            gradients, value = grad_and_value(compute)(p, part, target)
            sums = gradients if sums is None else [a + b for a, b in zip(sums, gradients)]
            total = total + value / 4
        p, s = update(p, [g / 4 for g in sums], s)
        return *p, *s, total
    return run, (*parameters, *state, *rows())


@step
def own_loss_scale():
    """What GradScaler does, written into the step."""
    compute, update, parameters, state = prepared(MLP(), classified, momentum())

    def run(*arguments):
        p, s, (scale, clean, x, labels) = split(arguments, len(parameters), len(state))
        gradients, value = grad_and_value(lambda p: compute(p, x, labels) * scale)(p)
        gradients = [g / scale for g in gradients]
        finite = torch.stack([torch.isfinite(g).all() for g in gradients]).all()
        q, t = update(p, gradients, s)
        q, t = ([torch.where(finite, b, a) for a, b in zip(*pair)] for pair in ((p, q), (s, t)))
        clean = torch.where(finite, clean + 1, 0.0)
        grows = clean >= 2000
        scale = torch.where(finite, torch.where(grows, scale * 2, scale), scale * 0.5)
        return *q, *t, scale, torch.where(grows, 0.0, clean), value / scale
    return run, (*parameters, *state, torch.tensor(1024.0), torch.tensor(0.0), *rows())


@step
def averaged():
    """An average of the weights moves along."""
    compute, update, parameters, state = prepared(MLP(), classified, momentum())

    def run(*arguments):
        p, s, mean, data = split(arguments, len(parameters), len(state), len(parameters))
        gradients, value = grad_and_value(compute)(p, *data)
        p, s = update(p, gradients, s)
        return *p, *s, *[0.99 * m + 0.01 * a for m, a in zip(mean, p)], value
    return run, (*parameters, *state, *parameters, *rows())


@step
def masters():
    """Weights in bf16, and their f32 masters, by the step's own hand."""
    model, rate = MLP(), 0.05
    compute, parameters = loss_of(model, classified), weights_of(model)

    def run(*arguments):
        p, (x, labels) = split(arguments, len(parameters))
        narrow = [a.bfloat16() for a in p]
        gradients, value = grad_and_value(lambda q: compute(q, x.bfloat16(), labels).float())(narrow)
        return *[a - rate * g.float() for a, g in zip(p, gradients)], value
    return run, (*parameters, *rows())


@step
def running_statistics():
    """Batch norm, its statistics written out: torch's own are lost where a step is traced."""
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.scale, self.shift = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))
            self.c = nn.Linear(8, CLASSES)

        def forward(self, x):
            x = self.a(x)
            mean, spread = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)
            y = F.batch_norm(x, None, None, self.scale, self.shift, training=True)
            return self.c(F.relu(y).mean((2, 3))), mean, spread
    model, (update, start) = Normed(), momentum()
    names, parameters = [n for n, _ in model.named_parameters()], weights_of(model)
    state = start(parameters)

    def run(*arguments):
        p, s, (mean, spread, x, labels) = split(arguments, len(parameters), len(state))

        def loss(p):
            y, *found = functional_call(model, dict(zip(names, p)), (x,))
            return F.cross_entropy(y, labels), found
        gradients, (value, found) = grad_and_value(loss, has_aux=True)(p)
        p, s = update(p, gradients, s)
        return *p, *s, 0.9 * mean + 0.1 * found[0], 0.9 * spread + 0.1 * found[1], value
    return run, (*parameters, *state, torch.zeros(8), torch.ones(8), *images())


@step
def dropped():
    """Dropout by masks that come as data, and a rate that is an argument."""
    model = MLP()
    parameters = weights_of(model)

    def run(*arguments):
        p, (rate, x, labels, mask) = split(arguments, len(parameters))

        def loss(p):
            h = F.relu(F.linear(x, p[0], p[1])) * mask * 2
            return F.cross_entropy(F.linear(F.relu(F.linear(h, p[2], p[3])), p[4], p[5]), labels)
        gradients, value = grad_and_value(loss)(p)
        return *[a - rate * g for a, g in zip(p, gradients)], value
    return run, (*parameters, torch.tensor(0.05), *rows(), (torch.rand(8, 64) < 0.5).float())


@step
def denoised():
    """Diffusion: noise is guessed that a step number has mixed in."""
    class Guess(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.t, self.b = nn.Linear(32, 64), nn.Linear(16, 64), nn.Linear(64, 32)

        def forward(self, x, t):
            angles = t[:, None].float() * torch.exp(-torch.arange(8).float())
            return self.b(F.silu(self.a(x) + self.t(torch.cat([angles.sin(), angles.cos()], -1))))

    def loss(model, x, noise, t):
        kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100), 0)[t][:, None]
        return F.mse_loss(model(kept.sqrt() * x + (1 - kept).sqrt() * noise, t), noise)
    return trained(Guess(), loss, adamw(), (torch.randn(8, 32), torch.randn(8, 32), torch.randint(0, 100, (8,))))


@step
def groups():
    """Weights decay, biases and norms do not; the rate follows a cosine of the count."""
    compute, update, parameters, state = prepared(GPT(), classified, adamw(rate=1.0))
    undecayed, _ = adamw(rate=1.0, decay=0.0)

    def run(*arguments):
        p, s, data = split(arguments, len(parameters), len(state))
        rate = 1e-3 * 0.5 * (1 + torch.cos(torch.pi * s[-1] / 1000)) * torch.clamp((s[-1] + 1) / 10, max=1.0)
        gradients, value = grad_and_value(compute)(p, *data)
        (moved, t), (other, _) = update(p, gradients, s), undecayed(p, gradients, s)
        chosen = [a if a.dim() > 1 else b for a, b in zip(moved, other)]
        return *[a + rate * (b - a) for a, b in zip(p, chosen)], *t, value
    return run, (*parameters, *state, *sentences())


@step
def plain():
    """A linear regression."""
    return trained(nn.Linear(32, 1), lambda model, x, y: F.mse_loss(model(x), y), sgd(), (torch.randn(8, 32), torch.randn(8, 1)))
