#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all that is too long for CI, one after the other, and ends in one table.

usage: nightly.py [--hours N] [--only STEP ...] [--preset NAME] [--list] [--out DIR]

Builds the presets release (or that of --preset), fuzz, asan, tsan, coverage and gcc. A step passes, fails, or is skipped where it needs
something that this machine lacks. Fuzzing, random programs and random graphs share the hours that are given (default 1) and
add to the logs that pages are printed from. What steps print lies in DIR (default build/nightly). Ends in a table of all
steps and a line that counts them; exits with 1 if a step fails.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[3]
LIT = "python3 /usr/lib/llvm-22/bin/lit"
SANITIZED = "ASAN_OPTIONS=allow_user_poisoning=0:use_sigaltstack=0:detect_leaks=0:detect_odr_violation=0"

# name, command (in the root; {minutes}: a share of the hours), what it needs, what it shows
STEPS = [
    ("build", "tools/dev/build.sh release", (), "the build that CI and users have"),
    ("tests", f"{LIT} --param tier=nightly -s -j$(nproc) build/release/test build/release/test/Unit", ("build/release/bin/mp-opt",),
     "every test, exhaustive sweeps included"),
    ("audit", "tools/dev/house/run-audit.py --bin build/release/bin", ("build/release/bin/mp-opt",), "every row of docs/results/Audit.md"),
    ("threads", "tools/dev/house/same-bytes.sh build/release/bin", ("build/release/bin/mp-opt",),
     "the same bytes over threads and address layouts"),
    ("guards", "tools/dev/bench/guard-counts.py build/release --core && tools/dev/bench/guard-counts.py build/release", ("build/release/bin/mp-opt",),
     "instructions of compiling and counts of kernels against those that are stored"),
    ("proofs", "tools/dev/numerics/exact-rewrites.py --pairs --bin build/release/bin", ("build/release/bin/exact-rewrites",),
     "every case of what rewrites that move roundings claim"),
    ("programs", "nice -n 19 tools/dev/fuzz/run-fuzz.py --only programs --bin build/release/bin --minutes {minutes}",
     ("build/release/bin/programs",), "random programs through everything, behind the seeds of the log"),
    ("fuzz build", "tools/dev/build.sh fuzz mp-fuzz-plain mp-fuzz-graphs mp-opt", ("clang++-22", "/usr/lib/llvm-22/lib/clang/22/lib/linux"),
     "harnesses under address and undefined-behaviour sanitizers"),
    ("fuzz", "nice -n 19 tools/dev/fuzz/run-fuzz.py --minutes {minutes}", ("build/fuzz/bin/mp-fuzz-plain",), "damaged input of every kind"),
    ("hostile", "for s in $(seq 100000 50 102000); do [ $SECONDS -lt {seconds} ] || break; "
     "nice -n 19 build/release/bin/hostile --from=$s --to=$((s + 50)) || exit 1; done", ("build/release/bin/hostile",),
     "graphs made to break proofs"),
    ("asan build", "tools/dev/build.sh asan", ("clang++-22", "/usr/lib/llvm-22/lib/clang/22/lib/linux"), "the sanitizers' build"),
    ("asan", f"{SANITIZED} {LIT} --param tier=quick -s -j$(nproc) build/asan/test build/asan/test/Unit", ("build/asan/bin/mp-opt",),
     "the quick tests under the sanitizers"),
    ("tsan build", "tools/dev/build.sh tsan RuntimeTests EmulatorTests NumericsTests", ("clang++-22", "/usr/lib/llvm-22/lib/clang/22/lib/linux"),
     "the rooms that start threads, under the thread sanitizer"),
    ("tsan", "for t in RuntimeTests EmulatorTests NumericsTests; do timeout 3600 build/tsan/test/bin/$t --gtest_brief=1 || exit 1; done",
     ("build/tsan/test/bin/RuntimeTests",), "no race in contractions, collectives, transports, emulated grids, modelled products"),
    ("coverage build", "tools/dev/build.sh coverage", ("clang++-22", "/usr/lib/llvm-22/lib/clang/22/lib/linux"), "counts lines and branches"),
    ("coverage", "tools/dev/house/coverage.py", ("build/coverage/test/bin/RuntimeTests", "/usr/lib/llvm-22/bin/llvm-cov"),
     "what of lib the unit tests run"),
    ("tidy", "tools/dev/build.sh dev && tools/dev/house/tidy.py --sample 60 --seed $(date +%j)", ("clang-tidy-22",),
     "clang-tidy by the kept list, sixty files a night"),
    ("long chains", "tools/dev/bench/guard-counts.py build/release --long", ("build/release/bin/mp-opt", "valgrind"),
     "instructions of 50,000 and 100,000 ops, memory of 1,000,000"),
    ("gcc build", "tools/dev/build.sh gcc mp-opt mp-run mp-gen", ("g++",), "Debian's other compiler"),
    ("gcc", "tools/dev/house/same-bytes.sh build/release/bin build/gcc/bin", ("build/gcc/bin/mp-opt", "build/release/bin/mp-opt"),
     "the same bytes from both compilers"),
    ("wheel", "tools/dev/package/build-wheel.py build/release --out=build/dist && tools/dev/package/try-wheel.py build/dist/*.whl",
     ("build/release/lib/libMP.so", "mmdebstrap"), "README's Python lines in a bare system, wheel and torch fresh"),
    ("debs", "tools/dev/package/build-debs.py build/release --out=build/debs && tools/dev/package/try-debs.py build/debs",
     ("build/release/lib/libMP.so", "cpack", "dpkg-shlibdeps", "mmdebstrap"), "Debian packages, lintian, and programs built against them"),
]


