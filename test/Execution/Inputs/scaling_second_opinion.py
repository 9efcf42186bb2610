#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what mp-run computes for scaling-recipes.mlir with the same recipes in numpy and ml_dtypes.

usage: scaling_second_opinion.py scaling-recipes.mlir FOLDER

1,000 random rows of magnitudes from 2^-60 to 2^60. Every code and scale must be the same bit for bit;
where torch is installed its casts and its fake quantisation are asked too. Exit status 1 if
something differs; without numpy and ml_dtypes nothing is compared, and a line says so.
"""
import os
import subprocess
import sys

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    print("skipped: numpy and ml_dtypes are not installed")
    sys.exit(0)
try:
    import torch
except ImportError:
    torch = None

F32 = np.float32
E4M3, E5M2, E2M1 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn


def cast(values, dtype, largest):
    """Saturating, to nearest even."""
    return np.clip(values, F32(-largest), F32(largest)).astype(dtype).view(np.uint8)


def by_blocks(values, size):
    return values.reshape(values.shape[0], -1, size)


def expected_results(x):
    row = np.abs(x).max(axis=1, keepdims=True)
    with np.errstate(over="ignore", divide="ignore"):
        for dtype, largest in ((E4M3, 448), (E5M2, 57344)):
            yield f"current {largest}", cast(x * (F32(largest) / row), dtype, largest)
        wide = (448.0 / np.maximum(row.astype(np.float64), 1e-12)).astype(F32)
        power = np.ldexp(F32(1), np.frexp(wide)[1] - 1)
        yield "torchao rowwise", cast(x * power, E4M3, 448)
        yield "its scale", F32(1) / power

        blocks = by_blocks(x, 32)
        amax = np.abs(blocks).max(axis=2, keepdims=True)
        mantissa, exponent = np.frexp(amax * (F32(1) / F32(448)))
        up = np.where(mantissa == 0.5, exponent - 1, exponent)
        yield "MXFP8, rounded up", cast(np.ldexp(blocks, -up), E4M3, 448).reshape(x.shape)
        yield "its scale", (up + 127).astype(np.uint8)[:, :, 0]
        down = np.frexp(amax)[1] - 1 - 8
        yield "MXFP8, floor", cast(np.ldexp(blocks, -down), E4M3, 448).reshape(x.shape)
        yield "its scale", (down + 127).astype(np.uint8)[:, :, 0]

        encode = F32(127) / row
        integers = np.clip(np.rint(x * encode), -127, 127)
        yield "int8", integers.astype(np.int8)
        yield "its scale", F32(1) / encode

        overall = F32(448 * 6) / np.abs(x).max()
        blocks = by_blocks(x, 16)
        stored = np.minimum(np.abs(blocks).max(axis=2, keepdims=True) * (overall * (F32(1) / F32(6))), F32(448)).astype(E4M3)
        inner = np.minimum(F32(1) / (stored.astype(F32) * (F32(1) / overall)), np.finfo(F32).max)
        yield "NVFP4", cast((blocks * inner).astype(F32), E2M1, 6).reshape(x.shape)
        yield "its scale", stored.view(np.uint8)[:, :, 0]

        decode = np.maximum(row, F32(1e-4)) / F32(448)
        yield "DeepGEMM", cast(x * (F32(1) / decode), E4M3, 448)
        yield "its scale", decode
        yield "int8 back", integers.astype(np.int8).astype(F32) * (F32(1) / encode)


def torch_opinions(x, results):
    """(name, found, what torch makes of the same scaled values)."""
    row = np.abs(x).max(axis=1, keepdims=True)
    for index, dtype, largest in ((0, torch.float8_e4m3fn, 448), (1, torch.float8_e5m2, 57344)):
        scaled = torch.from_numpy(x * (F32(largest) / row)).clamp(-largest, largest)
        yield f"torch {dtype}", results[index], scaled.to(dtype).view(torch.uint8).numpy()
    scale = torch.from_numpy((F32(1) / (F32(127) / row))[:, 0])
    zero = torch.zeros(len(x), dtype=torch.int32)
    fake = torch.fake_quantize_per_channel_affine(torch.from_numpy(x), scale, zero, 0, -127, 127).numpy()
    # Its codes come from 1 / scale, which may lie a last place beside the encode scale.
    yield "torch fake quantisation", np.isclose(results[14], fake, rtol=0, atol=scale[:, None].numpy() * 1.0001), np.True_


def main():
    program, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1000, 64)).astype(F32)
    x *= np.ldexp(F32(1), rng.integers(-60, 60, (1000, 1))).astype(F32)
    x[rng.random(x.shape) < 0.05] = 0
    np.save(f"{folder}/x.npy", x)
    names = [f"{folder}/{i}.npy" for i in range(15)]
    subprocess.run(["mp-run", program, f"--input=@{folder}/x.npy", *(f"--output=@{n}" for n in names)], check=True,
                   stdout=subprocess.DEVNULL)
    results = [np.load(name) for name in names]
    comparisons = [(name, found, wanted) for found, (name, wanted) in zip(results, expected_results(x))]
    assert len(comparisons) == len(results)
    if torch:
        comparisons += list(torch_opinions(x, results))
    different = 0
    for name, found, wanted in comparisons:
        # Signs of zero included, whatever the type of a code.
        same = np.array_equal(found.view(np.uint8), np.broadcast_to(wanted, found.shape).astype(found.dtype).view(np.uint8))
        count = int(np.sum(found != np.broadcast_to(wanted, found.shape))) or int(not same)
        different += count
        print(f"{name}: {found.size} values, {count} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
