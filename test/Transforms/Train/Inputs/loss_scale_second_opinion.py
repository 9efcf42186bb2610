#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the scales of 1,000 random trajectories of mp.update_loss_scale with those of the frameworks themselves.

usage: loss_scale_second_opinion.py loss-scale-rules.mlir FOLDER

Asked are torch.amp.GradScaler and jmp.DynamicLossScale, each where it is installed. Overflows come with a probability of
their own per trajectory, first scales are 2^-140 to 2^126. GradScaler's unscaled gradients are compared as well, with
infinities and NaN among them. Exit status 1 if a scale, a gradient or a flag differs in a bit; what is not installed is named.
"""
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(0)

ROWS, STEPS = 1000, 64


def grad_scaler(first, **options):
    """A GradScaler, and a parameter with the optimizer that it unscales for."""
    import torch
    parameter = torch.nn.Parameter(torch.zeros(1))
    scaler = torch.amp.GradScaler("cpu", init_scale=float(first), **options)
    scaler.scale(torch.zeros(()))  # makes its state
    return scaler, parameter, torch.optim.SGD([parameter])


def torch_scales(first, overflows, growth, backoff, interval):
    import torch
    gradients = torch.tensor([[1.0], [float("inf")]])
    table = np.empty(overflows.shape, np.float32)
    for row in range(ROWS):
        scaler, parameter, optimizer = grad_scaler(first[row], growth_factor=growth, backoff_factor=backoff, growth_interval=interval)
        for step in range(STEPS):
            parameter.grad = gradients[overflows[row, step]].clone()
            scaler.unscale_(optimizer)
            scaler.update()
            table[row, step] = scaler.get_scale()
    return table


def compare_unscaling(program, folder, draw):
    """Gradients and flags that differ from GradScaler's, of 1,000 rows with a scale each."""
    import torch
    scales = np.ldexp(1 + draw.random(ROWS), draw.integers(-100, 100, ROWS)).astype(np.float32)
    gradients = np.ldexp(draw.standard_normal((ROWS, STEPS)), draw.integers(-140, 120, (ROWS, STEPS))).astype(np.float32)
    for bad in (np.inf, -np.inf, np.nan):
        gradients[draw.random((ROWS, STEPS)) < 0.003] = bad
    np.save(f"{folder}-gradients.npy", gradients)
    np.save(f"{folder}-unscale.npy", scales)
    subprocess.run(["mp-run", program, "--entry=unscaled", f"--input=@{folder}-gradients.npy", f"--input=@{folder}-unscale.npy",
                    f"--output=@{folder}-unscaled.npy", f"--output=@{folder}-flags.npy"], check=True, stdout=subprocess.DEVNULL)
    found, flags = np.load(f"{folder}-unscaled.npy"), np.load(f"{folder}-flags.npy")
    different = 0
    for row in range(ROWS):
        scaler, parameter, optimizer = grad_scaler(scales[row])
        parameter.data = torch.zeros(STEPS)
        parameter.grad = torch.from_numpy(gradients[row].copy())
        scaler.unscale_(optimizer)
        wanted = parameter.grad.numpy()
        same = (found[row].view(np.uint32) == wanted.view(np.uint32)) | (np.isnan(found[row]) & np.isnan(wanted))
        flag = any(v.item() for v in scaler._found_inf_per_device(optimizer).values())
        different += int((~same).sum()) + (bool(flags[row]) != flag)
    print(f"unscaled: {found.size} gradients and {ROWS} flags of torch ({int(flags.sum())} set), {different} different")
    return different


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
    try:
        bad += compare_unscaling(program, folder, draw)
    except ImportError:
        print("unscaled: skipped, torch is not installed")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
