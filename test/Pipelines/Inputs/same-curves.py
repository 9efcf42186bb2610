# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: same-curves.py RUN.json OTHER.json LIMIT
# Prints, per scalar that both runs of mp-run --steps recorded, the largest relative difference
# over all steps; fails where one exceeds LIMIT, or is no number in one run only.
import json
import sys

left, right = (json.load(open(path))["steps"] for path in sys.argv[1:3])
failed = False
for name in sorted(left.keys() & right.keys()):
    pairs = list(zip(left[name], right[name], strict=True))
    failed |= any((x is None) != (y is None) for x, y in pairs)
    worst = max((abs(x - y) / max(abs(y), 1e-30) for x, y in pairs if None not in (x, y)), default=0)
    failed |= worst > float(sys.argv[3])
    print(f"{name}: {len(pairs)} steps, largest difference {worst:g}")
sys.exit(failed)
