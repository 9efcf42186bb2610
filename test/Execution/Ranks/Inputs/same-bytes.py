#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: same-bytes.py REMARK OUTPUT CALLS

Compares the bytes that the remark of mp-partition says a rank sends in a call, or that of mp-pipeline all of them, with those that
mp-run counted."""
import re
import sys

planned = int(re.search(r"(\d+) bytes (?:a|in a) call", open(sys.argv[1]).read()).group(1))
counted = int(re.search(r"(\d+) bytes sent (?:by each rank|between ranks)", open(sys.argv[2]).read()).group(1))
calls = int(sys.argv[3])
print("planned is sent" if planned > 0 and planned * calls == counted
      else f"planned {planned} bytes a call, counted {counted} in {calls} calls")
