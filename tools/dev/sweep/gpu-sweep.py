#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the files of a corpus to machine code for several GPUs, and runs them on the emulator.

usage: gpu-sweep.py CORPUS [--set=core|golden|all] [--targets=sm_80,sm_90a] [--emit=cubin|ptx] [--every=N]
                    [--emulate | --routes] [--max-work=1e6] [--limit-s=120] [--resume=FILE] [--write=docs/results/GpuSweep.md]

CORPUS holds manifest.tsv and either corpus.tar.xz or the files it unpacks to. Each file is lowered by
`mp-opt --mp-to-nvvm`, which itself fails on spilled registers, unresolved functions, indirect calls
and computation left on the host; --limit-s counts seconds of a processor, so that other work on the machine fails nothing. --every=N takes one file of N, another one for each target, so that N
targets together take every file. --emulate runs the public functions of every file, those above --max-work operations left
out, on the host and as kernels for the first target on the emulator, and compares. --routes runs them there as
kernels of dispatches and with a kernel for each op, which must give the same bits, and lowers nothing else. --resume notes each lowered file in FILE and
takes from there what an earlier run of the same mp-opt noted.

Printed: a line for each target, then what failed and why. --write puts that into a file behind its line
`<!-- table -->`. Exit status: 0 if every file got there and nothing failed on the emulator. mp-opt and mp-sweep come from PATH.
"""
import collections
import csv
import importlib
import json
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import write_table  # noqa: E402

corpus_sweep = importlib.import_module("corpus-sweep")

TARGETS = "sm_75,sm_80,sm_89,sm_90a,sm_120"


def reason(stderr):
    """The first error without file and line."""
    line = next((l for l in stderr.splitlines() if "error:" in l), (stderr.strip().splitlines() or ["no message"])[-1])
    return line.split("error:", 1)[-1].strip()[:160]


def limited(limit):
    """Called in a new process: it and what it starts get so many seconds of a processor each, whatever else the machine does."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))


def parts(path):
    """The modules of a file, each as bytes: mp-opt writes each into a folder of its own."""
    content = pathlib.Path(path).read_bytes()
    return re.split(rb"^// -----.*\n", content, flags=re.M)


def lower(path, target, emit, limit):
    """What became of the parts of a file: the worst of them, and the bytes of all."""
    found = [lower_part(part, target, emit, limit) for part in parts(path)]
    failed = [entry for entry in found if entry["verdict"] == "failed"]
    if failed:
        return failed[0]
    return {"verdict": "image" if any(entry["verdict"] == "image" for entry in found) else "no kernels",
            "bytes": sum(entry["bytes"] for entry in found)}


def lower_part(part, target, emit, limit):
    with tempfile.TemporaryDirectory() as folder:
        command = ["mp-opt", "--allow-unregistered-dialect", "-", "-o", "/dev/null", f"--mp-to-nvvm=target={target} emit={emit} dir={folder}"]
        try:
            run = subprocess.run(command, input=part, capture_output=True, timeout=20 * limit, preexec_fn=limited(limit))
        except subprocess.TimeoutExpired:
            return {"verdict": "failed", "reason": f"more than {20 * limit:.0f} s"}
        if run.returncode == -signal.SIGXCPU:
            return {"verdict": "failed", "reason": f"more than {limit:.0f} s of a processor"}
        if run.returncode != 0:
            return {"verdict": "failed", "reason": reason(run.stderr.decode(errors="replace"))}
        images = list(pathlib.Path(folder).glob("*." + emit))
        return {"verdict": "image" if images else "no kernels", "bytes": sum(image.stat().st_size for image in images)}


def compiler():
    """What tells one build of mp-opt from another."""
    program = pathlib.Path(shutil.which("mp-opt") or sys.exit("gpu-sweep.py: no mp-opt on PATH")).resolve()
    parts = [program, *sorted(program.parent.parent.glob("lib/libMP.so"))]
    return [[str(part), part.stat().st_mtime] for part in parts]


class Notes:
    """Verdicts by target, kind of image and file, kept in a file if it has a name."""

    def __init__(self, path):
        self.path, self.known = path and pathlib.Path(path), {}
        if not self.path:
            return
        if self.path.exists():
            first, *rest = map(json.loads, self.path.read_text().splitlines())
            if first != compiler():
                sys.exit(f"gpu-sweep.py: {path} is of another mp-opt: remove it to start anew")
            self.known = {tuple(key): entry for key, entry in rest}
        else:
            self.path.write_text(json.dumps(compiler()) + "\n")

    def get(self, key, compute):
        if key not in self.known:
            self.known[key] = compute()
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]


