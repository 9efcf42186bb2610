# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains by mp-train in the device emulator, lets its driver fail in every way that it can, and compares final states.

usage: train-on-device.py MP-TRAIN FOLDER KILLS; FOLDER has step.mlir. With more than ten kills, more faults are tried, too.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

from trainings import kill_at_random, last, state

TOOL, FOLDER, KILLS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
STEPS, EVERY, THOROUGH = 30, 10, KILLS > 10
random.seed(3)


def config(name, **changes):
    content = {"step": "step.mlir", "steps": STEPS, "seed": 1, "device": "emulator", "inputs": INPUTS,
               "strategies": [{"name": "bf16", "assign": "format=bf16"}, {"name": "f32"}], "strategy": "bf16",
               "checkpoints": {"folder": str(FOLDER / name), "every": EVERY}, "log": str(FOLDER / f"{name}.jsonl"), **changes}
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(content))
    return path


def environment(fault):
    clean = {word: value for word, value in os.environ.items() if word not in ("MP_EMULATED_FAULT", "MP_TRAIN_RESTARTS")}
    return clean | ({"MP_EMULATED_FAULT": fault} if fault else {})


def run(path, fault=None, status=0):
    done = subprocess.run([TOOL, path], capture_output=True, text=True, env=environment(fault))
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def events(name, kind):
    return [event for event in map(json.loads, (FOLDER / f"{name}.jsonl").read_text().splitlines()) if event["kind"] == kind]


INPUTS = ["seed"] * (FOLDER / "step.mlir").read_text().split("func.func")[1].split("->")[0].count("tensor<")
undisturbed = run(config("plain"))
wanted = state(undisturbed)
print("undisturbed:", last(undisturbed, "trained"))
host = run(config("host", device="cpu"))
ends = [float(last(text, "trained").rsplit(" to ", 1)[1]) for text in (host, undisturbed)]
assert abs(ends[0] - ends[1]) < 1e-3 * ends[0], ends
print("on the host: the same loss within a thousandth")

# Every launch of a process from the N-th on fails, so that each gets only so far.
for launches in (150, 400, 37, 91) if THOROUGH else (150,):
    name = f"launch-{launches}"
    text = run(config(name), f"launch:{launches}")
    assert state(text) == wanted, text
    faults = events(name, "device-fault")
    assert faults and all("CUDA_ERROR_LAUNCH_FAILED (injected by MP_EMULATED_FAULT=" in fault["reason"] for fault in faults), faults
    restarts = [line for line in text.splitlines() if "a new process goes on" in line]
    assert len(events(name, "resume")) == len(restarts) > 1, text
    print(f"launch {launches} of each process fails: {len(restarts)} new processes, the same state;", restarts[0])

# No process gets through a step.
text = run(config("never"), "launch:2", status=1)
print("never:", last(text, "given up"))
text = run(FOLDER / "never.json")
assert "going on from step 0 " in text and state(text) == wanted, text
print("never, then a sound driver: the same state")
print("without states:", last(run(config("stateless", checkpoints={}), "launch:150", status=1), "given up"))

# The step is made again where something fails once.
for kind, told in (("memory", "CUDA_ERROR_OUT_OF_MEMORY"), ("transfer", "CUDA_ERROR_INVALID_VALUE")):
    text = run(config(kind), f"{kind}:200")
    faults = events(kind, "device-fault")
    assert state(text) == wanted and len(faults) == 1 and told in faults[0]["reason"] and not events(kind, "resume"), (faults, text)
    print(f"{kind}:", last(text, "the step is made again"))

# A bit of a result flips and nobody says so. That of an exponent raises an alarm, and steps are made again from the newest state; that of a
# digit is found where each step is computed twice, and only there.
loud = 0
for copy in range(200, 260):
    name = f"flip-{copy}"
    text = run(config(name), f"flip:{copy},30")
    if state(text) == wanted and events(name, "replay"):
        assert "did not come again" in text and "0 rollbacks" in text, text
        found, loud = text, loud + 1
    shutil.rmtree(FOLDER / name)
    if loud == (10 if THOROUGH else 1):
        break
assert loud, "no flip was made again"
print("a bit of an exponent:", last(found, "steps are made again"))
print("a bit of an exponent:", last(found, "did not come again"))
for copy in range(200, 260):
    if state(run(config("digit"), f"flip:{copy},12")) != wanted:
        text = run(config("digit-verified", recovery={"verify-every": 1}), f"flip:{2 * copy},12")
        assert state(text) == wanted and "two runs differ in result" in text, text
        print("a bit of a digit, unseen: another state")
        print("a bit of a digit, each step computed twice:", last(text, "two runs differ"))
        break
    shutil.rmtree(FOLDER / "digit")
else:
    raise AssertionError("no flip changed the state")

start = time.time()
run(config("timed"))
whole = time.time() - start
killed = config("killed")
trained = kill_at_random([TOOL, killed], FOLDER / "killed", KILLS, 1.5 * whole, wanted, environment("launch:300"))
assert state(run(killed)) == wanted
print(f"killed {KILLS} times while its launches fail, {trained + 1} trainings: the same state")
