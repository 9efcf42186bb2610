# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What others offer for the cases of timed_cases.py: PyTorch (its libraries, and torch.compile) and a kernel in Triton.

Each of `REFERENCES` takes a case's `shape` and its inputs and gives {label: function to time}; the first of them is what the
case's result is compared with, in f32. `WANTED` gives that comparison's operands in f32. A label that this version of
PyTorch does not have, or that fails, is left out by the caller, with the reason.
"""
import math

import torch
import torch.nn.functional as F

# Every shape is compiled for itself, and none falls back to eager execution in silence.
torch._dynamo.config.recompile_limit = 1000
torch._dynamo.config.accumulated_recompile_limit = 10000

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton:
    CONFIGS = [triton.Config({"BM": m, "BN": n, "BK": 64, "G": 8}, num_warps=w, num_stages=s)
               for m, n, w, s in ((128, 256, 8, 3), (256, 128, 8, 3), (128, 128, 4, 4), (128, 128, 8, 3), (64, 128, 4, 4), (128, 64, 4, 4),
                                  (64, 64, 4, 5), (16, 64, 4, 6), (16, 128, 4, 5))]

    def short(kernel, quantiles):
        return triton.testing.do_bench(kernel, warmup=5, rep=20, quantiles=quantiles)

    @triton.autotune(configs=CONFIGS, key=["M", "N", "K"], do_bench=short)
    @triton.jit
    def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
        """C[M, N] = A[M, K] B[N, K]^T, tiles in groups of G rows so that operands stay in L2."""
        pid, down, right = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
        group = pid // (G * right)
        first = group * G
        height = min(down - first, G)
        row, column = first + (pid % (G * right)) % height, (pid % (G * right)) // height
        m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
        pa, pb = a + (m % M)[:, None] * K + k[None, :], b + (n % N)[None, :] * K + k[:, None]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BK)):
            inside = k < K - step * BK
            total = tl.dot(tl.load(pa, mask=inside[None, :], other=0.0), tl.load(pb, mask=inside[:, None], other=0.0), total)
            pa += BK
            pb += BK
        tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def compiled(function):
    return torch.compile(function, dynamic=False)


def triton_product(a, b):
    c = torch.empty(a.shape[0], b.shape[0], device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(a.shape[0], meta["BM"]) * triton.cdiv(b.shape[0], meta["BN"]),)
    matmul_kernel[grid](a, b, c, a.shape[0], b.shape[0], a.shape[1])
    return c


def product(shape, inputs):
    a, b, *bias = inputs
    turned = shape["order"] == "nt"
    right = (lambda x: x.t()) if turned else (lambda x: x)
    if shape["epilogue"]:
        narrow = bias[0].to(a.dtype)
        layer = lambda: F.gelu(F.linear(a, b, narrow), approximate="tanh")
        quick = compiled(lambda x, w, v: F.gelu(F.linear(x, w, v), approximate="tanh"))
        return {"torch": layer, "torch.compile": lambda: quick(a, b, narrow)}
    if shape["narrow"]:
        cast = compiled(lambda x, w: F.linear(x, w.to(x.dtype)))
        ready = b.to(a.dtype)
        return {"torch, cast each time": lambda: F.linear(a, b.to(a.dtype)), "torch.compile, cast each time": lambda: cast(a, b),
                "torch, cast before": lambda: F.linear(a, ready)}
    if shape["format"] == "e4m3":
        one = torch.ones((), device=a.device)
        return {"torch": lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)}
    if shape["format"] == "s8":
        return {"torch": lambda: torch._int_mm(a, b.t())}
    torch.backends.cuda.matmul.allow_tf32 = shape["format"] == "tf32"
    found = {"torch": lambda: torch.matmul(a, right(b))}
    if triton and turned and shape["format"] in ("bf16", "f16") and not shape["schedule"] and a.is_cuda:
        found["Triton"] = lambda: triton_product(a, b)
    return found


def attention(shape, inputs):
    q, k, v = (x.unsqueeze(0) for x in inputs)
    found = {}
    from torch.nn.attention import SDPBackend, sdpa_kernel
    for label, backend in (("torch, FlashAttention-2", SDPBackend.FLASH_ATTENTION), ("torch, cuDNN", SDPBackend.CUDNN_ATTENTION),
                           ("torch, math", SDPBackend.MATH)):
        def call(backend=backend):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=shape["causal"])[0]
        found[label] = call
    return found if q.is_cuda else {"torch, math": found["torch, math"]}


def along_rows(function):
    def references(shape, inputs):
        x, = inputs
        quick = compiled(function)
        return {"torch": lambda: function(x), "torch.compile": lambda: quick(x)}
    return references


def convolution(shape, inputs):
    x, w = inputs  # NHWC and HWCF
    image, filters = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    torch.backends.cudnn.benchmark = True
    return {"torch, cuDNN": lambda: F.conv2d(image, filters, padding=shape["edge"]).permute(0, 2, 3, 1)}


def heads(x, count):
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def transformer_layer(hidden, intermediate, count, key_heads, causal, normalise, gated, before):
    """Weights as a list in f32 and the layer as a function of x and them."""
    head = hidden // count
    sizes = [(hidden, hidden), (key_heads * head, hidden), (key_heads * head, hidden), (hidden, hidden), (intermediate, hidden), (hidden, intermediate)]
    if gated:
        sizes.append((intermediate, hidden))

    def layer(x, weights):
        q, k, v, o, up, down, *gate = weights
        h = normalise(x) if before else x
        y = F.scaled_dot_product_attention(heads(F.linear(h, q), count), heads(F.linear(h, k), key_heads), heads(F.linear(h, v), key_heads),
                                           is_causal=causal, enable_gqa=key_heads != count)
        x = x + F.linear(y.transpose(1, 2).flatten(2), o)
        x = x if before else normalise(x)
        h = normalise(x) if before else x
        wide = F.silu(F.linear(h, gate[0])) * F.linear(h, up) if gated else F.gelu(F.linear(h, up))
        x = x + F.linear(wide, down)
        return x if before else normalise(x)

    return sizes, layer


LAYERS = {"bert 1x128": (1, 128, 768, 3072, 12, 12, False, "layer", False, False), "bert 32x128": (32, 128, 768, 3072, 12, 12, False, "layer", False, False),
          "gpt2 8x1024": (8, 1024, 768, 3072, 12, 12, True, "layer", False, True),
          "llama 1x2048": (1, 2048, 4096, 14336, 32, 8, True, "rms", True, True), "vit 32": (32, 196, 768, 3072, 12, 12, False, "layer", False, True)}


def resnet50(images, form):
    """torchvision's network with its batch normalisation folded, as far as it offers that; channels last."""
    from torch.fx.experimental.optimization import fuse
    from torchvision.models import resnet50 as network
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    folded = fuse(network().eval()).cuda().to(memory_format=torch.channels_last)
    x = torch.randn(images, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)

    def call(model, image):
        with torch.no_grad():
            return model(image)

    if form == "f32":
        return {"torch, f32": lambda: call(folded, x)}

    def autocast():
        with torch.autocast("cuda", torch.bfloat16):
            return call(folded, x)

    narrow, xb = fuse(network().eval()).cuda().bfloat16().to(memory_format=torch.channels_last), x.bfloat16()
    return {"torch, autocast": autocast, "torch, bf16 weights": lambda: call(narrow, xb)}


