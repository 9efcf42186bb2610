#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times kernels on the GPU of this machine beside PyTorch, its libraries and Triton, in one process on the same inputs.

usage: gpu-time.py --pack DIR --target sm_90a [--bin DIR] [--only WORD] [--tiny]
       gpu-time.py DIR [--json R.json] [--only WORD] [--budget-s 300] [--no-references]

--pack needs no GPU: it compiles the cases of timed_cases.py into DIR. DIR and this folder then run on a machine that has
the GPU and PyTorch, and nothing of mp but these. Inputs are normally distributed random numbers. A time is the median, by events of
the device, of --repeats calls that are queued behind a fill of memory that is larger than L2, and a wait that hides what
the host does; the spread is what lies between the quartiles. Every result is compared with PyTorch's in f32. A fault of the
device, or a case that takes too long, is written down and ends that case only. Exit status: 0 all were timed and are right,
1 some were not, 2 there is no usable GPU.
"""
import argparse
import ctypes
import importlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import timed_cases

bundle = importlib.import_module("gpu-bundle")

ROOT = pathlib.Path(__file__).resolve().parents[3]
FORMATS = {0: "float64", 1: "float32", 2: "float32", 3: "bfloat16", 4: "float16", 5: "float8_e5m2", 7: "float8_e4m3fn"}
INTEGERS = {1: "bool", 8: "int8", 16: "int16", 32: "int32", 64: "int64"}  # behind MP_RT_INTEGER = 256
NAMES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "f8E4M3FN": "float8_e4m3fn", "i8": "int8"}
# Largest relative error ‖found − wanted‖ / ‖wanted‖ by the kind of number that the result is.
LIMITS = {"float32": 2e-3, "bfloat16": 1e-2, "float16": 2e-3, "int32": 0}


class Tensor(ctypes.Structure):
    """mp_rt_tensor."""
    _fields_ = [("data", ctypes.c_void_p), ("element", ctypes.c_int), ("place", ctypes.c_int), ("rank", ctypes.c_int),
                ("sizes", ctypes.c_int64 * bundle.MAX_RANK)]


def pack_case(tools, home, target, emit, case):
    """Fills the folder of a case; what the index says of it."""
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "case.mlir"
        path.write_text(case["text"] if "text" in case else checked([tools / "mp-gen", *case["command"]]))
        decide = [f"--mp-mixed-precision=format={case['format']} table=false"] if case.get("format") else []
        checked([tools / "mp-opt", path, *decide, f"--mp-to-nvvm=target={target} emit={emit} {case.get('options', '')}", "--mp-host-to-llvm",
                 f"--mp-emit-object=dir={scratch} name=case", "-o", "/dev/null"])
        function = re.search(r"extern const mp_rt_function (\w+);", pathlib.Path(scratch, "case.h").read_text()).group(1)
        checked([os.environ.get("CC", "cc"), "-shared", "-o", home / "case.so", f"{scratch}/case.o", f"-L{home.parent}", "-lMPRuntime", "-Wl,-rpath,$ORIGIN/.."])
    return {**{key: case[key] for key in ("name", "kind", "shape", "flops", "bytes")}, "inputs": case.get("inputs"),
            "variant": case.get("variant", False), "folder": home.name, "function": function}


def checked(command):
    result = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if result.returncode:
        raise RuntimeError(next((line for line in result.stderr.splitlines() if "error" in line), result.stderr.strip()[-300:]))
    return result.stdout


def pack(options):
    runtime = options.bin.parent / "lib" / "libMPRuntime.so"
    if not runtime.exists():
        print(f"gpu-time: no {runtime}; build all, or say --bin", file=sys.stderr)
        return 2
    options.folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(runtime, options.folder / "libMPRuntime.so.0")
    (options.folder / "libMPRuntime.so").unlink(missing_ok=True)
    (options.folder / "libMPRuntime.so").symlink_to("libMPRuntime.so.0")
    packed, failed = [], 0
    for case in timed_cases.tiny() if options.tiny else timed_cases.cases():
        if options.only not in case["name"]:
            continue
        try:
            packed.append(pack_case(options.bin, options.folder / re.sub(r"\W+", "-", case["name"]), options.target, "ptx" if options.tiny else "cubin", case))
        except RuntimeError as error:
            failed += 1
            print(f"failed     {case['name']}: {error}", flush=True)
    (options.folder / "index.json").write_text(json.dumps({"version": 1, "target": options.target, "cases": packed}, indent=1) + "\n")
    print(f"{len(packed)} cases for {options.target}, {failed} failed")
    return 1 if failed or not packed else 0


class Program:
    """A compiled function that reads and makes tensors where PyTorch has them."""

    def __init__(self, runtime, folder, case, stream):
        self.runtime, self.stream = runtime, stream
        self.library = ctypes.CDLL(str(folder / case["folder"] / "case.so"))
        self.function = bundle.Function.in_dll(self.library, case["function"])
        self.place = 1 if stream else 0  # MP_RT_ON_DEVICE, MP_RT_ON_HOST
        self.results = (Tensor * max(1, self.function.result_count))()

    def parameters(self, torch):
        """Types and shapes of the arguments."""
        for i in range(self.function.argument_count):
            parameter = self.function.parameters[i]
            name = FORMATS.get(parameter.element) or INTEGERS[parameter.element - 256]
            yield getattr(torch, name), tuple(parameter.sizes[: parameter.rank])

    def bind(self, inputs):
        self.inputs = inputs  # keeps them alive
        self.arguments = (Tensor * max(1, len(inputs)))()
        for argument, x, parameter in zip(self.arguments, inputs, self.function.parameters):
            argument.data, argument.element, argument.place, argument.rank = x.data_ptr(), parameter.element, self.place, x.dim()
            argument.sizes[: x.dim()] = list(x.shape)

    def call(self):
        """Runs; results stay in `results` until `release`."""
        for result in self.results:
            result.place = self.place
        count = self.function.result_count
        if self.runtime.mp_rt_call_tensors(ctypes.byref(self.function), self.arguments, len(self.inputs), self.results, count, ctypes.c_void_p(self.stream)):
            raise RuntimeError(self.runtime.mp_rt_device_error().decode())

    def release(self):
        for i in range(self.function.result_count):
            if self.place:
                self.runtime.mp_rt_free_tensor(ctypes.byref(self.results[i]), ctypes.c_void_p(self.stream))
            else:
                ctypes.CDLL(None).free(ctypes.c_void_p(self.results[i].data))

    def run(self):
        self.call()
        self.release()

    def result(self, torch, which):
        """A copy of a result as a tensor on the host."""
        if self.place:
            torch.cuda.synchronize()  # the copy is not ordered behind the stream of the call
        device, there = self.results[which], Tensor()
        name = FORMATS.get(device.element) or INTEGERS[device.element - 256]
        shape = list(device.sizes[: device.rank])
        kind = getattr(torch, name)
        size = math.prod(shape) * torch.empty((), dtype=kind).element_size()
        data = device.data
        if self.place:
            if self.runtime.mp_rt_copy_tensor(ctypes.byref(device), ctypes.byref(there)):
                raise RuntimeError(self.runtime.mp_rt_device_error().decode())
            data = there.data
        found = torch.frombuffer(bytearray(ctypes.string_at(data, size)), dtype=kind).reshape(shape)
        if self.place:
            ctypes.CDLL(None).free(ctypes.c_void_p(there.data))
        return found


class Timer:
    """Median times of calls by events of the device, each behind a fill that empties L2; without a GPU, by the clock."""

    def __init__(self, torch, repeats):
        self.torch, self.repeats, self.cuda = torch, repeats, torch.cuda.is_available()
        self.flush = torch.empty(2**28, dtype=torch.int8, device="cuda") if self.cuda else None

    def time(self, call):
        call()
        call()
        if not self.cuda:
            start = time.perf_counter()
            call()
            return {"us": 1e6 * (time.perf_counter() - start), "spread_us": 0.0}
        self.torch.cuda.synchronize()
        times = []
        for _ in range(self.repeats):
            start, end = (self.torch.cuda.Event(enable_timing=True) for _ in "se")
            self.flush.zero_()
            self.torch.cuda._sleep(2_000_000)
            start.record()
            call()
            end.record()
            self.torch.cuda.synchronize()
            times.append(1e3 * start.elapsed_time(end))
        times.sort()
        return {"us": times[len(times) // 2], "spread_us": times[3 * len(times) // 4] - times[len(times) // 4]}

    def kernels(self, call):
        """Microseconds of each kernel of a call, by name, as the driver's tracer says."""
        if not self.cuda:
            return []
        from torch.profiler import ProfilerActivity, profile
        call()
        self.torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as trace:
            for _ in range(5):
                call()
            self.torch.cuda.synchronize()
        return [{"name": e.key[:80], "launches": e.count / 5, "us": e.device_time_total / 5} for e in trace.key_averages() if e.device_time_total]


