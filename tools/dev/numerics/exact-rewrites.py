#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proves the lemmas of rewrites that claim to be exact, and prints how many are.

usage: exact-rewrites.py [--bin DIR] [--pairs] [--records FILE] [--write PAGE]

Lemmas are tried in every case by the program exact-rewrites (--pairs: on all pairs of f16 and bf16, too, which takes
minutes; --records: a file of its lines from an earlier run), or are formulas that z3 must find unsatisfiable, where it is installed
(Debian's package z3). Falsehoods must be seen to be false. Of every pass whose summary ends in (exact) the page says what
it rests on: lemmas, or tests alone. Exits with 1 if something is not as claimed.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import write_table

ROOT = pathlib.Path(__file__).parents[3]
FORMATS = {"bf16": "8 8", "f16": "5 11", "f8E5M2": "5 3", "f8E4M3": "4 4", "f8E3M4": "3 5"}  # those of IEEE form

# Rewrite, where it is, and the lemmas that together say it is exact.
REWRITES = [
    ("cast(cast(x : N to W) : W to N) is x", "`lib/Dialect/MP/MPCastOps.cpp`", ["cast pair"]),
    ("cast(extf(x : N to W) : W to N) is x", "`lib/Transforms/Optimize/OptimizeCasts.cpp`", ["cast pair"]),
    ("round(round(x)) is round(x); round(widen(x : F)) is widen(x)", "`lib/Dialect/MP/MPCastOps.cpp`", ["rounding of rounded"]),
    ("a cast between formats of one width goes through f32", "`lib/Transforms/Interop/CastsToUpstream.cpp`", ["through f32"]),
    ("add, sub, mul, div of at most 8 bits in f32", "`lib/Transforms/Interop/EmulateNarrowArithmetic.cpp`",
     ["addition, 8 bits", "product, 8 bits", "quotient, 8 bits"]),
    ("add, sub, mul, div of f16 in f32", "`lib/Transforms/Interop/EmulateNarrowArithmetic.cpp`",
     ["addition, f16", "product, f16", "quotient, f16"]),
    ("add, sub, mul, div of bf16 in f32", "`lib/Transforms/Interop/EmulateNarrowArithmetic.cpp`",
     ["addition, bf16", "product, bf16", "quotient, bf16"]),
    ("an integer of 64 bits to a narrow float through f64", "`lib/Transforms/Interop/EmulateNarrowArithmetic.cpp`",
     [f"{sign} to {name} through f64" for sign in ("i64", "ui64") for name in FORMATS]),
    ("join(split(x)) is x, of masters of 16 + 16 bits", "`lib/Dialect/MP/MasterOps.cpp`", ["join of split"]),
]
# Passes of which a rewrite above is the arithmetic; those that are left rest on tests.
PASSES = {"mp-optimize-casts": [0, 1, 2], "mp-casts-to-upstream": [3], "mp-emulate-narrow-arithmetic": [4, 5, 6, 7]}


def integer_formula(signed, digits, rounds_to_odd=True):
    """An integer that rounds otherwise through f64. Arithmetic is that of roundToOdd in EmulateNarrowArithmetic."""
    convert = "to_fp" if signed else "to_fp_unsigned"
    moved, limit = ("(bvadd x #x0020000000000000)", "#x0040000000000000") if signed else ("x", "#x0020000000000000")
    return f"""(set-logic QF_BVFP)
(declare-const x (_ BitVec 64))
(define-fun low () (_ BitVec 64) (bvand x #x0000000000000fff))
(define-fun odd () (_ BitVec 64) (ite (= low #x0000000000000000) x (bvor (bvsub x low) #x0000000000000800)))
(define-fun y () (_ BitVec 64) {f"(ite (bvule {moved} {limit}) x odd)" if rounds_to_odd else "x"})
(assert (not (= ((_ {convert} {digits}) RNE x) ((_ to_fp {digits}) RNE ((_ {convert} 11 53) RNE y)))))
(check-sat)"""


def master_formula(carries=True):
    """A word that is not what its halves give again: the upper is rounded by the highest bit of the lower."""
    bit = lambda word: f"((_ zero_extend 15) ((_ extract 15 15) {word}))" if carries else "#x0001"
    return f"""(set-logic QF_BV)
(declare-const x (_ BitVec 32))
(define-fun low () (_ BitVec 16) ((_ extract 15 0) x))
(define-fun high () (_ BitVec 16) (bvadd ((_ extract 31 16) x) {bit("x")}))
(assert (not (= x (concat (bvsub high {bit("low") if carries else "#x0000"}) low))))
(check-sat)"""


def formulas():
    """Lemma, formula, and whether it is true, that is, the formula has no model."""
    for digits_of, digits in FORMATS.items():
        yield f"i64 to {digits_of} through f64", integer_formula(True, digits), True
        yield f"ui64 to {digits_of} through f64", integer_formula(False, digits), True
    yield "join of split", master_formula(), True
    yield "i64 to bf16 through f64, not to odd", integer_formula(True, FORMATS["bf16"], rounds_to_odd=False), False
    yield "join of split without the carry", master_formula(carries=False), False


def enumerate_cases(program, words):
    """The lines of the program, by lemma."""
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return {line["lemma"]: line for line in map(json.loads, done.stdout.splitlines())}


def ask_solver(wrong):
    """By lemma what is said of it in the table; adds what is not as it is claimed."""
    if not shutil.which("z3"):
        print("z3 is not on PATH: formulas are not proved", file=sys.stderr)
        return {}
    proved = {}
    for name, formula, holds in formulas():
        said = subprocess.run(["z3", "-in", "-T:600"], input=formula, capture_output=True, text=True).stdout.strip()
        if said != ("unsat" if holds else "sat"):
            wrong.append(f"{name}: z3 says {said}")
        elif holds:
            proved[name] = "by SMT"
    return proved


def exact_passes():
    """Names of passes whose summary ends in (exact)."""
    for path in sorted((ROOT / "include/mp").rglob("*Passes.td")):
        for found in re.finditer(r'def \w+ : Pass<"([\w-]+)".*?let summary =(.*?);', path.read_text(), re.S):
            if "(exact)" in found[2]:
                yield found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--records", type=pathlib.Path)
    parser.add_argument("--write")
    options = parser.parse_args()
    wrong, proved = [], {}
    found = enumerate_cases(options.bin / "exact-rewrites", ["--pairs"] if options.pairs else [])
    if options.records:
        found = {line["lemma"]: line for line in map(json.loads, options.records.read_text().splitlines())} | found
    for name, line in found.items():
        proved[name] = f"{line['cases']:,} cases"
        if line["failures"]:
            wrong.append(f"{name}: {line['failures']} of {line['cases']} cases fail, first {line['first']}")
    falsehoods = enumerate_cases(options.bin / "exact-rewrites", ["--false"])
    wrong += [f"{name} is false, and no case shows it" for name, line in falsehoods.items() if not line["failures"]]
    proved |= ask_solver(wrong)

    rows, count = [], 0
    for rewrite, where, lemmas in REWRITES:
        left = [name for name in lemmas if name not in proved]
        hows = sorted({proved[name] for name in lemmas if name in proved})
        count += not left
        how = f"tested: not proved here: {', '.join(left)}" if left else f"proved, {' and '.join(hows)}"
        rows.append(f"| {rewrite} | {where} | {', '.join(lemmas) if len(lemmas) < 4 else f'{len(lemmas)} lemmas'} | {how} |")
    passes = list(exact_passes())
    if unknown := set(PASSES) - set(passes):
        wrong.append(f"no pass says that it is exact: {', '.join(sorted(unknown))}")
    text = "\n".join(["| rewrite | where | lemma | how |", "|---|---|---|---|", *rows, "",
                      f"{count} of {len(REWRITES)} rewrites proved; {len(falsehoods) + 2} falsehoods seen to be false.", "",
                      f"Of {len(passes)} passes that say they are exact, the arithmetic of {len(PASSES)} is in the table: "
                      f"{', '.join(f'`{name}`' for name in PASSES)}. The others rest on tests alone: "
                      f"{', '.join(f'`{name}`' for name in passes if name not in PASSES)}."])
    if options.write:
        write_table(options.write, text)
    print(text)
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
