# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs versions of a step one after the other, as their rules would, and compares with the merged run.

usage: versions-by-hand.py WIDE.mlir NARROW.mlir MERGED_RESULTS WORK WIDE_STEPS NARROW_STEPS WIDE_STEPS_AGAIN
"""
import pathlib
import re
import subprocess
import sys

wide, narrow, merged, work = sys.argv[1:5]
counts = [int(count) for count in sys.argv[5:8]]


def states(path):
    """For each argument of the step, the result that is its next value, or None."""
    signature = re.search(r"func\.func @main\((.*?)\) -> \(", pathlib.Path(path).read_text(), re.S)[1]
    pieces = re.split(r"%[\w.]+: ", signature)[1:]
    found = [re.search(r"mp\.state = (\d+)", piece) for piece in pieces]
    return [int(state[1]) if state else None for state in found]


def run(path, steps, before, own):
    """Runs `steps` from the results in `before`; appended state starts anew."""
    after = pathlib.Path(work, f"{pathlib.Path(path).stem}-{steps}-{len(list(pathlib.Path(work).iterdir()))}")
    inputs = [f"--input=@{before}/result-{state:03}.npy" if before and state is not None and number < own else "--input=seed"
              for number, state in enumerate(states(path))]
    subprocess.run(["mp-run", path, f"--steps={steps}", "--seed=3", f"--output-dir={after}", *inputs], check=True, stdout=subprocess.DEVNULL)
    return after


pathlib.Path(work).mkdir()
own = len(states(wide))
folder = None
for path, steps in zip((wide, narrow, wide), counts):
    folder = run(path, steps, folder, own)
compared = 0
for state in states(wide):
    if state is None:
        continue
    name = f"result-{state:03}.npy"
    compared += 1
    mine, theirs = pathlib.Path(folder, name).read_bytes(), pathlib.Path(merged, name).read_bytes()
    if mine != theirs:
        sys.exit(f"{name} differs from the run by hand")
print(f"{compared} states are those of the versions by hand")
