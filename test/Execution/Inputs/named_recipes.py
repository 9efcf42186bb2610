#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares scales and codes that mp-run computes for named-recipes.mlir with the implementations they are named after.

usage: named_recipes.py named-recipes.mlir FOLDER

Asked are torchao (tensorwise, rowwise and MX scales, and MX codes) and Flax (delayed scaling), each where it is installed; what is
not is named. Magnitudes go from 2^-60 to 2^60, zeros and infinities among them. Exit status 1 if a bit differs.
"""
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(0)

ROWS, WIDTH, STEPS = 1000, 64, 24


def run(program, folder, entry, inputs, results):
    names = [f"{folder}-{entry}-{i}.npy" for i in range(results)]
    for i, array in enumerate(inputs):
        np.save(f"{folder}-{entry}-in{i}.npy", array)
    subprocess.run(["mp-run", program, f"--entry={entry}", *(f"--input=@{folder}-{entry}-in{i}.npy" for i in range(len(inputs))),
                    *(f"--output=@{name}" for name in names)], check=True, stdout=subprocess.DEVNULL)
    return [np.load(name) for name in names]


def compare(name, found, wanted):
    found, wanted = np.ascontiguousarray(found), np.ascontiguousarray(wanted)
    assert found.shape == wanted.shape and found.itemsize == wanted.itemsize, (name, found.shape, wanted.shape)
    bits = np.dtype(f"u{found.itemsize}")
    apart = found.view(bits) != wanted.view(bits)
    if found.dtype == np.float32:
        apart &= ~(np.isnan(found) & np.isnan(wanted))
    print(f"{name}: {found.size} values, {int(apart.sum())} different")
    if apart.any():
        place = tuple(np.argwhere(apart)[0])
        print(f"  at {place}: expected {wanted[place]!r}, found {found[place]!r}")
    return int(apart.sum())


def magnitudes(draw, shape, finite=False):
    values = np.ldexp(1 + draw.random(shape), draw.integers(-60, 60, shape)).astype(np.float32)
    values[draw.random(shape) < 0.03] = 0
    if not finite:
        values[draw.random(shape) < 0.01] = np.inf
    return values


def ask_torchao(program, folder, draw):
    import torch
    from torchao.float8.float8_utils import amax_to_scale
    from torchao.prototype.mx_formats.config import ScaleCalculationMode as Mode
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    amax = magnitudes(draw, ROWS)
    formats = [(torch.float8_e4m3fn, False), (torch.float8_e4m3fn, True), (torch.float8_e5m2, False), (torch.float8_e5m2, True)]
    bad = 0
    for (dtype, power), found in zip(formats, run(program, folder, "torchao", [amax], 4)):
        wanted = amax_to_scale(torch.from_numpy(amax), dtype, power).numpy()
        bad += compare(f"torchao {dtype}, {'rowwise' if power else 'tensorwise'}", found, wanted)

    x = (magnitudes(draw, (ROWS, 1), finite=True) * draw.standard_normal((ROWS, WIDTH))).astype(np.float32)
    x[draw.random(ROWS) < 0.05, :32] = 0
    found = run(program, folder, "mx", [x], 10)
    modes = [(Mode.FLOOR, torch.float8_e4m3fn), (Mode.RCEIL, torch.float8_e4m3fn), (Mode.CEIL, torch.float8_e4m3fn),
             (Mode.EVEN, torch.float8_e4m3fn), (Mode.FLOOR, torch.float4_e2m1fn_x2)]
    for i, (mode, dtype) in enumerate(modes):
        scale, codes = to_mx(torch.from_numpy(x), dtype, 32, mode)
        codes = codes.view(torch.uint8).numpy()
        if dtype == torch.float4_e2m1fn_x2:  # two codes in a byte, the first in the low half
            codes = np.stack([codes & 15, codes >> 4], -1).reshape(ROWS, WIDTH)
        bad += compare(f"torchao MX {mode.value} {dtype}, scales", found[2 * i + 1].view(np.uint8), scale.view(torch.uint8).numpy())
        bad += compare(f"torchao MX {mode.value} {dtype}, codes", found[2 * i].view(np.uint8), codes)
    return bad


def ask_flax(program, folder, draw):
    import jax
    import jax.numpy as jnp
    from flax.linen import fp8_ops
    amax = magnitudes(draw, (ROWS, STEPS))

    def trajectory(row):
        def advance(state, now):
            scale, history = fp8_ops.update_fp8_meta(now[None], jnp.float8_e4m3fn, *state)
            return (scale, history), scale[0]
        start = (jnp.ones(1, jnp.float32), jnp.zeros(4, jnp.float32))
        return jax.lax.scan(advance, start, row)[1]

    wanted = np.asarray(jax.vmap(trajectory)(amax))
    return compare("Flax, delayed scales", run(program, folder, "flax", [amax], 1)[0], wanted)


def main():
    program, folder = sys.argv[1:]
    bad = 0
    for name, ask in (("torchao", ask_torchao), ("flax", ask_flax)):
        try:
            bad += ask(program, folder, np.random.default_rng(5))
        except ImportError as missing:
            print(f"{name}: skipped, {missing}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
