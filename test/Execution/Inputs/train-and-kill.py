# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains by mp-train, kills it at random moments, damages what it has saved, and compares final states.

usage: train-and-kill.py MP-TRAIN FOLDER KILLS; FOLDER has step.mlir.
"""
import json
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

from trainings import kill_at_random, last, state

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

# The step as given trains, too.
wide = run(config("wide", strategy="f32"))
ends = [float(last(text, "trained").rsplit(" to ", 1)[1]) for text in (wide, undisturbed)]
assert abs(ends[0] - ends[1]) < 0.05 * ends[1], ends
print("as given:", last(wide, "trained"))

# Killed at random moments, it goes on with the same bits; as often as it is through, it starts anew.
start = time.time()
run(config("timed"))
whole = time.time() - start
killed = config("killed")
trained = kill_at_random([TOOL, killed], FOLDER / "killed", KILLS, 1.1 * whole, state(undisturbed))
assert state(run(killed)) == state(undisturbed)
print(f"killed {KILLS} times while it trained, {trained + 1} trainings: the same state")

# A kill within a save leaves these, one after the other: each is told or passed over, and the training goes on from the state before.
for leave in ("data aside", "half of it", "data without manifest", "manifest aside", "half a manifest"):
    name = "save-" + leave.replace(" ", "-")
    target = FOLDER / name
    shutil.copytree(FOLDER / "plain", target)
    (target / "lock").unlink()
    data_file, manifest = target / "step-000000120.safetensors", target / "step-000000120.json"
    if leave in ("data aside", "half of it"):
        content = data_file.read_bytes()
        data_file.with_suffix(".safetensors.tmp").write_bytes(content[:len(content) // (2 if leave == "half of it" else 1)])
        data_file.unlink()
        manifest.unlink()
    elif leave == "data without manifest":
        manifest.unlink()
    elif leave == "manifest aside":
        manifest.rename(manifest.with_suffix(".json.tmp"))
    else:
        manifest.write_bytes(manifest.read_bytes()[:200])
    # The folder is of another configuration by its text, so the configuration is the same but for where it lies.
    path = FOLDER / "plain.json"
    shutil.rmtree(FOLDER / "kept", ignore_errors=True)
    (FOLDER / "plain").rename(FOLDER / "kept")
    target.rename(FOLDER / "plain")
    text = run(path)
    assert "going on from step 100" in text and state(text) == state(undisturbed), (leave, text)
    assert leave != "half a manifest" or "the state of step 120 is not taken" in text, text
    shutil.rmtree(FOLDER / "plain")
    (FOLDER / "kept").rename(FOLDER / "plain")
print("killed within a save, five ways: the same state")

# A full disk: the first write of a state fails as on one, room is made, also of what a kill has left, and the training ends with the same bits. Where
# only the manifest cannot be written, no data are left that nobody reads.
full = config("full", log=str(FOLDER / "full.jsonl"))
(FOLDER / "full").mkdir()
(FOLDER / "full" / "step-000000060.safetensors.tmp").symlink_to("/dev/full")
(FOLDER / "full" / "step-000000080.json.tmp").mkdir()
for name in ("step-000000007.safetensors", "step-000000007.json.tmp"):
    (FOLDER / "full" / name).write_bytes(b"left")
text = run(full)
events = [json.loads(line) for line in (FOLDER / "full.jsonl").read_text().splitlines()]
told = [e["reason"] for e in events if e["kind"] == "made-room"]
assert len(told) == 1 and "No space left on device" in told[0], told
assert [e["step"] for e in events if e["kind"] == "not-saved"] == [80], events
lies = sorted(p.name for p in (FOLDER / "full").glob("step-*"))
states = [f"step-{step:09}.{kind}" for step in (60, 100, 120) for kind in ("json", "safetensors")]
assert lies == states[:2] + ["step-000000080.json.tmp"] + states[2:], lies
assert state(text) == state(undisturbed)
print("full disk: made room, the same state")


def limit():
    """No file may become as long as a state: each write of one fails, and lines of output still fit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


# The states that there are stay where room cannot be made, each that is not saved is told, and a last state that is not is an error.
small = config("small")
killer = subprocess.Popen([TOOL, small], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while not (FOLDER / "small" / "step-000000040.json").exists() and killer.poll() is None:
    time.sleep(0.002)
killer.kill()
killer.wait()
before = sorted(p.name for p in (FOLDER / "small").glob("step-*.json"))
done = subprocess.run([TOOL, small], capture_output=True, text=True, preexec_fn=limit)
assert done.returncode == 2 and state(done.stdout) == state(undisturbed), done.stdout + done.stderr
assert "the state was not saved" in done.stderr and "File too large" in done.stderr, done.stderr
left = sorted(p.name for p in (FOLDER / "small").glob("step-*.json"))
assert left and left[-1] == before[-1], (before, left)
ends = f"whose newest state is that of step {int(left[-1][5:14])}: make room and run the same command, which goes on from there [MP301]"
assert "error: the state of step 120, the last, was not saved: " in done.stderr and ends in done.stderr, done.stderr
text = run(small)
assert state(text) == state(undisturbed) and f"going on from step {int(left[-1][5:14])} " in text, text
print("full for good: an error, the newest state kept, the same state")

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

# A canary that overflows is given up at its first alarm, and the training is what it would have been without; a good one stays.
strategies = [{"name": "f16", "assign": "format=f16 loss-scale=torch initial-scale=1e30"}, {"name": "bf16", "assign": "format=bf16"}, {"name": "f32"}]
canary = {"shares": [0.25], "block": 40, "blocks": 1}
sick = run(config("canary", strategies=strategies, schedule=[{"from": 60, "strategy": "f16"}], canary=canary))
print("canary:", last(sick, "canary"))
assert state(sick) == state(undisturbed)
print("canary given up: the same state")
log = FOLDER / "canary-good.jsonl"
good = run(config("canary-good", schedule=[{"from": 60, "strategy": "f32"}], canary=canary, log=str(log)))
switches = [e for e in map(json.loads, log.read_text().splitlines()) if e["kind"] == "switch"]
assert [(e["step"], e["to"]) for e in switches] == [(60, "f32"), (70, "bf16"), (100, "f32")], switches
print("good canary:", last(good, "trained"))

# In shadow, a strategy is tried on copies: given up or taken, it has moved no bit of the training; worse than what is allowed, it is given up.
sick = run(config("shadow", strategies=strategies, schedule=[{"from": 60, "strategy": "f16"}], canary={"shadow": 16}))
print("sick shadow:", last(sick, "shadow"))
assert state(sick) == state(undisturbed)
good = run(config("shadow-good", schedule=[{"from": 60, "strategy": "f32"}], canary={"shadow": 16}))
print("good shadow:", last(good, "shadow"))
assert state(good) == state(switched)
slow = [{"name": "slow", "assign": "format=bf16 clip-norm=1e-9"}, {"name": "bf16", "assign": "format=bf16"}]
worse = run(config("shadow-worse", strategies=slow, schedule=[{"from": 60, "strategy": "slow"}], canary={"shadow": 16, "within": 0.01}))
print("worse shadow:", last(worse, "shadow"))
assert state(worse) == state(undisturbed)

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
