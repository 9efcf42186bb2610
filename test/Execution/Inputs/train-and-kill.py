# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains by mp-train, kills it at random moments, damages what it has saved, and compares final states.

usage: train-and-kill.py MP-TRAIN FOLDER KILLS; FOLDER has step.mlir.
"""
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import time

TOOL, FOLDER, KILLS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
STEPS, BATCH = 120, 8
random.seed(1)


def write_npy(path, kind, shape, values):
    head = str({"descr": f"<{kind}{4 if kind == 'f' else 8}", "fortran_order": False, "shape": shape})
    head = head.ljust((len(head) + 11 + 63) // 64 * 64 - 11) + "\n"
    body = struct.pack(f"<{len(values)}{'f' if kind == 'f' else 'q'}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)


def data(name, bad=(), without=()):
    """Images and labels of 160 batches; `bad` ones are NaN, those `without` are not there."""
    source = random.Random(2)
    images, labels, rows = [], [], 0
    for batch in range(160):
        digits = [source.randrange(10) for _ in range(BATCH)]
        # A few pixels tell the digit, and none is so large that layers die.
        pixels = [0.1 * source.random() + (0.5 if at % 10 == digit else 0)
                  for digit in digits for at in range(64)]
        if batch in without:
            continue
        images += [float("nan")] * len(pixels) if batch in bad else pixels
        labels += digits
        rows += BATCH
    write_npy(FOLDER / f"{name}-images.npy", "f", (rows, 64), images)
    write_npy(FOLDER / f"{name}-labels.npy", "i", (rows,), labels)


def config(name, **changes):
    images = changes.pop("data", "good")
    inputs = changes.pop("inputs", None) or INPUTS
    content = {"step": "step.mlir", "steps": STEPS, "seed": 1,
               "inputs": [word.replace("DATA", str(FOLDER / images)) for word in inputs],
               "strategies": [{"name": "bf16", "assign": "format=bf16"}, {"name": "f32"}],
               "strategy": "bf16", "checkpoints": {"folder": str(FOLDER / name), "every": 20},
               "recovery": {"good-after": 20, "skip-before": 2, "wide-for": 40}, **changes}
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(content))
    return path


def run(path):
    done = subprocess.run([TOOL, path], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def state(text):
    return text.rsplit("state: ", 1)[1].strip()


def last(text, word):
    return next(line for line in reversed(text.splitlines()) if word in line)


def find_inputs():
    """The arguments of the step that take batches, by their types; the others are seeded."""
    text = (FOLDER / "step.mlir").read_text()
    signature = text[text.index("func.func"):].split("->")[0]
    types = [part.split("tensor<")[1].split(">")[0] for part in signature.split("%")[1:]]
    words = ["seed"] * len(types)
    words[types.index(f"{BATCH}x64xf32")] = "batches:@DATA-images.npy"
    words[types.index(f"{BATCH}xi64")] = "batches:@DATA-labels.npy"
    return words


INPUTS = find_inputs()
data("good")
undisturbed = run(config("plain"))
print("undisturbed:", last(undisturbed, "trained"))
again = run(FOLDER / "plain.json")
print("second call:", again.splitlines()[0])
assert state(again) == state(undisturbed)

# Killed at random moments, it goes on with the same bits.
start = time.time()
run(config("timed"))
whole = time.time() - start
killed = config("killed")
for _ in range(KILLS):
    process = subprocess.Popen([TOOL, killed], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0.3, 1) * whole)
    process.kill()
    process.wait()
assert state(run(killed)) == state(undisturbed)
print(f"killed {KILLS} times: the same state")

# A damaged state is named, and the one before taken.
file = FOLDER / "plain" / "step-000000120.safetensors"
whole_file = file.read_bytes()
file.write_bytes(whole_file[:-1] + bytes([whole_file[-1] ^ 1]))
damaged = run(FOLDER / "plain.json")
assert state(damaged) == state(undisturbed)
print(f"damaged: {damaged.splitlines()[0]}; the same state")
flips = 0
for name in ("step-000000120.safetensors", "step-000000120.json"):
    path = FOLDER / "plain" / name
    good = path.read_bytes()
    for _ in range(2):
        at, bit = random.randrange(len(good)), 1 << random.randrange(8)
        path.write_bytes(good[:at] + bytes([good[at] ^ bit]) + good[at + 1:])
        text = run(FOLDER / "plain.json")
        assert "the state of step 120 is not taken" in text, (name, at, bit, text)
        assert state(text) == state(undisturbed)
        flips += 1
print(f"flipped: all of {flips} flips refused")

# A schedule switches, and the log says so.
log = FOLDER / "switch.jsonl"
switched = run(config("switch", schedule=[{"from": 60, "strategy": "f32"}], log=str(log)))
print("switching:", last(switched, "trained"))
switches = [e for e in map(json.loads, log.read_text().splitlines()) if e["kind"] == "switch"]
assert [(e["step"], e["to"], e["cause"]) for e in switches] == [(60, "f32", "the schedule")]

# A batch of NaN: back to a good state, without the batches before it. The run that never had them ends the same.
data("nan", bad=[70])
healed = run(config("healed", data="nan"))
for line in healed.splitlines():
    if line.startswith(("rollback", "trained")):
        print("batch of NaN:", line)
data("without", without=[69, 70])
by_hand = run(config("by-hand", data="without"))
assert state(by_hand) == state(healed)
print("left out by hand: the same state")
data("bad", bad=range(160))
print("all NaN:", last(run(config("bad", data="bad")), "given up"))
