# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes results as lit and GoogleTest do."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def case(result="COMPLETED", failures=()):
    return {"status": "RUN", "result": result, "failures": list(failures)}


def report(name, *cases):
    (folder / "reports" / f"{name}.json").write_text(json.dumps({"testsuites": [{"testsuite": list(cases)}]}))


def lit(name, **tests):
    (folder / f"{name}.json").write_text(json.dumps(
        {"tests": [{"name": key.replace("__", " :: "), "code": code} for key, code in tests.items()]}))


report("Three", case(), case(), case("SKIPPED"), {"status": "NOTRUN", "result": "SUPPRESSED"})
report("Broken", case(), case(failures=["no"]))
lit("fine", **{"mp__a.mlir": "PASS", "mp__b.mlir": "XFAIL", "mp__c.mlir": "UNSUPPORTED", "mp-unit__Three.test": "PASS"})
lit("bad", **{"mp__a.mlir": "FAIL", "mp-unit__Broken.test": "FAIL", "mp-unit__Crashed.test": "FAIL"})
