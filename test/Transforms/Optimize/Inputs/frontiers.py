# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans six train steps into less and less memory: each plan must fit, and take no more time than checkpointing by segments.

usage: frontiers.py FOLDER
"""
import pathlib
import re
import subprocess
import sys

STEPS = {
    "mlp": "digits --train=momentum --batch=256",
    "deep mlp": "mlp --layers=8 --inputs=64 --hidden=64 --outputs=10 --train=adam --batch=256",
    "cnn": "cnn --image=8 --inputs=1 --channels=8 --layers=1 --train=adam --batch=32",
    "deep cnn": "cnn --image=8 --inputs=1 --channels=8 --layers=6 --train=momentum --batch=32",
    "gpt": "gpt2 --layers=2 --hidden=64 --heads=4 --seq=32 --vocab=128 --train=adamw --batch=8",
    "bert": "bert --layers=2 --hidden=64 --heads=4 --seq=32 --vocab=128 --train=adamw --batch=8",
}
PLAN = re.compile(r"peak (\d+) bytes of (\d+): \d+ values computed again, 0 stored narrow, ([\d.]+)% more time \(modelled\), (?:not proven )?optimal"
                  r"(?:; checkpoints alone ([\d.]+)%)?")

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True, parents=True)


def plan(step, limit):
    done = subprocess.run(["mp-opt", step, f"--mp-to-cpu=max-memory={limit}", "-o", folder / "less.mlir", "--remarks-filter=mp"], capture_output=True, text=True)
    if least := re.search(r"computed again (\d+): expected max-memory", done.stderr):
        return None, int(least[1])
    found = PLAN.search(done.stderr)
    if done.returncode or not found:
        sys.exit(f"{step}, {limit}: {done.stderr[:2000]}")
    return found, 0


for name, words in STEPS.items():
    step = str(folder / "step.mlir")
    subprocess.run(["mp-gen", *words.split(), "-o", step], check=True)
    found, _ = plan(step, 1 << 40)
    whole, rows = int(found[2]), []
    for share in (0.95, 0.9, 0.85, 0.7, 0.5):
        found, least = plan(step, int(whole * share))
        if not found:
            rows.append(f"{least * 100 // whole} % at least")
            break
        within = int(found[1]) <= whole * share
        dearer = found[4] is not None and float(found[3]) > float(found[4])
        rows.append(f"{'' if within else 'BEYOND '}{'DEARER ' if dearer else ''}{found[3]}/{found[4] or '-'}")
    print(f"{name}: {', '.join(rows)}", flush=True)
