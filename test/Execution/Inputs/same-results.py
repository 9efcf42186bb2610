# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every result of the first folder is in the second with the same bytes."""
import pathlib
import sys

first, second = (pathlib.Path(folder) for folder in sys.argv[1:3])
files = sorted(first.iterdir())
assert files, "no results"
for file in files:
    assert file.read_bytes() == (second / file.name).read_bytes(), file.name
