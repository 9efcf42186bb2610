# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: edit.py SUBSTRING PATTERN REPLACEMENT FILE
# The file with PATTERN replaced in the first line that holds SUBSTRING; fails if that changes nothing.
import re
import sys

substring, pattern, replacement, path = sys.argv[1:]
lines = open(path).read().splitlines(keepends=True)
place = next(i for i, line in enumerate(lines) if substring in line)
edited = re.sub(pattern, replacement, lines[place], count=1)
assert edited != lines[place], lines[place]
lines[place] = edited
sys.stdout.write("".join(lines))
