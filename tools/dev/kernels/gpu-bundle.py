#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs what `gpu-check --pack=DIR` packed on the GPU of this machine, and compares with what the emulator gave.

usage: gpu-bundle.py DIR [--json R.json] [--only WORD] [--budget-s 540] [--limit-s 60] [--jobs 1] [--case NAME | --here]

Needs Python and a driver: no compiler, no LLVM, no build. Each case runs in a process of its own, which a fault ends with
it, for at most --limit-s seconds. The JSON is written after every case; cases it holds already are not run again, so that
a run that --budget-s ends goes on with the next call. Exit status: 0 all agree, 1 some do not or are left,
2 there is no usable GPU.
"""
import argparse
import concurrent.futures
import ctypes
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import time

MAX_RANK = 16
# Limits relative to the largest magnitude, where instructions are approximations: by element type
# of the result.
LIMITS = {"<f8": 1e-6, "<f4": 2.0**-10, "<f2": 2.0**-8, "bf16": 2.0**-6}
FLOATS = {"<f4": "f", "<f8": "d", "<f2": "e"}


def read_npy(path):
    """Element type, shape and bytes of a NumPy file."""
    data = path.read_bytes()
    size = struct.unpack_from("<H" if data[6] == 1 else "<I", data, 8)[0]
    begin = 10 if data[6] == 1 else 12
    header = data[begin : begin + size].decode("latin1")
    shape = re.search(r"'shape': \(([^)]*)\)", header).group(1)
    return re.search(r"'descr': '([^']*)'", header).group(1), [int(x) for x in shape.split(",") if x.strip()], data[begin + size :]


def values(kind, data):
    """The numbers of an array of floats, or nothing."""
    if kind in FLOATS:
        return [x[0] for x in struct.iter_unpack("<" + FLOATS[kind], data)]
    if kind == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[at : at + 2])[0] for at in range(0, len(data), 2)]
    return None


def difference(found, expected):
    """None if two arrays are equal, NaN payloads aside; else what differs."""
    (kind, shape, x), (other, other_shape, y) = found, expected
    if (kind, shape) != (other, other_shape):
        return {"shape": f"{kind} {shape} against {other} {other_shape}"}
    if x == y:
        return None
    kind = "bf16" if re.search(r"bfloat16|V2", kind) else kind
    xs, ys = values(kind, x), values(kind, y)
    if xs is None:
        width = int(re.search(r"\d+", kind).group(0))
        return {"type": kind, "elements": sum(x[at : at + width] != y[at : at + width] for at in range(0, len(x), width))}
    apart = [(a, b) for a, b in zip(xs, ys) if a != b and not (a != a and b != b)]
    largest = max((abs(b) for b in ys if abs(b) < float("inf")), default=0)
    worst = max((abs(a - b) if abs(a) < float("inf") and abs(b) < float("inf") else float("inf") for a, b in apart), default=0)
    return {"type": kind, "elements": len(apart), "of_largest": worst / max(largest, 1e-30)} if apart else None


def verdict(differences, approximate):
    """What the differences of the results say, given the approximate instructions that ran."""
    if not differences:
        return "same bits"
    fine = approximate and all(d.get("of_largest", float("inf")) <= LIMITS.get(d.get("type"), 0) for d in differences.values())
    return "within approximation" if fine else "differs"


class Report:
    """The JSON of a run, written after every case; what an earlier run left there counts."""

    def __init__(self, path, device, target):
        self.path, self.device, self.target, self.entries, self.start = path, device, target, [], time.time()
        if path and path.exists():
            known = json.loads(path.read_text())
            if (known.get("device"), known.get("target")) != (device, target):
                raise ValueError(f"{path} is of {known.get('device')}, {known.get('target')}: remove it to start anew")
            self.entries = known["cases"]

    def has(self, name):
        return any(entry["case"] == name for entry in self.entries)

    def add(self, entry):
        self.entries.append(entry)
        why = f": {entry['error'].splitlines()[-1]}" if entry.get("error") else ""
        print(f"{entry['verdict']:10} {entry['case']}{why}", flush=True)
        if self.path:
            text = {"version": 1, "device": self.device, "target": self.target, "cases": self.entries}
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(text, indent=1) + "\n")
            os.replace(new, self.path)

    def finish(self, left):
        bad = sum(entry["verdict"] not in ("same bits", "within approximation") for entry in self.entries)
        print(f"{len(self.entries)} cases, {bad} not the same" + (f", {left} left for another call" if left else ""))
        return 1 if bad or left or not self.entries else 0


def run_all(report, names, seconds, run, jobs=1):
    """Cases that are not yet in the report, while there is time, `jobs` at once; how many are left."""
    left = 0
    within_time = lambda name: run(name) if time.time() - report.start <= seconds else None
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for entry in pool.map(within_time, [name for name in names if not report.has(name)]):
            if entry:
                report.add(entry)
            else:
                left += 1
    return left


class Facts(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 128), ("major", ctypes.c_int), ("minor", ctypes.c_int), ("memory_bytes", ctypes.c_int64),
                ("multiprocessors", ctypes.c_int), ("clock_khz", ctypes.c_int), ("driver_version", ctypes.c_int)]


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("sizes", ctypes.c_int64 * MAX_RANK)]


class Parameter(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int), ("element_bytes", ctypes.c_int), ("is_buffer", ctypes.c_int), ("element", ctypes.c_int),
                ("sizes", ctypes.c_int64 * MAX_RANK)]


class Function(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("entry", ctypes.c_void_p), ("argument_count", ctypes.c_int), ("result_count", ctypes.c_int),
                ("parameters", ctypes.POINTER(Parameter))]


def load_runtime(folder):
    runtime = ctypes.CDLL(str(folder / "libMPRuntime.so"), mode=ctypes.RTLD_GLOBAL)
    runtime.mp_rt_device_error.restype = ctypes.c_char_p
    return runtime


def device_facts(folder):
    """The device in words and its compute capability; raises what the driver says where there is none."""
    runtime, facts = load_runtime(folder), Facts()
    if runtime.mp_rt_query_device(ctypes.byref(facts)) != 0:
        raise OSError(runtime.mp_rt_device_error().decode())
    words = (f"{facts.name.decode()}, compute capability {facts.major}.{facts.minor}, {facts.multiprocessors} multiprocessors, "
             f"driver {facts.driver_version // 1000}.{facts.driver_version % 1000 // 10}")
    return words, 10 * facts.major + facts.minor


def run_case(folder, case, calls=2):
    """One case in this process: its entry of the report. The first call loads the module."""
    home, runtime = folder / case["folder"], load_runtime(folder)
    library = ctypes.CDLL(str(home / "case.so"))
    function = Function.in_dll(library, case["function"])
    inputs = [read_npy(path) for path in sorted(home.glob("input-*.npy"))]
    expected = [read_npy(path) for path in sorted(home.glob("result-*.npy"))]
    if (len(inputs), len(expected)) != (function.argument_count, function.result_count):
        raise OSError(f"{len(inputs)} inputs and {len(expected)} results for a function of {function.argument_count} and {function.result_count}")
    arguments, results = (Array * max(1, len(inputs)))(), (Array * max(1, len(expected)))()
    keep = []
    for argument, (_, shape, data) in zip(arguments, inputs):
        keep.append(ctypes.create_string_buffer(data, max(1, len(data))))
        argument.data = ctypes.cast(keep[-1], ctypes.c_void_p)
        argument.sizes[: len(shape)] = shape
    seconds, differences = [], {}
    for _ in range(calls):
        start = time.time()
        status = runtime.mp_rt_call(ctypes.byref(function), arguments, results)
        seconds.append(time.time() - start)
        if status != 0:
            raise OSError(runtime.mp_rt_device_error().decode())
        for i, (kind, shape, _) in enumerate(expected):
            parameter = function.parameters[function.argument_count + i]
            sizes = list(results[i].sizes[: parameter.rank])
            data = ctypes.string_at(results[i].data, math.prod(sizes) * parameter.element_bytes)
            apart = difference((kind, sizes, data), expected[i])
            if apart:
                differences[f"result-{i:03}"] = apart
    return {"case": case["name"], "device_seconds": seconds, "differences": differences, "approximate": case["approximate"],
            "kernels": case["kernels"], "verdict": verdict(differences, case["approximate"])}


def run_apart(folder, name, limit):
    """One case in another process."""
    try:
        result = subprocess.run([sys.executable, __file__, folder, "--case", name], capture_output=True, text=True, timeout=limit, errors="replace")
    except subprocess.TimeoutExpired:
        return {"case": name, "verdict": "failed", "error": f"more than {limit:.0f} s"}
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        return {"case": name, "verdict": "failed", "error": (lines[-1] if lines else "") + f" (status {result.returncode})"}
    return json.loads(result.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget-s", type=float, default=540)
    parser.add_argument("--limit-s", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=1, help="cases at once")
    parser.add_argument("--case")
    parser.add_argument("--here", action="store_true", help="run the cases in this process, once each, under a profiler")
    options = parser.parse_args()
    folder = options.folder.resolve()
    index = json.loads((folder / "index.json").read_text())
    cases = {case["name"]: case for case in index["cases"]}
    try:
        if options.case:
            print(json.dumps(run_case(folder, cases[options.case])))
            return 0
        device, capability = device_facts(folder)
    except OSError as error:
        print(f"gpu-bundle: {error}", file=sys.stderr)
        return 2
    needed = re.search(r"sm_(\d+)(a?)", index["target"])
    if capability < int(needed.group(1)) or (needed.group(2) and capability != int(needed.group(1))):
        print(f"gpu-bundle: packed for {index['target']}, but this is {device}; pack again with --target", file=sys.stderr)
        return 2
    print(f"device: {device}")
    if options.here:
        for name, case in cases.items():
            if options.only in name:
                print(json.dumps(run_case(folder, case, calls=1)), flush=True)
        return 0
    report = Report(options.json, device, index["target"])
    names = [name for name in cases if options.only in name]
    return report.finish(run_all(report, names, options.budget_s, lambda name: run_apart(folder, name, options.limit_s), options.jobs))


if __name__ == "__main__":
    sys.exit(main())