def layer(shape, inputs):
    """The layer as PyTorch's users write it: f32 weights under autocast, and weights that are bf16 already."""
    form, name = shape["format"], shape["layer"]
    if name.startswith("resnet50") and torch.cuda.is_available():
        return resnet50(int(name.split()[1]), form)
    if name not in LAYERS or not torch.cuda.is_available():
        return {}
    batch, length, hidden, intermediate, count, key_heads, causal, kind, gated, before = LAYERS[name]
    normalise = (lambda x: F.layer_norm(x, (hidden,))) if kind == "layer" else (lambda x: F.rms_norm(x, (hidden,)))
    sizes, function = transformer_layer(hidden, intermediate, count, key_heads, causal, normalise, gated, before)
    x = torch.randn(batch, length, hidden, device="cuda")
    weights = [torch.randn(size, device="cuda") / math.sqrt(size[1]) for size in sizes]

    def under_autocast(f):
        def call():
            with torch.autocast("cuda", torch.bfloat16):
                return f(x, weights)
        return call

    quick = compiled(function)
    if form == "f32":
        torch.backends.cuda.matmul.allow_tf32 = False
        return {"torch, f32": lambda: function(x, weights)}
    xb, wb = x.bfloat16(), [w.bfloat16() for w in weights]
    return {"torch, autocast": under_autocast(function), "torch.compile, autocast": under_autocast(quick),
            "torch, bf16 weights": lambda: function(xb, wb), "torch.compile, bf16 weights": lambda: quick(xb, wb)}


REFERENCES = {
    "product": product, "attention": attention, "convolution": convolution, "layer": layer,
    "softmax": along_rows(lambda x: F.softmax(x, dim=-1)),
    "layer-norm": along_rows(lambda x: F.layer_norm(x, (x.shape[-1],))),
    "rms-norm": along_rows(lambda x: F.rms_norm(x, (x.shape[-1],), eps=1e-5)),
    "row-sum": along_rows(lambda x: x.sum(-1)),
    "cast": along_rows(lambda x: x.to(torch.bfloat16)),
    "transpose": along_rows(lambda x: (x + x).t().contiguous()),
}


def wanted(case, inputs):
    """The result in f32, or None where there is nothing to compare with."""
    kind, shape = case["kind"], case["shape"]
    torch.backends.cuda.matmul.allow_tf32 = False
    if kind == "layer":
        return None
    wide = [x.float() for x in inputs]
    if kind == "product":
        y = wide[0] @ (wide[1].t() if shape["order"] == "nt" else wide[1])
        return F.gelu(y + wide[2], approximate="tanh") if shape["epilogue"] else y
    if kind == "attention":
        q, k, v = wide
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if shape["causal"]:
            scores = scores.masked_fill(torch.ones_like(scores[0], dtype=torch.bool).triu(1), -math.inf)
        return scores.softmax(-1) @ v
    if kind == "convolution":
        torch.backends.cudnn.allow_tf32 = False
        return F.conv2d(wide[0].permute(0, 3, 1, 2), wide[1].permute(3, 2, 0, 1), padding=shape["edge"]).permute(0, 2, 3, 1)
    return REFERENCES[kind](shape, wide)["torch"]().float()