def lacks(needs):
    """The first thing that is missing: a program, or a path of this tree or of the system."""
    for need in needs:
        exists = (ROOT / need).exists() if "/" in need else shutil.which(need)
        if not exists:
            return need
    return None


def use(preset, text):
    """The text with the build of another preset in the place of release's."""
    return re.sub(r"\b(build/|build\.sh )release\b", rf"\g<1>{preset}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--preset", default="release")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/nightly")
    options = parser.parse_args()
    steps = [(name, use(options.preset, command), [use(options.preset, need) for need in needs], shows)
             for name, command, needs, shows in STEPS]
    steps = [step for step in steps if not options.only or step[0] in options.only]
    if unknown := set(options.only) - {step[0] for step in STEPS}:
        sys.exit(f"no step {', '.join(sorted(unknown))}; there are {', '.join(step[0] for step in STEPS)}")
    if options.list:
        for name, command, _, shows in steps:
            print(f"{name}: {shows}\n    {command}")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    rows, failed = [], 0
    for name, command, needs, shows in steps:
        if missing := lacks(needs):
            rows.append((name, "skipped", 0, f"lacks {missing}"))
            print(f"{name}: skipped", flush=True)
            continue
        share = options.hours * 60 / 3  # of fuzzing, random programs and random graphs
        command = command.replace("{minutes}", str(share)).replace("{seconds}", str(int(share * 60)))
        log, start = options.out / f"{name.replace(' ', '-')}.log", time.time()
        with log.open("w") as file:
            status = subprocess.run(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=subprocess.STDOUT, env=dict(os.environ, CI="true")).returncode
        failed += status not in (0, 77)
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        result = {0: "passes", 77: "skipped"}.get(status, f"fails ({status})")
        rows.append((name, result, time.time() - start, lines[-1][:70] if lines else shows))
        print(f"{name}: {rows[-1][1]}", flush=True)
    print("\n| step | result | minutes | last words |\n|---|---|---|---|")
    for name, result, seconds, words in rows:
        print(f"| {name} | {result} | {seconds / 60:.1f} | {words.replace('|', '/')} |")
    count = lambda result: sum(row[1].startswith(result) for row in rows)
    print(f"\n{count('passes')} passed, {count('fails')} failed, {count('skipped')} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
