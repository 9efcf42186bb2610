# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as users of PyTorch write them: a module and its arguments each, small, with seeded weights."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch_language import (Alibi, CosineAttention, EmbeddingBag, ExpertStack, Llama, Mamba,
                              MoE, RelativeBias, SDPA, TokenShift)
from pytorch_vision import SegFormer, ViT


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
