# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of sequences: attention in its forms, norms, experts, recurrences over tokens."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Rotary positions, grouped keys and values, a causal mask."""

    def __init__(self, d=64, heads=4, groups=2):
        super().__init__()
        self.h, self.g, self.k = heads, groups, d // heads
        self.q = nn.Linear(d, d, bias=False)
        self.kv = nn.Linear(d, 2 * groups * self.k, bias=False)
        self.o = nn.Linear(d, d, bias=False)

    def rotate(self, x):
        t = torch.arange(x.shape[2], dtype=torch.float32)
        f = 10000.0 ** (-torch.arange(0, self.k, 2, dtype=torch.float32) / self.k)
        a = torch.outer(t, f)
        c, s = torch.cat([a.cos(), a.cos()], -1), torch.cat([a.sin(), a.sin()], -1)
        x1, x2 = x.chunk(2, -1)
        return x * c + torch.cat([-x2, x1], -1) * s

    def forward(self, x):
        b, n, d = x.shape
        q = self.q(x).view(b, n, self.h, self.k).transpose(1, 2)
        k, v = self.kv(x).view(b, n, 2, self.g, self.k).permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q), self.rotate(k)
        k, v = (y.repeat_interleave(self.h // self.g, 1) for y in (k, v))
        s = q @ k.transpose(-1, -2) / math.sqrt(self.k)
        s = s + torch.full((n, n), float("-inf")).triu(1)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w


class SwiGLU(nn.Module):
    def __init__(self, d, m):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(d, m, bias=False), nn.Linear(d, m, bias=False), nn.Linear(m, d, bias=False)

    def forward(self, x):
        return self.c(F.silu(self.a(x)) * self.b(x))


class Llama(nn.Module):
    def __init__(self, d=64, layers=2):
        super().__init__()
        self.e = nn.Embedding(97, d)
        self.l = nn.ModuleList(nn.ModuleList([RMSNorm(d), Attention(d), RMSNorm(d), SwiGLU(d, 160)]) for _ in range(layers))
        self.n = RMSNorm(d)

    def forward(self, ids):
        x = self.e(ids)
        for n1, a, n2, m in self.l:
            x = x + a(n1(x))
            x = x + m(n2(x))
        return F.log_softmax(self.n(x) @ self.e.weight.T, -1)


class SDPA(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class MoE(nn.Module):
    def __init__(self, d=32, n=4):
        super().__init__()
        self.r = nn.Linear(d, n)
        self.w1, self.w2 = nn.Parameter(torch.randn(n, d, 64) * 0.1), nn.Parameter(torch.randn(n, 64, d) * 0.1)

    def forward(self, x):
        p = self.r(x).softmax(-1)
        v, i = p.topk(2, -1)
        mask = torch.zeros_like(p).scatter(1, i, v / v.sum(-1, keepdim=True))
        h = torch.einsum("td,edf->tef", x, self.w1)
        return torch.einsum("tef,efd,te->td", F.gelu(h, approximate="tanh"), self.w2, mask)


class EmbeddingBag(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(50, 16)
        self.f = nn.Linear(16, 8)

    def forward(self, i, m):
        e = self.e(i) * m[..., None]
        return self.f(e.sum(1) / m.sum(1, keepdim=True).clamp(min=1))


class Mamba(nn.Module):
    """A selective scan, step by step."""

    def __init__(self, d=16, n=4):
        super().__init__()
        self.a = nn.Parameter(torch.arange(1, n + 1).float().log().repeat(d, 1))
        self.p = nn.Linear(d, d + 2 * n)
        self.n = n

    def forward(self, x):
        d, b, c = self.p(x).split([x.shape[-1], self.n, self.n], -1)
        d = F.softplus(d)
        h, ys = torch.zeros(x.shape[0], x.shape[-1], self.n), []
        for t in range(x.shape[1]):
            h = torch.exp(-d[:, t, :, None] * self.a.exp()) * h + (d[:, t] * x[:, t])[..., None] * b[:, t, None]
            ys.append((h * c[:, t, None]).sum(-1))
        return torch.stack(ys, 1)


class RelativeBias(nn.Module):
    """T5's encoder layer: learned biases by distance, no scale, RMS norm."""

    def __init__(self, d=32, heads=4):
        super().__init__()
        self.h, self.n = heads, RMSNorm(d)
        self.b = nn.Embedding(8, heads)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def buckets(self, n):
        far = torch.arange(n)[None] - torch.arange(n)[:, None]
        near = far.abs()
        log = 2 + (torch.log(near.float().clamp(min=1) / 2) / math.log(8) * 2).long()
        return (far > 0).long() * 4 + torch.where(near < 2, near, log.clamp(max=3))

    def forward(self, x):
        b, n, d = x.shape
        y = self.n(x)
        q, k, v = (f(y).view(b, n, self.h, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.transpose(-1, -2) + self.b(self.buckets(n)).permute(2, 0, 1)
        return x + self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


class CosineAttention(nn.Module):
    """Swin V2's: queries and keys of unit length, a learned temperature that is clamped."""

    def __init__(self, d=32, heads=4):
        super().__init__()
        self.h = heads
        self.t = nn.Parameter(torch.full((heads, 1, 1), 2.3))
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.h, -1).permute(2, 0, 3, 1, 4)
        s = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-1, -2)
        s = s * torch.clamp(self.t, max=math.log(100.0)).exp()
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


class Alibi(nn.Module):
    """BLOOM's attention: a slope a head times the distance."""

    def __init__(self, d=32, heads=4):
        super().__init__()
        self.h = heads
        self.n, self.qkv, self.o = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, mask):
        b, n, d = x.shape
        q, k, v = self.qkv(self.n(x)).view(b, n, self.h, 3, -1).permute(3, 0, 2, 1, 4)
        slopes = 2.0 ** -torch.arange(2, 2 * self.h + 2, 2, dtype=torch.float32)
        place = (mask.cumsum(-1) - 1) * mask
        s = q @ k.transpose(-1, -2) / math.sqrt(d // self.h) + slopes[:, None, None] * place[:, None, None]
        hidden = torch.full((n, n), True).triu(1) | (mask[:, None, None] == 0)
        s = s.masked_fill(hidden, torch.finfo(torch.float32).min)
        return x + self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


class TokenShift(nn.Module):
    """RWKV's channel mixing: each token with its predecessor, squared ReLU, a gate."""

    def __init__(self, d=32):
        super().__init__()
        self.m = nn.Parameter(torch.linspace(0, 1, d)[None, None])
        self.n, self.k, self.v, self.r = nn.LayerNorm(d), nn.Linear(d, 64, bias=False), nn.Linear(64, d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x):
        y = self.n(x)
        y = y * self.m + torch.cat([torch.zeros_like(y[:, :1]), y[:, :-1]], 1) * (1 - self.m)
        return x + self.r(y).sigmoid() * self.v(F.relu(self.k(y)).square())


class ExpertStack(nn.Module):
    """Experts in one tensor, the weights of the chosen ones as one-hot rows."""

    def __init__(self, d=32, experts=4, m=64):
        super().__init__()
        self.router, self.e = nn.Linear(d, experts, bias=False), experts
        self.up, self.down = (nn.Parameter(torch.randn(experts, k, n) * k ** -0.5) for k, n in ((d, m), (m, d)))

    def forward(self, x):
        w, chosen = self.router(x).softmax(-1).topk(2, -1)
        w = w / w.sum(-1, keepdim=True)
        gates = (F.one_hot(chosen, self.e).to(w.dtype) * w.unsqueeze(-1)).sum(1)
        y = torch.einsum("teh,ehd->ted", F.silu(torch.einsum("td,edh->teh", x, self.up)), self.down)
        return x + torch.einsum("ted,te->td", y, gates)
