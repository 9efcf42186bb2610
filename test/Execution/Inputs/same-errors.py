# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that contractions of an assignment problem have the errors in bf16 that were measured, in whole units."""
import json
import sys

problem, measured = (json.load(open(path)) for path in sys.argv[1:3])
units = [next(v["error"] for v in node["variants"] if v["name"] == "bf16")
         for node in problem["nodes"] if node["name"] == "linalg.matmul"]
means = [sum(row["formats"]["bf16"]["draws"]) / len(row["formats"]["bf16"]["draws"])
         for row in measured["functions"][0]["contractions"]]
assert len(units) == len(means) == 4
assert len(set(units)) == 4, units
for unit, mean in zip(units, means):  # units are rounded up
    expected = mean / means[0] * units[0]
    assert abs(unit - expected) <= 1 + expected / units[0], (unit, expected)
