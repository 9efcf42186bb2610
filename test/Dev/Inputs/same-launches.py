# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sets a line of dispatches.py beside the counts of a report of mp-run that ran all blocks.

usage: same-launches.py TABLE REPORT.json
"""
import json
import sys

name, function, launches, _, moved, *_ = open(sys.argv[1]).read().splitlines()[1].split()
kernels = json.load(open(sys.argv[2]))["kernels"]
print(f"{function} launches {launches}, counted {sum(k['launches'] for k in kernels)}")
print(f"{function} MB moved {moved}, counted {sum(k['global_sectors'] for k in kernels) * 32e-6:.2f}")
