# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vision transformers of some depth: a residual stream that every layer reads and adds to."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    """torchvision's block: norm, attention, norm, two linear layers around a GELU."""

    def __init__(self, d, heads, m):
        super().__init__()
        self.n, self.a = nn.LayerNorm(d, eps=1e-6), nn.MultiheadAttention(d, heads, batch_first=True)
        self.f = nn.Sequential(nn.LayerNorm(d, eps=1e-6), nn.Linear(d, m), nn.GELU(), nn.Linear(m, d))

    def forward(self, x):
        y = self.n(x)
        x = x + self.a(y, y, y, need_weights=False)[0]
        return x + self.f(x)


class ViT(nn.Module):
    """torchvision's vit_b_16, smaller: a convolution of patches, a class token, learned positions."""

    def __init__(self, d=64, layers=4, patches=16):
        super().__init__()
        self.c, self.t = nn.Conv2d(3, d, 8, 8), nn.Parameter(torch.randn(1, 1, d) * 0.02)
        self.p = nn.Parameter(torch.randn(1, patches + 1, d) * 0.02)
        self.l = nn.Sequential(*[Encoder(d, 4, 2 * d) for _ in range(layers)])
        self.n, self.h = nn.LayerNorm(d, eps=1e-6), nn.Linear(d, 10)

    def forward(self, x):
        x = self.c(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.t.expand(x.shape[0], -1, -1), x], 1) + self.p
        return self.h(self.n(self.l(x))[:, 0])


class Mix(nn.Module):
    """SegFormer's block: attention to fewer keys and values, a depthwise convolution between two linear layers."""

    def __init__(self, d, heads, fewer):
        super().__init__()
        self.h, self.n, self.g, self.s = heads, nn.LayerNorm(d, eps=1e-6), nn.LayerNorm(d, eps=1e-6), nn.LayerNorm(d, eps=1e-6)
        self.q, self.kv, self.o, self.r = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d), nn.Conv2d(d, d, fewer, fewer)
        self.a, self.b, self.c = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.Conv2d(4 * d, 4 * d, 3, padding=1, groups=4 * d)

    def forward(self, x):
        b, d, h, w = x.shape
        x = x.flatten(2).transpose(1, 2)
        y = self.n(x)
        q = self.q(y).view(b, -1, self.h, d // self.h).transpose(1, 2)
        y = self.s(self.r(y.transpose(1, 2).reshape(b, d, h, w)).flatten(2).transpose(1, 2))
        k, v = self.kv(y).view(b, -1, 2, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        s = (q @ k.transpose(-1, -2) * (d // self.h) ** -0.5).softmax(-1)
        x = x + self.o((s @ v).transpose(1, 2).reshape(b, -1, d))
        y = self.c(self.a(self.g(x)).transpose(1, 2).reshape(b, -1, h, w)).flatten(2).transpose(1, 2)
        return (x + self.b(F.gelu(y))).transpose(1, 2).reshape(b, d, h, w)


class SegFormer(nn.Module):
    """Two stages and the decoder of linear layers: a label for each place."""

    def __init__(self):
        super().__init__()
        self.c = nn.ModuleList([nn.Conv2d(3, 16, 7, 4, 3), nn.Conv2d(16, 32, 3, 2, 1)])
        self.m = nn.ModuleList([nn.Sequential(Mix(16, 1, 4), Mix(16, 1, 4)), nn.Sequential(Mix(32, 2, 2), Mix(32, 2, 2))])
        self.p = nn.ModuleList([nn.Conv2d(16, 32, 1), nn.Conv2d(32, 32, 1)])
        self.f, self.b, self.o = nn.Conv2d(64, 32, 1, bias=False), nn.BatchNorm2d(32), nn.Conv2d(32, 6, 1)

    def forward(self, x):
        all_of = []
        for c, m, p in zip(self.c, self.m, self.p):
            x = m(c(x))
            all_of.append(F.interpolate(p(x), size=(8, 8), mode="nearest"))
        return self.o(F.relu(self.b(self.f(torch.cat(all_of, 1)))))
