#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what lit reports.

usage: count-tests.py LIT.json

Prints `N passed, N failed, N skipped` as the last line; exits 0 if nothing failed and
something passed.
"""
import json
import pathlib
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def lit_counts(tests):
    """(passed, failed, skipped) of lit's results; lit itself lists each case of a GoogleTest program."""
    codes = [test["code"] for test in tests]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    return passed, len(codes) - passed - skipped, skipped


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: count-tests.py LIT.json")
    try:
        tests = json.loads(pathlib.Path(sys.argv[1]).read_text())["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"count-tests: no result of lit in {sys.argv[1]}: {error}", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    passed, failed, skipped = lit_counts(tests)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
