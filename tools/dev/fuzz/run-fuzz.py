#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fuzzes what reads input from strangers, and keeps the log of all hours.

usage: run-fuzz.py [--minutes N] [--only HARNESS ...] [--build DIR]   runs harnesses in turn, N minutes in all
       run-fuzz.py --page                                             prints docs/results/Fuzzing.md
       run-fuzz.py --seeds [--bin DIR]                                gives every stored file to its harness, once

The harness programs is not libFuzzer's: it runs random programs through everything (tools/dev/sweep/programs), the seeds behind
those of the log, in the build that --bin names. Others are built by `tools/dev/build.sh fuzz mp-fuzz-plain mp-fuzz-graphs mp-opt`. Each starts from seeds/HARNESS and what
earlier runs left in DIR/corpus/HARNESS. A run appends a row to hours.csv. An input that crashes, hangs or breaks a promise
lies in DIR/findings/HARNESS; of text and bytecode, those on which mp-opt of the same build keeps its promises (an error in
words that names the file, no crash of its own) are counted as upstream's. A finding that is mended becomes a file in
seeds/HARNESS. Exits with 1 if something new was found.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
LOG = HERE / "hours.csv"
COLUMNS = ["date", "commit", "harness", "seed", "seconds", "runs", "edges", "features", "findings", "upstream"]
PROGRAMS = {"mp-fuzz-plain": ["policy", "request", "costs", "problem", "schedule", "cubin", "ptx", "tensor-map"],
            "mp-fuzz-graphs": ["text", "bytecode", "import", "pipeline", "report", "npy", "safetensors", "input"]}
LENGTHS = {"ptx": 4096, "text": 3000, "bytecode": 3000, "import": 3000, "cubin": 16384, "tensor-map": 400, "report": 6000, "problem": 3000}
# Debian's LLVM is not instrumented: its allocators and signal stacks look wrong to the sanitizer.
ASAN = "allow_user_poisoning=0:use_sigaltstack=0:detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1"


def processor_seconds():
    """What the programs that ended have used: harnesses run at the lowest priority, and wait."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def program_of(harness):
    return next(program for program, harnesses in PROGRAMS.items() if harness in harnesses)


def dictionary_of(folders):
    """The words of the seeds, as libFuzzer's -dict takes them."""
    words = set()
    for folder in folders:
        for path in folder.iterdir():
            words |= set(re.findall(rb"[%!#@^.]?[A-Za-z_][A-Za-z0-9_.\-]{1,40}|\d+|->|[<>{}()\[\]:=,\"]", path.read_bytes()))
    quote = lambda word: "".join(f"\\x{byte:02x}" for byte in word)
    return "".join(f'"{quote(word)}"\n' for word in sorted(words)[:3000])


def is_upstreams(harness, path, tools):
    """Whether mp-opt, which reads under a watch, keeps its promises on the input."""
    if harness == "pipeline":  # upstream ends the process where a pass is nested in a wrong op; mp-opt says MP102
        words = path.with_name(path.name + ".txt")
        return words.exists() and "LLVM ERROR: Can't add pass" in words.read_text(errors="replace")
    if harness not in ("text", "bytecode"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "in.mlir")
        source.write_bytes((b"ML\xefR" if harness == "bytecode" else b"") + path.read_bytes())
        command = [tools / "mp-opt", source, "--mp-mixed-precision=table=false", "--max-seconds=60", "-o", os.devnull]
        try:
            done = subprocess.run(command, capture_output=True, timeout=120, env=dict(os.environ, MP_CRASH_DIR=folder))
        except subprocess.TimeoutExpired:
            return False
        return done.returncode in (0, 1, 2) and b"Sanitizer" not in done.stderr


def is_pause(harness, path, build):
    """Whether an input that libFuzzer, which reads the wall's clock, called slow takes little processor time alone."""
    if not path.name.startswith(("slow-unit", "timeout")):
        return False
    used = processor_seconds()
    done = subprocess.run([build / "bin" / program_of(harness), harness, "-timeout=600", path], capture_output=True,
                          env=dict(os.environ, ASAN_OPTIONS=ASAN))
    return done.returncode == 0 and processor_seconds() - used < 10