def random_inputs(torch, device, program, case):
    """Tensors for the arguments: of the case's list, or of the parameters of its function."""
    generator = torch.Generator(device=device).manual_seed(7)
    listed = case["inputs"] or [(None, shape, None) for _, shape in program.parameters(torch)]
    for (kind, shape), (_, _, scale) in zip(program.parameters(torch), listed):
        if not kind.is_floating_point:
            yield torch.randint(-8 if kind == torch.int8 else 0, 8, shape, generator=generator, device=device).to(kind)
            continue
        if scale is None:
            scale = 1.0 if len(shape) == 3 else 1 / math.sqrt(max(shape, default=1))
        yield (torch.randn(shape, generator=generator, device=device) * scale).to(kind)


def time_case(torch, references, timer, runtime, folder, case, stream, with_references):
    device = "cuda" if timer.cuda else "cpu"
    program = Program(runtime, folder, case, stream)
    inputs = list(random_inputs(torch, device, program, case))
    program.bind(inputs)
    program.call()
    found = [program.result(torch, i) for i in range(program.function.result_count)]
    program.release()
    entry = {"case": case["name"], "kind": case["kind"], "shape": case["shape"], "flops": case["flops"], "bytes": case["bytes"]}
    wanted = references.wanted(case, inputs)
    entry["finite"] = all(bool(x.float().isfinite().all()) for x in found)
    if wanted is not None:
        apart = (found[0].to(device).double() - wanted.double()).norm() / wanted.double().norm()
        entry["relative_error"] = float(apart)
        limit = LIMITS[str(found[0].dtype).removeprefix("torch.")]
    good = entry["finite"] and (wanted is None or entry["relative_error"] <= limit)
    del wanted, found
    entry["verdict"] = "timed" if good else "wrong"
    start = time.perf_counter()
    for _ in range(10):
        program.run()
    entry["host_us"] = 1e5 * (time.perf_counter() - start)
    entry.update(timer.time(program.run))
    entry["kernels"] = timer.kernels(program.run)
    entry["references"] = {}
    for label, call in references.REFERENCES[case["kind"]](case["shape"], inputs).items() if with_references and not case["variant"] else []:
        try:
            entry["references"][label] = timer.time(call)
        except Exception as error:  # what this version of a library cannot do
            entry["references"][label] = {"refused": (str(error).splitlines() or [type(error).__name__])[0][:200]}
    return entry


