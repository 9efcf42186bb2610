# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks and losses, each trained by one optimizer."""
import torch
import torch.nn.functional as F
from torch import nn

from torch_steps.basics import (STEPS, adagrad, adamw, clipped, clipped_by_value, lamb, lion, momentum, rmsprop, sgd, trained)

CLASSES, WORDS = 10, 50


class MLP(nn.Module):
    def __init__(self, inputs=32, outputs=CLASSES):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)

    def forward(self, x):
        return self.c(F.gelu(self.b(F.relu(self.a(x)))))


class Convolutions(nn.Module):
    def __init__(self, norm=lambda channels: nn.GroupNorm(4, channels)):
        super().__init__()
        self.a, self.n, self.b = nn.Conv2d(3, 8, 3, padding=1, bias=False), norm(8), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.d, self.c = nn.Conv2d(16, 16, 3, padding=1), nn.Linear(16, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.silu(self.b(F.relu(self.n(self.a(x))))), 2)
        return self.c((F.relu(self.d(x)) + x).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, width=32, heads=4, causal=True):
        super().__init__()
        self.before, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.between, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads, self.causal = heads, causal

    def forward(self, x):
        rows, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).reshape(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if self.causal:
            scores = scores.masked_fill(torch.triu(torch.ones(length, length, dtype=torch.bool), 1), float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


class GPT(nn.Module):
    """Embeddings tied to the last layer."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, 32), nn.Parameter(torch.randn(16, 32) * 0.02)
        self.blocks, self.norm = nn.ModuleList([Block(), Block()]), nn.LayerNorm(32)
        nn.init.normal_(self.words.weight, std=0.1)

    def forward(self, x):
        x = self.words(x) + self.places
        for block in self.blocks:
            x = block(x)
        return (self.norm(x) @ self.words.weight.t()).flatten(0, 1)


class Llama(nn.Module):
    """RMS norms, rotated and grouped heads, a gated layer."""

    def __init__(self):
        super().__init__()
        self.words, self.scale = nn.Embedding(WORDS, 32), nn.Parameter(torch.ones(32))
        self.q, self.k, self.v, self.o = (nn.Linear(32, n, bias=False) for n in (32, 16, 16, 32))
        self.gate, self.up, self.down, self.head = (nn.Linear(*n, bias=False) for n in ((32, 64), (32, 64), (64, 32), (32, WORDS)))

    def norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale

    def forward(self, x):
        x = self.words(x)
        rows, length, width = x.shape
        angles = torch.arange(length).float()[:, None] * (1 / 10000 ** (torch.arange(0, 8, 2).float() / 8))
        cos, sin = angles.cos(), angles.sin()

        def rotated(heads):
            a, b = heads.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        y = self.norm(x)
        q, k, v = (layer(y).view(rows, length, -1, 8).transpose(1, 2) for layer in (self.q, self.k, self.v))
        k, v = rotated(k).repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        mask = torch.triu(torch.full((length, length), float("-inf")), 1)
        attended = (rotated(q) @ k.transpose(-1, -2) / 8 ** 0.5 + mask).softmax(-1) @ v
        x = x + self.o(attended.transpose(1, 2).reshape(rows, length, width))
        y = self.norm(x)
        return self.head(x + self.down(F.silu(self.gate(y)) * self.up(y))).flatten(0, 1)


class Patches(nn.Module):
    """A vision transformer of one block, with a token for the class."""

    def __init__(self):
        super().__init__()
        self.cut, self.token = nn.Conv2d(3, 32, 4, 4), nn.Parameter(torch.zeros(1, 1, 32))
        self.block, self.norm, self.head = Block(causal=False), nn.LayerNorm(32), nn.Linear(32, CLASSES)

    def forward(self, x):
        x = self.cut(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        return self.head(self.norm(self.block(x))[:, 0])


class Recurrent(nn.Module):
    """LSTM cells, unrolled."""

    def __init__(self):
        super().__init__()
        self.x, self.h, self.out = nn.Linear(8, 64), nn.Linear(16, 64), nn.Linear(16, CLASSES)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], 16)
        for t in range(x.shape[1]):
            i, f, g, o = (self.x(x[:, t]) + self.h(h)).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.out(h)


class Pictures(nn.Module):
    """Half the size and back."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.n = nn.Conv2d(1, 8, 3, 2, 1), nn.Conv2d(8, 1, 3, padding=1), nn.InstanceNorm2d(8, affine=True)

    def forward(self, x):
        x = F.leaky_relu(self.n(self.a(x)))
        return torch.sigmoid(self.b(x.repeat_interleave(2, 2).repeat_interleave(2, 3)))


class Variational(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.mean, self.spread, self.b = nn.Linear(32, 32), nn.Linear(32, 8), nn.Linear(32, 8), nn.Linear(8, 32)

    def forward(self, x, noise):
        x = F.relu(self.a(x))
        mean, spread = self.mean(x), self.spread(x)
        return self.b(mean + noise * torch.exp(0.5 * spread)), mean, spread


class Directions(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 32), nn.Linear(32, 16)

    def forward(self, x):
        return F.normalize(self.b(F.elu(self.a(x))), dim=-1)


def classified(model, x, labels):
    return F.cross_entropy(model(x), labels)


def smoothed(model, x, labels):
    return F.cross_entropy(model(x), labels, label_smoothing=0.1)


def ignoring(model, x, labels):
    """Labels of -100 count nothing, as where words are masked or padding."""
    return F.cross_entropy(model(x), labels, ignore_index=-100)


def log_likelihood(model, x, labels):
    return F.nll_loss(F.log_softmax(model(x), -1), labels)


def divergence(model, x, y):
    return F.kl_div(F.log_softmax(model(x), -1), y.softmax(-1), reduction="batchmean")


def huber(model, x, y):
    return F.smooth_l1_loss(model(x), y)


def binary(model, x, y):
    return F.binary_cross_entropy_with_logits(model(x), y)


def repainted(model, x, y):
    return F.binary_cross_entropy(model(x), y)


def evidence(model, x, noise):
    found, mean, spread = model(x, noise)
    return F.mse_loss(found, x) - 0.5 * (1 + spread - mean * mean - spread.exp()).mean()


def contrasted(model, x, y):
    scores, labels = model(x) @ model(y).t() * 10, torch.arange(8)
    return 0.5 * (F.cross_entropy(scores, labels) + F.cross_entropy(scores.t(), labels))


def triplets(model, x, y):
    other = model(y)
    return F.triplet_margin_loss(model(x), other, other.roll(1, 0))


def autocast(loss):
    def mixed(model, *data):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return loss(model, *data)
    return mixed


def rows():
    return torch.randn(8, 32), torch.randint(0, CLASSES, (8,))


def pairs(outputs=CLASSES):
    return torch.randn(8, 32), torch.rand(8, outputs)


def images(channels=3):
    return torch.rand(4, channels, 16, 16), torch.randint(0, CLASSES, (4,))


def sentences(masked=False):
    labels = torch.randint(0, WORDS, (32,))
    if masked:
        labels[::3] = -100
    return torch.randint(0, WORDS, (2, 16)), labels


# name: network, loss, optimizer, data
NETWORKS = {
    "mlp_sgd": (MLP, classified, sgd(), rows),
    "mlp_momentum": (MLP, smoothed, momentum(), rows),
    "mlp_nesterov": (MLP, classified, momentum(nesterov=True), rows),
    "mlp_adamw": (MLP, classified, adamw(), rows),
    "mlp_clipped": (MLP, classified, clipped(adamw()), rows),
    "mlp_clipped_by_value": (MLP, binary, clipped_by_value(momentum()), pairs),
    "mlp_rmsprop": (MLP, huber, rmsprop(), pairs),
    "mlp_adagrad": (MLP, log_likelihood, adagrad(), rows),
    "mlp_lion": (MLP, divergence, lion(), pairs),
    "mlp_lamb": (MLP, classified, lamb(), rows),
    "convolutions": (Convolutions, classified, momentum(), images),
    "patches": (Patches, classified, adamw(), images),
    "gpt": (GPT, classified, adamw(), sentences),
    "gpt_masked": (GPT, ignoring, clipped(adamw()), lambda: sentences(masked=True)),
    "llama": (Llama, classified, clipped(adamw()), sentences),
    "recurrent": (Recurrent, classified, clipped(momentum()), lambda: (torch.randn(4, 6, 8), torch.randint(0, CLASSES, (4,)))),
    "pictures": (Pictures, repainted, adamw(), lambda: (torch.rand(4, 1, 16, 16), torch.rand(4, 1, 16, 16))),
    "variational": (Variational, evidence, adamw(), lambda: (torch.rand(8, 32), torch.randn(8, 8))),
    "contrasted": (Directions, contrasted, adamw(), lambda: (torch.randn(8, 32), torch.randn(8, 32))),
    "triplets": (Directions, triplets, momentum(), lambda: (torch.randn(8, 32), torch.randn(8, 32))),
    "autocast_mlp": (MLP, autocast(classified), momentum(), rows),
    "autocast_gpt": (GPT, autocast(classified), adamw(), sentences),
    "autocast_convolutions": (Convolutions, autocast(classified), momentum(), images),
}
for name, (network, loss, optimizer, data) in NETWORKS.items():
    STEPS[name] = lambda network=network, loss=loss, optimizer=optimizer, data=data: trained(network(), loss, optimizer, data())