def lower_all(names, targets, options):
    """Lines of the table, and what failed."""
    every, emit = int(options.get("every") or 1), options.get("emit") or "cubin"
    notes, limit = Notes(options.get("resume")), float(options.get("limit-s") or 120)
    lines = [f"| target | files | {emit} | no kernels | failed | MB |", "|---|---|---|---|---|---|"]
    failures = collections.defaultdict(list)
    for offset, target in enumerate(targets):
        taken = list(names)[offset % every :: every]
        start, counts, size = time.time(), collections.Counter(), 0
        for path in taken:
            entry = notes.get((target, emit, names[path]), lambda: lower(path, target, emit, limit))
            counts[entry["verdict"]] += 1
            size += entry.get("bytes", 0)
            if "reason" in entry:
                failures[names[path], entry["reason"]].append(target)
        lines.append(f"| {target} | {len(taken)} | {counts['image']} | {counts['no kernels']} | {counts['failed']} | {size / 1e6:.1f} |")
        print(lines[-1], f"{time.time() - start:.0f} s", flush=True)
    return lines, [f"* {name}: {why} ({', '.join(where)})" for (name, why), where in failures.items()]


def run_all(names, argument, options):
    """What mp-sweep says of the functions: (name, error) of those that ran, how many did not, what failed."""
    command = [argument, f"--max-work={options.get('max-work') or '1e6'}"]
    records, errors, skipped, failures = [], [], 0, []
    corpus_sweep.sweep(list(names), command, float(options.get("limit-s") or 120), records.append, float("inf"))
    for record in records:
        name = names[record["file"]]
        if "broken" in record or "unread" in record:
            failures.append(f"* {name}: {reason(record.get('broken') or record['unread'])}")
        for run in record.get("runs", []):
            if run.get("failed"):
                failures.append(f"* {name} @{run['entry']}: {run['skipped'][:200]}")
            elif "skipped" in run:
                skipped += 1
            else:
                errors.append((float(run["error"]), f"{name} @{run['entry']}"))
    return errors, skipped, failures


def compare_routes(names, target, options):
    """A line of counts, and the functions whose bits the routes do not share."""
    errors, skipped, failures = run_all(names, f"--routes={target}", options)
    failures += [f"* {name}: other bits" for error, name in errors if error]
    same = sum(not error for error, _ in errors)
    return (f"{same} functions of {len(names)} files gave the same bits as kernels of dispatches and with a kernel for each op, on the "
            f"emulator for {target}; {len(failures)} did not; {skipped} had no reference or too many operations"), failures


def emulate_all(names, target, options):
    """A line of counts, the functions that are not bit for bit the host's, and what failed."""
    errors, skipped, failures = run_all(names, f"--emulate={target}", options)
    different = sorted((each for each in errors if each[0]), reverse=True)
    counts = (f"{len(errors)} functions of {len(names)} files ran on the emulator for {target}: {len(errors) - len(different)} gave the "
              f"host's bits, {len(different)} differ by at most {different[0][0] if different else 0:.1e} of a result's largest magnitude, "
              f"{len(failures)} failed; {skipped} had no reference or too many operations")
    return counts, different, failures


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = dict((a.removeprefix("--").split("=", 1) + [""])[:2] for a in sys.argv[1:] if a.startswith("--"))
    if len(arguments) != 1 or options.get("set", "core") not in ("core", "golden", "all"):
        sys.exit(__doc__)
    corpus = pathlib.Path(arguments[0])
    wanted = options.get("set", "core")
    with open(corpus / "manifest.tsv", newline="") as manifest:
        rows = [row for row in csv.DictReader(manifest, delimiter="\t") if wanted in ("all", row["set"])]
    targets = (options.get("targets") or TARGETS).split(",")
    report = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = corpus_sweep.unpack(corpus, pathlib.Path(scratch))
        names = {str(folder / row["repo"].replace("/", "+") / row["path"]): f"{row['repo']}/{row['path']}" for row in rows}
        if "routes" in options:
            counts, failures = compare_routes(names, targets[0], options)
            print("\n".join([counts + ".", *failures]))
            return 1 if failures else 0
        lines, failures = lower_all(names, targets, options)
        report += [*lines, ""] + (["Not lowered:", "", *failures, ""] if failures else [])
        if "emulate" in options:
            counts, different, faults = emulate_all(names, targets[0], options)
            report += [counts + ".", "", *(f"* {error:.1e} {name}" for error, name in different if error > 1e-6), ""]
            report += ["Failed on the emulator:", "", *faults, ""] if faults else []
            failures += faults
    text = "\n".join(report).rstrip() + "\n"
    print(text, end="")
    if "write" in options:
        write_table(options["write"], text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
