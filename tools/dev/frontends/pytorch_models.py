# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as users of PyTorch write them: a module and its arguments each, small, with seeded weights."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch_vision import SegFormer, ViT


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


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, 1, 1, groups=16),
                               nn.BatchNorm2d(16), nn.Hardswish(), nn.Conv2d(16, 32, 1), nn.SiLU(), nn.MaxPool2d(2),
                               nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))

    def forward(self, x):
        return self.f(x)


class SqueezeExcite(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.c, self.a, self.b = nn.Conv2d(3, c, 3, padding="same"), nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)

    def forward(self, x):
        x = F.gelu(self.c(x))
        return x * torch.sigmoid(self.b(F.relu6(self.a(x.mean((2, 3), keepdim=True)))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.Conv2d(1, 8, 3, 1, 1)
        self.g = nn.GroupNorm(4, 8)
        self.m = nn.Conv2d(8, 16, 3, 2, 1)
        self.u = nn.ConvTranspose2d(16, 8, 2, 2)
        self.o = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = F.silu(self.g(self.d(x)))
        b = F.leaky_relu(self.m(a))
        up = F.interpolate(F.avg_pool2d(self.u(b), 2), scale_factor=2, mode="nearest")
        return torch.tanh(self.o(torch.cat([a, up], 1)))


class Bilinear(nn.Module):
    def forward(self, x):
        return F.interpolate(x, size=(13, 9), mode="bilinear", align_corners=False) + F.pad(x, (1, 0, 2, 3), "reflect")[..., :13, :9].sum() * 0


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.LSTM(16, 32, batch_first=True)
        self.o = nn.Linear(32, 5)

    def forward(self, x):
        y, (h, c) = self.l(x)
        return self.o(y[:, -1]), h, c


class GRUCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.GRUCell(16, 16)

    def forward(self, x, h):
        for t in range(6):
            h = self.c(x[:, t], h)
        return h


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


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.i = nn.LayerNorm(24), nn.InstanceNorm1d(8, affine=True)
        self.c = nn.Conv1d(8, 8, 5, dilation=2, padding=4)
        self.p = nn.PReLU()

    def forward(self, x):
        return F.normalize(self.p(self.c(self.i(self.l(x)))), dim=-1), torch.cosine_similarity(x, x.flip(-1), -1), x.std(-1), torch.logsumexp(x, 1)


class Losses(nn.Module):
    def forward(self, x, t, y):
        return (F.cross_entropy(x, t, label_smoothing=0.1), F.nll_loss(F.log_softmax(x, -1), t), F.mse_loss(x, y), F.smooth_l1_loss(x, y),
                F.binary_cross_entropy_with_logits(x, y.sigmoid()), F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean"))


class Linalg(nn.Module):
    def forward(self, a, b):
        return a @ b, torch.bmm(a[None], b[None]), torch.addmm(a, a, b, beta=0.5, alpha=2.0), torch.einsum("ij,kj->ik", a, b), a.cumsum(0), torch.outer(a[0], b[0]), torch.baddbmm(a[None], a[None], b[None])


class Gather(nn.Module):
    def forward(self, x, i):
        return x.gather(1, i), x[:, i[0]], x.index_select(0, i[0] % 4), torch.where(x > 0, x, x.exp()), x.masked_fill(x < 0, -1e4).amax(-1), x.sort(-1)[0], x.argmax(-1)


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


class Complex(nn.Module):
    def forward(self, x, f):
        z = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(z * torch.view_as_complex(f)).flatten(-2)


class Autocast(nn.Module):
    """The user's own mixed precision."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.n = nn.Linear(32, 64), nn.Linear(64, 8), nn.LayerNorm(64)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.b(self.n(F.relu(self.a(x)))).softmax(-1).float()


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(32, 16).to(torch.bfloat16)

    def forward(self, x):
        return self.a(x).softmax(-1)


class Double(nn.Module):
    def forward(self, x, w):
        return (x @ w).tanh()


class Int(nn.Module):
    def forward(self, x, w, s):
        return (x.float() @ (w.float() * s)), (x.to(torch.int32) @ w.to(torch.int32))


class Quantised(nn.Module):
    """Fake quantisation of weights and activations."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(32, 16)

    def forward(self, x):
        q = lambda v, s: torch.clamp(torch.round(v / s), -128, 127) * s
        return F.linear(q(x, x.abs().amax() / 127), q(self.l.weight, self.l.weight.abs().amax(1, keepdim=True) / 127), self.l.bias)


class Ssd(nn.Module):
    """Boxes: sigmoid scores, decoded offsets, intersections."""

    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(8, 6, 1)

    def forward(self, x, a):
        y = self.c(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 6)
        wh = a[:, 2:] * y[..., 2:4].exp()
        xy = a[:, :2] + y[..., :2] * a[:, 2:]
        box = torch.cat([xy - wh / 2, xy + wh / 2], -1)
        lt = torch.maximum(box[:, :, None, :2], box[:, None, :, :2])
        rb = torch.minimum(box[:, :, None, 2:], box[:, None, :, 2:])
        i = (rb - lt).clamp(min=0).prod(-1)
        area = (box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1])
        return y[..., 4:].sigmoid(), i / (area[:, :, None] + area[:, None] - i + 1e-6)


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


class PositionalConv(nn.Module):
    """Wav2Vec2's beginning: a group norm over time, a grouped convolution whose weight has a norm."""

    def __init__(self, d=32):
        super().__init__()
        self.c, self.n = nn.Conv1d(1, d, 10, 5, bias=False), nn.GroupNorm(d, d)
        self.p = nn.utils.parametrizations.weight_norm(nn.Conv1d(d, d, 8, padding=4, groups=4), dim=2)

    def forward(self, x):
        x = F.gelu(self.n(self.c(x)))
        return x + F.gelu(self.p(x)[..., :-1])


class Inception(nn.Module):
    """Branches of pooling and convolutions, batch norm with given statistics."""

    def __init__(self):
        super().__init__()
        block = lambda i, o, k: nn.Sequential(nn.Conv2d(i, o, k, padding=k // 2, bias=False), nn.BatchNorm2d(o, eps=1e-3), nn.ReLU())
        self.a, self.b, self.c, self.d = block(3, 8, 1), block(8, 8, 3), block(3, 8, 1), block(16, 8, 1)

    def forward(self, x):
        x = torch.cat([self.b(self.a(x)), self.c(F.avg_pool2d(x, 3, 1, 1))], 1)
        return self.d(F.max_pool2d(x, 3, 2)).mean((2, 3))


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


class Pooling(nn.Module):
    """Averages whose padding does not count, less what is averaged, and activations that grow no faster than what they read."""

    def __init__(self):
        super().__init__()
        self.n, self.a, self.b, self.c = nn.GroupNorm(1, 8), nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 16, 1), nn.Conv2d(16, 8, 1)

    def forward(self, x):
        x = self.a(x)
        y = self.n(x)
        x = x + F.avg_pool2d(y, 3, 1, 1, count_include_pad=False) - y
        x = F.softplus(self.b(x))
        return self.c((x + torch.sqrt(x * x + 4)) / 2).amax((2, 3))


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


class Sorted(nn.Module):
    """In TOSA as many selections as elements, each by the comparisons of all before it."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x):
        return self.b(self.a(x).sort(-1).values)


def r(*shape):
    return torch.randn(*shape)


def i(high, *shape):
    return torch.randint(0, high, shape)


MODELS = {
    "llama": (Llama, lambda: (i(97, 2, 12),)),
    "sdpa": (SDPA, lambda: (r(2, 4, 10, 16), r(2, 4, 10, 16), r(2, 4, 10, 16))),
    "convnet": (ConvNet, lambda: (r(2, 3, 32, 32),)),
    "squeeze": (SqueezeExcite, lambda: (r(1, 3, 12, 12),)),
    "unet": (UNet, lambda: (r(1, 1, 16, 16),)),
    "bilinear": (Bilinear, lambda: (r(1, 2, 8, 8),)),
    "lstm": (LSTM, lambda: (r(2, 7, 16),)),
    "gru": (GRUCell, lambda: (r(3, 6, 16), r(3, 16))),
    "moe": (MoE, lambda: (r(12, 32),)),
    "norms": (Norms, lambda: (r(3, 8, 24),)),
    "losses": (Losses, lambda: (r(6, 10), i(10, 6), r(6, 10))),
    "linalg": (Linalg, lambda: (r(8, 8), r(8, 8))),
    "gather": (Gather, lambda: (r(4, 9), i(9, 4, 3))),
    "bag": (EmbeddingBag, lambda: (i(50, 3, 7), (r(3, 7) > 0).float())),
    "mamba": (Mamba, lambda: (r(2, 5, 16),)),
    "complex": (Complex, lambda: (r(2, 6, 8), r(6, 4, 2))),
    "autocast": (Autocast, lambda: (r(4, 32),)),
    "half": (Half, lambda: (r(4, 32).to(torch.bfloat16),)),
    "double": (Double, lambda: (r(4, 5).double(), r(5, 6).double())),
    "int8": (Int, lambda: (torch.randint(-128, 128, (4, 16), dtype=torch.int8), torch.randint(-128, 128, (16, 8), dtype=torch.int8), r(8).abs())),
    "fakequant": (Quantised, lambda: (r(5, 32),)),
    "relative": (RelativeBias, lambda: (r(2, 12, 32),)),
    "cosine": (CosineAttention, lambda: (r(2, 16, 32),)),
    "positional": (PositionalConv, lambda: (r(2, 1, 200),)),
    "inception": (Inception, lambda: (r(1, 3, 15, 15),)),
    "alibi": (Alibi, lambda: (r(2, 12, 32), (torch.arange(12) < torch.tensor([[12], [9]])).long())),
    "shift": (TokenShift, lambda: (r(2, 9, 32),)),
    "pooling": (Pooling, lambda: (r(1, 3, 17, 17),)),
    "experts": (ExpertStack, lambda: (r(10, 32),)),
    "sorted": (Sorted, lambda: (r(6, 32),)),
    "vit": (ViT, lambda: (r(1, 3, 32, 32),)),
    "vit12": (lambda: ViT(128, 12), lambda: (r(1, 3, 32, 32),)),
    "segformer": (SegFormer, lambda: (r(1, 3, 32, 32),)),
    "ssd": (Ssd, lambda: (r(1, 8, 3, 3), r(9, 4).abs() + 0.5)),
}
