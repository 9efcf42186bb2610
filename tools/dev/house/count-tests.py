#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts what lit and the GoogleTest programs it ran report.

usage: count-tests.py LIT.json GTEST_REPORTS

Prints `N passed, N failed, N skipped` as the last line; exits 0 if nothing failed and
something passed. A GoogleTest program counts with each of its cases; one that wrote
no report (it crashed) counts as one failure.
"""
import json
import pathlib
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def gtest_counts(report):
    """(passed, failed, skipped) of one GoogleTest JSON report."""
    passed = failed = skipped = 0
    for suite in report["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("status") != "RUN":
                continue
            if case.get("failures"):
                failed += 1
            elif case.get("result") == "SKIPPED":
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def lit_counts(tests, reports):
    passed = failed = skipped = 0
    for test in tests:
        code = test["code"]
        suite, _, path = test["name"].partition(" :: ")
        report = reports / (pathlib.Path(path).stem + ".json")
        if suite == "mp-unit" and code not in SKIPPED and report.exists():
            ok, bad, left = gtest_counts(json.loads(report.read_text()))
            if code not in PASSED and bad == 0:
                bad = 1  # all cases fine, yet the program failed: it died on the way out
            passed, failed, skipped = passed + ok, failed + bad, skipped + left
        elif code in PASSED:
            passed += 1
        elif code in SKIPPED:
            skipped += 1
        else:
            failed += 1
    return passed, failed, skipped


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: count-tests.py LIT.json GTEST_REPORTS")
    try:
        tests = json.loads(pathlib.Path(sys.argv[1]).read_text())["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"count-tests: no result of lit in {sys.argv[1]}: {error}", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    passed, failed, skipped = lit_counts(tests, pathlib.Path(sys.argv[2]))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