def line(entry):
    others = ", ".join(f"{label} {x['us']:.1f}" for label, x in entry["references"].items() if "us" in x)
    rate = f" {entry['flops'] / entry['us'] / 1e6:.1f} TFLOP/s" if entry["flops"] else f" {entry['bytes'] / entry['us'] / 1e3:.0f} GB/s" if entry["bytes"] else ""
    error = f" error {entry['relative_error']:.1e}" if "relative_error" in entry else ""
    return f"{entry['verdict']:6} {entry['us']:9.1f} us{rate}{error}  {entry['case']}  [{others}]"


def save(path, report):
    if path:
        new = path.with_suffix(".new")
        new.write_text(json.dumps(report, indent=1) + "\n")
        os.replace(new, path)


def again(options, report, case, why):
    """Writes a case down as failed, and goes on with the next in a fresh process: a fault ends the device's context."""
    print(f"failed {case['name']}: {why}", flush=True)
    report["cases"].append({"case": case["name"], "verdict": "failed", "error": why})
    save(options.json, report)
    if options.json:
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.exit(1)


def run(options):
    import torch
    import timed_references
    start = float(os.environ.setdefault("GPU_TIME_START", str(time.time())))
    runtime = bundle.load_runtime(options.folder)
    try:
        device, _ = bundle.device_facts(options.folder)
    except OSError as error:
        print(f"gpu-time: {error}", file=sys.stderr)
        return 2
    index = json.loads((options.folder / "index.json").read_text())
    report = json.loads(options.json.read_text()) if options.json and options.json.exists() else {
        "version": 1, "device": device, "target": index["target"], "torch": torch.__version__, "cases": []}
    timer = Timer(torch, options.repeats)
    stream = torch.cuda.Stream() if timer.cuda else None
    left = 0
    for case in index["cases"]:
        if options.only not in case["name"] or any(entry["case"] == case["name"] for entry in report["cases"]):
            continue
        if time.time() - start > options.budget_s:
            left += 1
            continue

        def late(signum, frame, case=case):
            again(options, report, case, f"more than {options.limit_s} s")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(options.limit_s)
        try:
            with torch.cuda.stream(stream) if stream else open(os.devnull):
                entry = time_case(torch, timed_references, timer, runtime, options.folder, case, stream.cuda_stream if stream else 0, not options.no_references)
        except Exception as error:
            again(options, report, case, (str(error).splitlines() or [type(error).__name__])[0][:300])
        finally:
            signal.alarm(0)
        report["cases"].append(entry)
        print(line(entry), flush=True)
        save(options.json, report)
    bad = sum(entry["verdict"] != "timed" for entry in report["cases"])
    print(f"{len(report['cases'])} cases on {device}, {bad} not right" + (f", {left} left for another call" if left else ""))
    return 1 if bad or left or not report["cases"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pack", action="store_true", help="fill the folder instead")
    parser.add_argument("--target", default="sm_90a", help="what to pack for")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="folder of mp-opt")
    parser.add_argument("--tiny", action="store_true", help="pack a small case of each kind as PTX, which the emulator runs, too")
    parser.add_argument("--json", type=pathlib.Path, help="report; cases that it holds are not run again")
    parser.add_argument("--only", default="", help="cases whose name holds this word")
    parser.add_argument("--budget-s", type=float, default=300, help="seconds after which no other case begins")
    parser.add_argument("--limit-s", type=int, default=60, help="seconds of one case")
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--no-references", action="store_true")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    return pack(options) if options.pack else run(options)


if __name__ == "__main__":
    sys.exit(main())
