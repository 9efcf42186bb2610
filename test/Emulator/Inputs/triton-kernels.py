# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Triton and compiled by it, run on the emulator and compared with numpy.

usage: triton-kernels.py FOLDER      for scratch files; mp-run is found in PATH

Prints a line for each kernel and target: the largest difference over the largest magnitude, and its bound.
"""
import os
import subprocess
import sys

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = (80, 89, 90, 120)
WARP = 32


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0)
    mean = tl.sum(v, axis=0) / columns
    centred = tl.where(inside, v - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    tl.store(y + row * columns + i, centred * tl.rsqrt(variance + 1e-5), mask=inside)


@triton.jit
def running_sum(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    tl.store(y + row * columns + i, tl.cumsum(v, axis=0), mask=i < columns)


@triton.jit
def column_sums(x, sums, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.atomic_add(sums + i, tl.load(x + row * columns + i, mask=i < columns), mask=i < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=ACC)
    for start in range(0, K, BK):
        inside = start + k < K
        x = tl.load(a + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None] & inside[None, :], other=0)
        y = tl.load(b + (start + k)[:, None] * N + n[None, :], mask=inside[:, None] & (n < N)[None, :], other=0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def matmul_fp8(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (start + k)[None, :]).to(tl.float8e4nv, bitcast=True)
        y = tl.load(b + (start + k)[:, None] * N + n[None, :]).to(tl.float8e4nv, bitcast=True)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def matmul_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    columns = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        acc = tl.dot(rows.load([m, start]), columns.load([start, n]), acc)
    tl.store(c + (m + tl.arange(0, BM))[:, None] * N + (n + tl.arange(0, BN))[None, :], acc)


@triton.jit
def histogram(x, y, BLOCK: tl.constexpr, BINS: tl.constexpr):
    tl.store(y + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, BLOCK)), BINS))


@triton.jit
def attention(q, k, v, o, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + m[:, None] * D + d[None, :], mask=(m < length)[:, None], other=0.0)
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        n = start + tl.arange(0, BN)
        keys = tl.load(k + n[:, None] * D + d[None, :], mask=(n < length)[:, None], other=0.0)
        scores = tl.where((n < length)[None, :], tl.dot(queries, tl.trans(keys)) * 0.25, -float("inf"))
        largest = tl.maximum(best, tl.max(scores, axis=1))
        p = tl.exp(scores - largest[:, None])
        scale = tl.exp(best - largest)
        values = tl.load(v + n[:, None] * D + d[None, :], mask=(n < length)[:, None], other=0.0)
        acc = tl.dot(p.to(tl.float16), values, acc * scale[:, None])
        total = total * scale + tl.sum(p, axis=1)
        best = largest
    tl.store(o + m[:, None] * D + d[None, :], acc / total[:, None], mask=(m < length)[:, None])


class Kernel:
    """A kernel, the types of its parameters, its arguments, the grid, what it should compute, how exactly, and from which target on."""

    def __init__(self, function, types, constants, arguments, grid, expected, bound, name=None, least=80):
        self.least = least
        self.function, self.types, self.constants = function, types, constants
        self.arguments, self.grid, self.expected, self.bound = arguments, grid, expected, bound
        self.name = name or function.__name__

    def compile(self, target):
        names = self.function.arg_names
        signature = dict(zip(names, self.types)) | {name: "constexpr" for name in self.constants}
        source = ASTSource(fn=self.function, signature=signature, constexprs=self.constants)
        return triton.compile(source, target=GPUTarget("cuda", target, WARP), options={"num_warps": 4, "num_stages": 3})

    def run(self, target, folder):
        compiled = self.compile(target)
        path = os.path.join(folder, f"{self.name}{target}")
        with open(path + ".ptx", "w") as file:
            file.write(compiled.asm["ptx"])
        # Triton passes two pointers of its own, to scratch memory, of which these kernels use the first for descriptors.
        command = ["mp-run", path + ".ptx", f"--kernel={compiled.metadata.name}", f"--grid={self.grid},1",
                   f"--block={WARP * compiled.metadata.num_warps},1,1", f"--smem={compiled.metadata.shared}"]
        for number, argument in enumerate(self.arguments):
            if isinstance(argument, int):
                command.append(f"--input=i32:{argument}")
                continue
            np.save(f"{path}.{number}.npy", argument)
            command.append(f"--input=@{path}.{number}.npy")
        command += ["--input=4096xi8=0", "--input=i64:0"]
        command += [f"--output=@{path}.out.npy", f"--output=@{path}.scratch.npy"]  # the last arrays
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            return f"FAILED: {ran.stderr.strip()}"
        found = np.load(path + ".out.npy").astype(np.float64)
        error = np.abs(found - self.expected).max() / np.abs(self.expected).max()
        return f"{'ok' if error <= self.bound else 'FAILED:'} {error:.2g} of the largest magnitude, bound {self.bound:.2g}"


def bits_of_bf16(x):
    """The upper halves of f32 values that bf16 holds exactly."""
    return (x.view(np.uint32) >> 16).astype(np.uint16).view(np.int16)


def bits_of_e4m3(x):
    """Of integers from -4 to 4."""
    return np.where(x < 0, 0x80, 0).astype(np.uint8).view(np.int8) | np.array([0, 0x38, 0x40, 0x44, 0x48], np.int8)[np.abs(x).astype(int)]


def make_kernels():
    random = np.random.default_rng(1)
    normal = lambda *shape: random.standard_normal(shape, dtype=np.float32)
    x, y = normal(1000), normal(1000)
    rows = normal(5, 300)
    exact = rows.astype(np.float64)
    exponentials = np.exp(exact - exact.max(axis=1, keepdims=True))
    row = (["*fp32", "*fp32", "i32"], {"BLOCK": 512}, [rows, np.zeros_like(rows), 300], "5,1")
    centred = exact - exact.mean(axis=1, keepdims=True)
    whole = np.round(rows * 8)  # sums of these are exact in any order
    yield Kernel(add, ["*fp32"] * 3 + ["i32"], {"BLOCK": 256}, [x, y, np.zeros_like(x), 1000], "4,1",
                 x + y, 0)
    yield Kernel(softmax, *row, exponentials / exponentials.sum(axis=1, keepdims=True), 1e-6)
    yield Kernel(layer_norm, *row, centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5), 1e-6)
    yield Kernel(running_sum, row[0], row[1], [whole, np.zeros_like(whole), 300], "5,1", np.cumsum(whole, axis=1), 0)
    yield Kernel(column_sums, ["*fp32", "*fp32", "i32", "i32"], {"BLOCK": 512},
                 [whole, np.zeros(300, np.float32), 5, 300], "5,1", whole.sum(axis=0), 0)

    # Ragged in all three sizes. Small integers: the products' sums are exact in any order.
    M, N, K = 100, 70, 90
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    product = a @ b
    tile = {"BM": 64, "BN": 64, "BK": 32}
    for name, type, of, result, accumulator in (
            ("tf32", "fp32", lambda v: v, np.float32, tl.float32),
            ("f16", "fp16", lambda v: v.astype(np.float16), np.float32, tl.float32),
            ("bf16", "bf16", bits_of_bf16, np.float32, tl.float32),
            ("s8", "i8", lambda v: v.astype(np.int8), np.int32, tl.int32)):
        c, pointer = np.zeros((M, N), result), "*i32" if result is np.int32 else "*fp32"
        yield Kernel(matmul, ["*" + type] * 2 + [pointer] + ["i32"] * 3, tile | {"ACC": accumulator},
                     [of(a), of(b), c, M, N, K], "2,2", product, 0, name="matmul_" + name)

    M, N, K = 128, 64, 128
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    product, whole_tiles = a @ b, {"BM": 64, "BN": 64, "BK": 64}
    for function, type, of, least in ((matmul_fp8, "i8", bits_of_e4m3, 89), (matmul_descriptors, "fp16", lambda v: v.astype(np.float16), 80)):
        yield Kernel(function, ["*" + type] * 2 + ["*fp32"] + ["i32"] * 3, whole_tiles, [of(a), of(b), np.zeros((M, N), np.float32), M, N, K], "2,1",
                     product, 0, least=least)
    bins = random.integers(0, 32, 256).astype(np.int32)
    yield Kernel(histogram, ["*i32"] * 2, {"BLOCK": 256, "BINS": 32}, [bins, np.zeros(32, np.int32)], "1,1", np.bincount(bins, minlength=32), 0)

    length, depth = 100, 64
    q, k, v = (normal(length, depth).astype(np.float16) for _ in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.25
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    attended = p / p.sum(axis=1, keepdims=True) @ v.astype(np.float64)
    # Probabilities are rounded to f16.
    yield Kernel(attention, ["*fp16"] * 3 + ["*fp32", "i32"], {"BM": 64, "BN": 32, "D": depth},
                 [q, k, v, np.zeros((length, depth), np.float32), length], "2,1", attended, 2 ** -11)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(folder, "cache"))
    failed = 0
    for kernel in make_kernels():
        for target in (t for t in TARGETS if t >= kernel.least):
            line = kernel.run(target, folder)
            failed += line.startswith("FAILED")
            print(f"{kernel.name} sm_{target}: {line}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
