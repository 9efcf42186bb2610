#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares loss curves that mp-run --steps --json wrote.

usage: compare_losses.py REFERENCE.json OTHER.json ...

The loss is the last scalar without a role. A curve keeps up if it never lies further from the
reference's than a tenth of what that falls by, and falls itself.
"""
import json
import sys


def losses(path):
    steps = json.load(open(path))["steps"]
    return [values for name, values in steps.items() if name.startswith("result ")][-1]


reference = losses(sys.argv[1])
fall = reference[0] - reference[-1]
assert fall > 0, "the reference does not train"
kept = 0
for path in sys.argv[2:]:
    curve = losses(path)
    apart = max(abs(x - y) for x, y in zip(curve, reference))
    print(f"{curve[0]:.4f} -> {curve[-1]:.4f}, at most {apart:.4f} from {reference[0]:.4f} -> {reference[-1]:.4f}")
    kept += apart <= 0.1 * fall and curve[-1] < curve[0]
print(f"{kept} of {len(sys.argv) - 2} within 0.1 of the fall")
