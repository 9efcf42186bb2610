# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares kernel-report with another tool's report of the same cubins.

usage: compare-sassreport.py SASSREPORT.py FOLDER

FOLDER holds PTX, which ptxas assembles beside it; every kernel of each cubin is compared figure by figure. Prints each difference and
a line with the number of cubins and kernels; exits 1 if anything differs.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

KINDS = ("mma ldsm lds sts stsm ldg stg ldgsts tma_load tma_store tmem sync branch int move fp mufu conv shfl const spill "
         "nop other atom atoms").split()


def load(path):
    spec = importlib.util.spec_from_file_location("sassreport", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assemble(ptx):
    cubin = ptx.with_suffix(".cubin")
    target = re.search(r"^\.target\s+(\w+)", ptx.read_text(), re.M)[1]
    subprocess.run(["ptxas", f"-arch={target}", str(ptx), "-o", str(cubin)], check=True)
    return cubin


def pairs(theirs, ours):
    """(figure, theirs, ours)"""
    yield "arch", theirs["arch"], ours["arch"]
    yield "registers", theirs["regs"], ours["registers"]
    yield "stack", theirs["stack_bytes"], ours["stack_bytes"]
    yield "shared", theirs["static_smem"] or 0, ours["shared_bytes"]
    yield "threads", theirs["threads"] or 0, ours["threads"]
    yield "code", theirs["code_bytes"], ours["code_bytes"]
    yield "instructions", theirs["instr_total"], ours["whole"]["instructions"]
    yield "spills", theirs["spill_instr"], ours["spill_instructions"]
    yield "loops", theirs["loops"], len(ours["loops"])
    yield "barriers", theirs["memory"]["bar"], ours["barriers"]
    main = theirs.get("main_loop", {})
    if "note" not in main and main:
        loop = ours["main_loop"]
        yield "main loop", main["instr"], loop["instructions"]
        yield "rare", main["cond_instr"], loop["rare_instructions"]
        for kind in KINDS:
            yield kind, main.get(kind, 0), loop.get(kind, 0)
        for name, own, digits in (("non_mma_per_mma16816", "non_mma_per_mma16816", 3), ("int_per_mma16816", "int_per_mma16816", 3),
                                  ("smem_load_bytes_per_mma16816", "shared_bytes_per_mma16816", 1)):
            if name in main:
                yield name, main[name], round(loop[own], digits)
    else:
        yield "main loop", False, "main_loop" in ours
    if "producer_loop" in theirs:
        yield "producer loop", theirs["producer_loop"]["instr"], ours.get("producer_loop", {}).get("instructions")


def main():
    sassreport = load(sys.argv[1])
    cubins = [assemble(ptx) for ptx in sorted(pathlib.Path(sys.argv[2]).glob("*.ptx"))]
    kernels = differences = 0
    for cubin in cubins:
        output = subprocess.run(["kernel-report", "--json", str(cubin)], check=True, capture_output=True, text=True).stdout
        for ours in json.loads(output):
            theirs = sassreport.report(str(cubin), ours["kernel"])
            kernels += 1
            for figure, expected, found in pairs(theirs, ours):
                if expected != found:
                    differences += 1
                    print(f"{cubin.name} {ours['kernel']}: {figure} is {expected} there, {found} here")
    print(f"{len(cubins)} cubins, {kernels} kernels, {differences} differences")
    return 1 if differences or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
