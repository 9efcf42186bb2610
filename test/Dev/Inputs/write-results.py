# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes results as lit does."""
import json
import pathlib
import sys


def write(name, *codes):
    tests = [{"name": f"mp :: {index}.mlir", "code": code} for index, code in enumerate(codes)]
    (pathlib.Path(sys.argv[1]) / f"{name}.json").write_text(json.dumps({"tests": tests}))


write("fine", "PASS", "XFAIL", "PASS", "UNSUPPORTED", "SKIPPED")
write("bad", "PASS", "FAIL", "UNRESOLVED")
