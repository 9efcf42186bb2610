#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards speed by counts, which are the same at every run: +3 % over what counts.json holds fails.

usage: guard-counts.py BUILD [--only WORD ...] [--renew REASON] [--data FILE] [--list] [--core | --long]

Compiling is counted in instructions of mp-opt (valgrind's cachegrind) beyond those of its start, and in bytes that an op
adds to the peak of its heap (massif); kernels in what the
emulator counts of a model's run: launches, warp instructions, sectors of global and wavefronts of shared memory.
Instructions differ by compiler, flags and libraries, kernels by LLVM's version: each set of counts is stored with these,
and a build of which none is stored is skipped with a message. Where a change costs more on purpose, or less,
--renew stores the counts of this build, the reason, and what changed by 3 % or more.

--core: compiling alone, in the few counts that the preset of CI has: valgrind takes 6 s to start mp-opt, so six models are one count.

--long: chains that are too slow for CI, instead of all others, and the bytes that an op takes: what the peak of
converting grows by from 100,000 ops to 1,000,000, which needs some gigabytes. Counts of these that are not stored are printed.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from common import count_instructions, peak_bytes

DATA = pathlib.Path(__file__).with_name("counts.json")
LIMIT = 0.03
SMALL = ["--layers=1", "--hidden=64", "--heads=4"]

# Model of mp-gen and its options, and what is done with it by mp-opt.
MODELS = [["mlp"], ["resnet18"], *([name, "--layers=2"] for name in ("bert", "gpt2", "llama", "vit"))]
CORE = {
    "six models to bf16": (MODELS, ["--split-input-file", "--mp-mixed-precision=format=bf16"]),
    "chain of 1000 ops to bf16": ([["chain", "--ops=1000"]], ["--mp-mixed-precision=format=bf16"]),
    "mlp to kernels": ([["mlp", "--elements=bf16"]], ["--mp-to-nvvm=target=sm_80"]),
}
COMPILED = {
    "mlp to bf16": (["mlp"], ["--mp-mixed-precision=format=bf16"]),
    "resnet18 to bf16": (["resnet18"], ["--mp-mixed-precision=format=bf16"]),
    "bert of 2 layers to f16": (["bert", "--layers=2"], ["--mp-mixed-precision=format=f16"]),
    "gpt2 of 2 layers to bf16": (["gpt2", "--layers=2"], ["--mp-mixed-precision=format=bf16"]),
    "llama of 2 layers to e4m3": (["llama", "--layers=2"], ["--mp-mixed-precision=format=e4m3"]),
    "vit of 2 layers to f16": (["vit", "--layers=2"], ["--mp-mixed-precision=format=f16"]),
    "bert's train step to bf16": (["bert", "--layers=1", "--train=adam"], ["--mp-mixed-precision=format=bf16"]),
    "chain of 5000 ops, read": (["chain", "--ops=5000"], []),
    "chain of 5000 ops to bf16": (["chain", "--ops=5000"], ["--mp-mixed-precision=format=bf16"]),
    "chain of 16000 ops, decided": (["chain", "--ops=16000"], ["--mp-assign-precision=format=bf16"]),
    "bert of 1 layer to kernels": (["bert", *SMALL, "--elements=bf16"], ["--mp-to-nvvm=target=sm_80"]),
}
# Lengths of two chains, by whose difference the peak of the heap grows.
HEAP = {"chain to bf16, peak bytes an op": (1000, 3000)}
LONG = {
    "chain of 50000 ops to bf16": (["chain", "--ops=50000"], ["--mp-mixed-precision=format=bf16"]),
    "chain of 100000 ops to bf16": (["chain", "--ops=100000"], ["--mp-mixed-precision=format=bf16"]),
}
GROWTH = (100_000, 1_000_000)
# Model, format and GPU of kernels that the emulator runs.
EMULATED = {
    "mlp on sm_80": (["mlp", "--hidden=256"], "bf16", "sm_80"),
    "mlp on sm_90a": (["mlp", "--hidden=256"], "bf16", "sm_90a"),
    "cnn on sm_80": (["cnn"], "f16", "sm_80"),
    "bert on sm_80": (["bert", *SMALL, "--vocab=50"], "bf16", "sm_80"),
    "gpt2 on sm_80": (["gpt2", *SMALL, "--vocab=50"], "f16", "sm_80"),
    "llama on sm_89": (["llama", *SMALL, "--vocab=50"], "bf16", "sm_89"),
}
COUNTS = ("warp_instructions", "global_sectors", "shared_wavefronts", "launches")


def version_of(package):
    """What dpkg has installed, or nothing."""
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.run(query, capture_output=True, text=True).stdout if shutil.which("dpkg-query") else ""


def builds_of(build):
    """Names the build as counts of instructions depend on it, and as counts of kernels do."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M))
    compiler = next(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")).read_text()
    found = dict(re.findall(r'set\((CMAKE_CXX_COMPILER_(?:ID|VERSION)) "([^"]*)"\)', compiler))
    allocator = cache.get("MP_ALLOCATOR") if "NOTFOUND" not in cache.get("MP_ALLOCATOR_LIBRARY", "NOTFOUND") else ""
    llvm = f"LLVM {version_of('libllvm22')}, MLIR {version_of('libmlir-22')}"
    flags = cache.get("CMAKE_CXX_FLAGS_" + cache["CMAKE_BUILD_TYPE"].upper(), "")
    flags += " unity" if cache.get("MP_UNITY") == "ON" else "" # more is inlined
    checks = "with" if cache.get("MP_ENABLE_CHECKS") == "ON" else "without"
    host = (f"{os.uname().machine}, {found['CMAKE_CXX_COMPILER_ID']} {found['CMAKE_CXX_COMPILER_VERSION']} {flags}, {checks} "
            f"assertions, {allocator or 'malloc of C'}, {llvm}, libc {version_of('libc6')}, valgrind {version_of('valgrind')}")
    return {"compiling": host, "kernels": llvm}


def make(tools, model, folder):
    path = folder / "model.mlir"
    subprocess.run([tools / "mp-gen", *model, "-o", path], check=True)
    return path


def make_all(tools, models, folder):
    """Several models in one file, for --split-input-file."""
    texts = [make(tools, model, folder).read_text() for model in models]
    path = folder / "models.mlir"
    path.write_text("// -----\n".join(texts))
    return path


def count_compiling(tools, chosen, folder):
    if not chosen:
        return {}
    start = count_instructions([tools / "mp-opt", "--version"])
    cases = {**CORE, **{name: ([model], passes) for name, (model, passes) in {**COMPILED, **LONG}.items()}}
    found = {}
    for name in chosen:
        if name in HEAP:
            found[name] = heap_bytes_an_op(tools, *HEAP[name], folder)
            continue
        models, passes = cases[name]
        command = [tools / "mp-opt", "--mlir-disable-threading", make_all(tools, models, folder), *passes, "-o", os.devnull]
        found[name] = count_instructions(command) - start
    return found


def heap_bytes_an_op(tools, few, many, folder):
    """What the most that a conversion has on the heap grows by with each op."""
    def peak(ops):
        model = make(tools, ["chain", f"--ops={ops}"], folder)
        return peak_bytes([tools / "mp-opt", "--mlir-disable-threading", model, "-q", "--mp-mixed-precision=format=bf16", "-o", os.devnull])
    return round((peak(many) - peak(few)) / (many - few))


def bytes_an_op(tools, folder):
    """What the peak of memory of a conversion grows by with each op."""
    peaks = []
    for ops in GROWTH:
        model = make(tools, ["chain", f"--ops={ops}"], folder)
        command = [tools / "mp-opt", model, "-q", "--mp-mixed-precision=format=bf16", "-o", os.devnull]
        child = subprocess.Popen(command)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{' '.join(map(str, command))} ended with {child.returncode}")
        peaks.append(1024 * used.ru_maxrss)
    return round((peaks[1] - peaks[0]) / (GROWTH[1] - GROWTH[0]))


def guard_long(options, data, build):
    """The chains of nights; true if something costs more than what is stored."""
    stored = data["compiling"].setdefault(build, {})
    with tempfile.TemporaryDirectory() as folder:
        found = {} if options.only == ["bytes"] else count_compiling(options.build / "bin", list(LONG), pathlib.Path(folder))
        found["chain, bytes an op"] = bytes_an_op(options.build / "bin", pathlib.Path(folder))
    for name, count in found.items():
        print(f"{name}: {count:,}" + ("" if name in stored else ", none stored"))
    if options.renew is not None:
        renew(data, "compiling", build, found, options.renew)
        return False
    return compare("compiling", build, stored, {name: count for name, count in found.items() if name in stored})


def count_kernels(tools, chosen, folder):
    found = {}
    for name in chosen:
        model, element, chip = EMULATED[name]
        narrow, record = folder / "narrow.mlir", folder / "record.json"
        conversion = f"--mp-mixed-precision=format={element} table=false"
        subprocess.run([tools / "mp-opt", make(tools, model, folder), conversion, "-o", narrow], check=True)
        run = [tools / "mp-run", "-q", narrow, "--device=emulator", f"--chip={chip}", f"--json={record}"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        kernels = json.loads(record.read_text())["kernels"]
        for count in COUNTS:
            found[f"{name}, {count.replace('_', ' ')}"] = sum(kernel[count] for kernel in kernels)
    return found


def differences(stored, found):
    """Name, stored and found count of what differs by the limit, or is not stored."""
    return [(name, stored.get(name), count) for name, count in found.items()
            if name not in stored or abs(count - stored[name]) > LIMIT * stored[name]]


def describe(name, before, after):
    change = f" ({100 * (after - before) / before:+.1f} %)" if before else ""
    return f"{name}: {after:,}" + (f" for {before:,}{change}" if before is not None else ", none stored")


def compare(kind, build, stored, found):
    """Prints what differs; true if something costs more."""
    slower = False
    for name, before, after in differences(stored, found):
        worse = before is None or after > before
        slower |= worse
        print(("MORE: " if worse else "less: ") + describe(name, before, after))
    print(f"{kind}: {len(found)} counts of the build '{build}', {'some are higher' if slower else 'none is higher'}")
    return slower


def renew(data, kind, build, found, reason):
    stored = data[kind].setdefault(build, {})
    changed = [describe(*difference) for difference in differences(stored, found) if difference[1] is not None]
    stored.update(found)
    data["renewals"].append({"date": datetime.date.today().isoformat(), "of": kind, "reason": reason, "changed": changed})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--renew")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    wanted = lambda names: [name for name in names if not options.only or any(word in name for word in options.only)]
    compiled, emulated = (CORE, {}) if options.core else ({**COMPILED, **HEAP}, EMULATED)
    if options.list:
        return print(*wanted([*compiled, *emulated]), sep="\n")
    if options.renew is not None and len(options.renew) < 10:
        sys.exit("guard-counts.py: --renew expects the reason why counts change, for whoever reads counts.json")
    data = json.loads(options.data.read_text()) if options.data.exists() else {"compiling": {}, "kernels": {}, "renewals": []}
    slower = guard_long(options, data, builds_of(options.build)["compiling"]) if options.long else False
    for kind, count, cases in (("compiling", count_compiling, compiled), ("kernels", count_kernels, emulated)):
        build, chosen = builds_of(options.build)[kind], wanted(cases)
        if not chosen or options.long:
            continue
        if kind == "compiling" and not shutil.which("valgrind"):
            print("compiling: skipped, valgrind is not on PATH")
        elif options.renew is None and not any(key.startswith(name) for key in data[kind].get(build, {}) for name in chosen):
            print(f"{kind}: skipped, no such counts are stored of the build '{build}'; --renew stores them")
        else:
            with tempfile.TemporaryDirectory() as folder:
                found = count(options.build / "bin", chosen, pathlib.Path(folder))
            if options.renew is None:
                slower |= compare(kind, build, data[kind][build], found)
            else:
                renew(data, kind, build, found, options.renew)
    if options.renew is not None:
        options.data.write_text(json.dumps(data, indent=1) + "\n")
    if slower:
        print(f"""Counts rose by more than {100 * LIMIT:.0f} %. If that is a mistake, mend it: `git bisect` with --only finds the change.
If it is the price of something, store the new counts with the reason, once for each build that has some:
  tools/dev/bench/guard-counts.py {options.build} --renew "what costs more, and what it is worth" """.rstrip())
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
