#!/usr/bin/env python3
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the scales of 1,000 random trajectories of mp.update_loss_scale with those of the frameworks themselves.

usage: loss_scale_second_opinion.py loss-scale-rules.mlir FOLDER

Asked are torch.amp's update (the op GradScaler calls) and jmp.DynamicLossScale, each where it is installed. Overflows
come with a probability of their own per trajectory, first scales are 2^-140 to 2^126. Exit status 1 if a scale
differs in a bit; what is not installed is named.
"""
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(0)

ROWS, STEPS = 1000, 64


def torch_scales(first, overflows, growth, backoff, interval):
    import torch
    table = np.empty(overflows.shape, np.float32)
    for row in range(ROWS):
        scale, count = torch.tensor(first[row]), torch.tensor(0, dtype=torch.int32)
        for step in range(STEPS):
            flag = torch.tensor(float(overflows[row, step]))
            torch._amp_update_scale_(scale, count, flag, growth, backoff, interval)
            table[row, step] = scale.item()
    return table


def jmp_scales(first, overflows, period):
    import jax
    import jmp

    def trajectory(scale, flags):
        def advance(state, overflow):
            state = state.adjust(overflow == 0)
            return state, state.loss_scale
        start = jmp.DynamicLossScale(scale, jax.numpy.int32(0), period, 2)
        return jax.lax.scan(advance, start, flags)[1]

    return np.asarray(jax.jit(jax.vmap(trajectory))(first, overflows))


# rule of loss-scale-rules.mlir, framework, its scales, least first exponent
RULES = [
    ("torch", "torch", lambda f, o: torch_scales(f, o, 2.0, 0.5, 3), -140),
    ("torch_odd", "torch", lambda f, o: torch_scales(f, o, 1.1, 0.9, 2), -100),
    ("jmp", "jmp", lambda f, o: jmp_scales(f, o, 3), 0),
]


def main():
    program, folder = sys.argv[1:]
    draw = np.random.default_rng(11)
    overflows = (draw.random((ROWS, STEPS)) < draw.random((ROWS, 1)) * 0.7).astype(np.int8)
    np.save(f"{folder}-overflows.npy", overflows)
    bad = 0
    for rule, framework, scales, least in RULES:
        first = np.ldexp(1 + draw.random(ROWS), draw.integers(least, 127, ROWS)).astype(np.float32)
        try:
            expected = scales(first, overflows)
        except ImportError:
            print(f"{rule}: skipped, {framework} is not installed")
            continue
        np.save(f"{folder}-first.npy", first)
        subprocess.run(["mp-run", program, f"--entry={rule}", f"--input=@{folder}-first.npy",
                        f"--input=@{folder}-overflows.npy", f"--output=@{folder}-scales.npy"], check=True, stdout=subprocess.DEVNULL)
        found = np.load(f"{folder}-scales.npy")
        different = int((found.view(np.uint32) != expected.view(np.uint32)).sum())
        print(f"{rule}: {found.size} scales of {framework}, {different} different")
        if different:
            row, step = np.argwhere(found.view(np.uint32) != expected.view(np.uint32))[0]
            print(f"  trajectory {row}, step {step}: expected {expected[row, step]!r}, found {found[row, step]!r}")
        bad += different
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