def fuzz(harness, seconds, build, tools):
    """One run; its row of the log."""
    corpus, findings = build / "corpus" / harness, build / "findings" / harness
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    seeds = HERE / "seeds" / harness
    dictionary = build / f"{harness}.dict"
    dictionary.write_text(dictionary_of([seeds]))
    seed = random.SystemRandom().randrange(1, 1 << 31)
    runs = edges = features = 0
    left, start, used = seconds, datetime.datetime.now(), processor_seconds()
    while left > 1:  # libFuzzer ends at a finding
        command = [build / "bin" / program_of(harness), harness, corpus, seeds, f"-dict={dictionary}", f"-seed={seed + len(before)}",
                   f"-max_total_time={int(left)}", f"-max_len={LENGTHS.get(harness, 2048)}", "-timeout=20", "-rss_limit_mb=4096",
                   "-malloc_limit_mb=3000", "-print_final_stats=1", "-reload=0", f"-artifact_prefix={findings}/"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, ASAN_OPTIONS=ASAN))
        said = done.stdout.decode(errors="replace")
        counts = re.findall(r"stat::number_of_executed_units:\s*(\d+)", said)
        runs += int(counts[-1]) if counts else max([int(n) for n in re.findall(r"^#(\d+)", said, re.M)], default=0)
        edges = max([edges] + [int(n) for n in re.findall(r"cov: (\d+)", said)])
        features = max([features] + [int(n) for n in re.findall(r"ft: (\d+)", said)])
        left = seconds - (datetime.datetime.now() - start).total_seconds()
        if done.returncode == 0:
            break
        fresh = {path for path in set(findings.iterdir()) - before if path.suffix != ".txt"}
        if not fresh and left > 1:
            sys.exit(f"{harness}: libFuzzer ended with {done.returncode}:\n{said[-3000:]}")
        for path in fresh:
            words = findings / f"{path.name}.txt"
            if not words.exists():
                words.write_text(said[-20000:])
        if len(fresh) > 20:
            break
    used = processor_seconds() - used
    fresh = [path for path in set(findings.iterdir()) - before if path.suffix != ".txt"]
    for path in [path for path in fresh if is_pause(harness, path, build)]:
        fresh.remove(path)
        path.unlink()
    upstream = [path for path in fresh if is_upstreams(harness, path, tools)]
    for path in sorted(set(fresh) - set(upstream)):
        print(f"{harness}: found {path}")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {"date": start.date().isoformat(), "commit": commit, "harness": harness, "seed": seed,
            "seconds": round(used), "runs": runs, "edges": edges,
            "features": features, "findings": len(fresh) - len(upstream), "upstream": len(upstream)}


def run_programs(seconds, tools):
    """Random programs, from the first seed that no run of the log has had; a row of the log."""
    first = sum(int(row["runs"]) for row in read_log() if row["harness"] == "programs")
    start, used = datetime.datetime.now(), processor_seconds()
    done = subprocess.run([tools / "programs", f"--from={first}", f"--seconds={seconds}"], capture_output=True, text=True, errors="replace")
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"programs: ended with {done.returncode}: {done.stderr[-2000:]}")
    print(done.stderr, end="")
    found = json.loads(done.stdout)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {"date": start.date().isoformat(), "commit": commit, "harness": "programs", "seed": first,
            "seconds": round(processor_seconds() - used), "runs": found["next"] - first, "edges": 0,
            "features": 0, "findings": found["findings"], "upstream": 0}


def read_log():
    with LOG.open() as file:
        return list(csv.DictReader(file))


def append(row):
    with LOG.open("a", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)


