# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the log of a monitor and checks that its numbers agree with each other."""
import json
import math
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines[0]["kind"] == "start" and lines[-1]["kind"] == "summary", lines[0]
steps = lines[1:-1]
assert [line["step"] for line in steps] == list(range(int(sys.argv[2])))
for line in steps:
    gradients = [v for v in line["values"].values() if v["of"] == "gradient"]
    assert len(gradients) >= 4, line["values"].keys()
    norm = math.sqrt(sum(v["norm"] ** 2 for v in gradients))
    assert math.isclose(norm, line["gradient_norm"], rel_tol=1e-9), (norm, line["gradient_norm"])
    for value in line["values"].values():
        elements = value["elements"]
        parts = value["mean"] ** 2 + value["deviation"] ** 2
        assert math.isclose(math.sqrt(parts * elements), value["norm"], rel_tol=1e-9)
        assert value["largest_magnitude"] * math.sqrt(elements) >= value["norm"] * (1 - 1e-9)
        assert all(0 <= share <= 1 for f in value["formats"].values() for share in f.values())
traffic = lines[0]["traffic"]
assert set(traffic) >= {"f32", "f16"} and all(bytes > 0 for bytes in traffic.values()), traffic
