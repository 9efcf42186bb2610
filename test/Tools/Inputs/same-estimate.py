# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the estimates of two reports of mp-run: touched bytes, and modelled times.

usage: same-estimate.py WHOLE.json SAMPLED.json
"""
import json
import sys

whole, sampled = (json.load(open(path))["estimate"] for path in sys.argv[1:])
assert sampled["sampled_blocks"] < sampled["blocks"] == whole["blocks"] == whole["sampled_blocks"]
print("bytes", whole["touched_bytes"], sampled["touched_bytes"])
for percent in (1, 10):
    far = abs(sampled["modelled_microseconds"] / whole["modelled_microseconds"] - 1) * 100
    print(f"within {percent} %: {far < percent}")