def print_page():
    rows = read_log()
    hours = sum(int(row["seconds"]) for row in rows) / 3600
    programs = sum(int(row["runs"]) for row in rows if row["harness"] == "programs")
    print(f"""# Fuzzing

What reads input from strangers, and how many processor hours it was fuzzed. `tools/dev/fuzz/run-fuzz.py --page` prints this page from the log
of all runs, `tools/dev/fuzz/hours.csv`, to which each run adds; the harnesses are built by `tools/dev/build.sh fuzz`, with the
address and undefined-behaviour sanitizers, and guided by libFuzzer. *Edges* are those of mp's own code that the longest run
reached (upstream's libraries are not instrumented). *Findings* crash, hang, trip a sanitizer or break a promise of
the harness (what is printed reads back; what is converted verifies and erases to the original; an answer checks); each is
mended and its input stored under `tools/dev/fuzz/seeds`, which a test gives to the harness in every build. *Upstream's* are crashes of
upstream's parser or reader, which `mp-opt` turns into an error that names the file.

The harness *programs* is of another kind: whole random programs (control flow, calls, dynamic sizes, idioms whose axes are mixed,
train steps of small models) are decided, converted, erased, lowered by exact passes in random order, run, and held to the bits before,
to ranges and to certified errors (`test/Execution/ProgramCheck.h`). *Inputs* are its programs, of a goal of 1,000,000. The first eight
findings are one, and mended (`convert-mp-to-arith`); the seven of seeds 135 to 363 are one: the erasure check took the first of equal parts of a constant (`erasure-split-constants.mlir`).
The finding of *policy* is a limit of 6e67, cast to an integer; those of *tensor-map* are one, box 109 of five; of *npy*, an empty
array copied from a null pointer, and so is the last of *input*; of the others 12 GB taken before two values were found too few (three times), 147,000,000 elements, as was
asked (twice), and sizes whose product overflowed before a 0. *Pipeline's* are one of upstream: a pass in an op that it is not of, which `mp-opt` answers with MP102. All five of *import's* are
the harness's own, and mended: text without the 0 behind it that upstream's lexer reads (four; some of *text's* may be so, too), and a fault in `hasAttr`,
which was a context replaced by a new one under a module that was in use (`fuzz-seeds.test`). Harnesses of graphs
(*text* to *input*) have run with 295 of the library's 716 files instrumented: what reads, imports, prints, and the emulator, not
what decides and lowers. Seed 431 of a run that is not in the log crashed upstream's deallocation, which reads results of loops that it has replaced (`free-buffers.mlir`).

In all: {hours:.1f} hours in {len(rows)} runs. The goal before a release is 24 hours, the last quarter without findings. {programs:,} programs
of 1,000,000 are logged, each lowered by passes in an order of its own, of a goal of 100,000 orders. What is logged is gone on from by
`run-fuzz.py --minutes=60` and `run-fuzz.py --only programs --bin build/release/bin --minutes=60`; it is far from its goals, and nothing else counts.

| harness | hours | inputs | a second | edges | findings | upstream's | hours since the last finding |
|---|---|---|---|---|---|---|---|""")
    for harness in [harness for harnesses in PROGRAMS.values() for harness in harnesses] + ["programs"]:
        own = [row for row in rows if row["harness"] == harness]
        if not own:
            continue
        seconds = [int(row["seconds"]) for row in own]
        found = [at for at, row in enumerate(own) if int(row["findings"])]
        quiet = sum(seconds[found[-1] + 1:]) if found else sum(seconds)
        total = lambda column: sum(int(row[column]) for row in own)
        rate = total("runs") / max(sum(seconds), 1)
        print(f"| {harness} | {sum(seconds) / 3600:.2f} | {total('runs'):,} | {rate:,.{0 if rate >= 10 else 2}f} | "
              f"{max(int(row['edges']) for row in own):,} | {total('findings')} | {total('upstream')} | {quiet / 3600:.2f} |")


def give_seeds(tools):
    """Every stored file to its harness, in a build of any kind."""
    for program, harnesses in PROGRAMS.items():
        for harness in harnesses:
            files = sorted((HERE / "seeds" / harness).iterdir())
            done = subprocess.run([tools / program, harness, *files], capture_output=True, text=True, errors="replace")
            print(done.stdout.strip() if done.returncode == 0 else f"{harness}: {done.stderr[-2000:]}")
            if done.returncode != 0:
                return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=16)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/fuzz")
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--seeds", action="store_true")
    options = parser.parse_args()
    if options.page:
        return print_page()
    tools = options.bin or options.build / "bin"
    if options.seeds:
        return give_seeds(tools)
    chosen = [harness for program, harnesses in PROGRAMS.items() for harness in harnesses
              if (options.build / "bin" / program).exists() and (not options.only or harness in options.only)]
    if (tools / "programs").exists() and (not options.only or "programs" in options.only):
        chosen.append("programs")
    if not chosen:
        sys.exit("no harness is built: tools/dev/build.sh fuzz mp-fuzz-plain mp-fuzz-graphs mp-opt")
    findings = 0
    for harness in chosen:
        seconds = 60 * options.minutes / len(chosen)
        row = run_programs(seconds, tools) if harness == "programs" else fuzz(harness, seconds, options.build.resolve(), tools)
        append(row)
        print(", ".join(f"{key} {row[key]}" for key in COLUMNS[2:]), flush=True)
        findings += row["findings"]
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
