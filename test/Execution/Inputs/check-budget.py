# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The round that is chosen keeps the limit on all draws, and no faster one that was tried does."""
import json
import sys

report = json.load(open(sys.argv[1]))
rounds, chosen, limit = report["rounds"], report["chosen"], report["limit"]
assert rounds[chosen]["measured"] <= limit and rounds[chosen]["held_back"] <= limit
for round in rounds:
    keeps = round["measured"] <= limit and (round["held_back"] is None or round["held_back"] <= limit)
    assert not keeps or round["picoseconds"] >= rounds[chosen]["picoseconds"], round
    if round["held_back"] is None:
        assert round["measured"] > limit or round["picoseconds"] >= rounds[chosen]["picoseconds"], round
assert report["draws"] == 3 and report["held_back_draws"] == 1
