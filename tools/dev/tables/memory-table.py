#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs train steps in less and less memory, and prints what that costs in modelled time.

usage: memory-table.py [--only=NAME,...] [--shares=0.9,0.8,...] [--narrow]

Needs mp-gen, mp-opt and mp-run on PATH. Each step runs once as it is, then under `mp-run --fit-memory` at shares of the bytes that it
took. Columns: the limit; the peak as planned and as the runtime counted it; values computed again; the modelled time of
that over the time of the step, and of the best checkpointing by segments that fits; whether all choices were looked at;
whether all results have the bits of the step as it is (with --narrow, bf16 storage: the largest error of a result, relative to its
largest magnitude).
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

STEPS = {
    "mlp": "digits --train=momentum --batch=256",
    "deep mlp": "mlp --layers=8 --inputs=64 --hidden=64 --outputs=10 --train=adam --batch=256",
    "cnn": "cnn --image=8 --inputs=1 --channels=8 --layers=1 --train=adam --batch=32",
    "deep cnn": "cnn --image=8 --inputs=1 --channels=8 --layers=6 --train=momentum --batch=32",
    "gpt": "gpt2 --layers=2 --hidden=64 --heads=4 --seq=32 --vocab=128 --train=adamw --batch=8",
    "gpt bf16": "gpt2 --layers=2 --hidden=64 --heads=4 --seq=32 --vocab=128 --train=adamw --batch=8",
}


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def must(*command):
    done = run(*command)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr[:3000]}")
    return done


def measure(step, folder, limit, narrow):
    report = folder / "run.json"
    done = run("mp-run", step, f"--compare={step}", f"--fit-memory={limit}", f"--json={report}", *(["--store-narrow=bf16"] if narrow else ["--max-rel=0"]))
    if least := re.search(r"computed again (\d+): expected max-memory", done.stderr):
        return None, int(least[1])
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr[:3000])
    return json.loads(report.read_text()), done.returncode == 0


def table(name, options):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        step = folder / "step.mlir"
        must("mp-gen", *STEPS[name].split(), "-o", step)
        if "bf16" in name:
            must("mp-opt", step, "--mp-train-step=format=bf16", "-o", folder / "mixed.mlir")
            step = folder / "mixed.mlir"
        must("mp-run", step, f"--json={folder / 'whole.json'}")
        whole = json.loads((folder / "whole.json").read_text())["peak_bytes"]
        print(f"{name}: {STEPS[name]}, {whole} bytes", flush=True)
        for share in options.shares:
            found, fine = measure(step, folder, int(whole * share), options.narrow)
            if not found:
                print(f"  {share:5.2f} {int(whole * share):9}  does not fit: {fine} bytes do", flush=True)
                break
            plan = re.search(r"peak (\d+) bytes of \d+: (\d+) values computed again, (\d+) stored narrow, ([\d.]+)% more time \(modelled\), (optimal|not proven optimal)"
                             r"(?:; checkpoints alone ([\d.]+)%)?", found["memory_plan"])
            same = f"{max((r['max_abs_over_largest']) for r in found['outputs']):.1e}" if options.narrow else "yes" if fine else "NO"
            print(f"  {share:5.2f} {int(whole * share):9} {plan[1]:>9} {found['peak_bytes']:9} {plan[2]:>5} {plan[3]:>6} {plan[4]:>7}% {plan[6] or '-':>6}{'%' if plan[6] else ' '} "
                  f"{'yes' if plan[5] == 'optimal' else 'no':>7} {same:>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(STEPS))
    parser.add_argument("--shares", default="0.9,0.8,0.7,0.6,0.5", type=lambda text: [float(s) for s in text.split(",")])
    parser.add_argument("--narrow", action="store_true")
    options = parser.parse_args()
    print(f"  {'share':>5} {'limit':>9} {'planned':>9} {'measured':>9} {'again':>5} {'narrow':>6} {'time':>8} {'checkp.':>7} {'optimal':>7} {'bits':>8}")
    for name in options.only.split(","):
        table(name, options)


if __name__ == "__main__":
    main()
