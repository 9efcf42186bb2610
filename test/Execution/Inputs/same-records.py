# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the records of the first step of two logs: counts are equal, norms within a thousandth."""
import json
import sys

first, second = ([json.loads(line) for line in open(path)][1]["values"] for path in sys.argv[1:3])
assert first.keys() == second.keys() and first, (first.keys(), second.keys())
for name, value in first.items():
    other = second[name]
    for key in ("elements", "nan", "infinite"):
        assert value[key] == other[key], (name, key, value[key], other[key])
    assert abs(value["norm"] - other["norm"]) <= 1e-3 * other["norm"], (name, value["norm"], other["norm"])
