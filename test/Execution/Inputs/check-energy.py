# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes what mp-train --evaluate says of costs again, from the shapes of a perceptron and tables of energy, and compares.

usage: check-energy.py REPORT.json A.jsonl B.jsonl BATCH INPUTS HIDDEN OUTPUTS: A in f32, B in bf16, a perceptron of two layers.
"""
import json
import math
import sys

report = json.load(open(sys.argv[1]))
logs = [[json.loads(line) for line in open(path)] for path in sys.argv[2:4]]
batch, inputs, hidden, outputs = map(int, sys.argv[4:])
# Forward, the gradients of both weights, and of the hidden values.
products = 2 * batch * inputs * hidden + 3 * batch * hidden * outputs
# pJ of a multiplication and an addition, and of a byte: Jouppi 2021, table 2 (7 nm), and Horowitz 2014 (45 nm).
tables = {"7 nm": ({"bf16": 0.21, "f32": 1.31}, 0.38, 350 / 8), "45 nm": ({"bf16": 1.1, "f32": 3.7}, 0.9, 1950 / 8)}
energies = {name: [] for name in tables}
for events, narrow in zip(logs, ("f32", "bf16")):
    costs = next(event for event in events if event["kind"] == "version")
    told = next(event["gradients"] for event in events if "gradients" in event)
    assert [row["name"] for row in told] == ["input.weight", "input.bias", "output.weight", "output.bias"], told
    steps = sum(event["kind"] == "step" for event in events)
    assert costs["multiply_adds"] == {narrow: products}, (costs, products)
    for name, (multiply, add, byte) in tables.items():
        joules = costs["bytes"] * byte + products * (multiply[narrow] + add)
        joules += sum(count * multiply["bf16" if kind == "bf16" else "f32"] for kind, count in costs["operations"].items())
        energies[name].append(joules * steps * 1e-9)
for name, expected in energies.items():
    found = report[f"mJ of all steps, {name}, modelled"]
    assert all(math.isclose(x, y, rel_tol=1e-9) for x, y in zip(found, expected)), (name, found, expected)
    assert found[1] < found[0], (name, found)
times = report["us a step, modelled"]
parts = [report[f"  of {kind}"] for kind in ("kernels bound by launches", "those bound by memory", "those bound by arithmetic")]
assert all(math.isclose(sum(part[i] for part in parts), times[i], rel_tol=1e-9) for i in range(2)), (parts, times)
# A step reads and writes its parameters once each way, and reads x and the target once, at least.
least = 4 * (2 * (inputs * hidden + hidden + hidden * outputs + outputs) + batch * (inputs + outputs))
assert all(least < moved < 12 * least for moved in report["bytes moved a step, modelled"]), (least, report)
assert report["bytes moved a step, modelled"][1] < report["bytes moved a step, modelled"][0]
print("as computed by hand:", {name: [f"{value:.3g}" for value in values] for name, values in energies.items()})
