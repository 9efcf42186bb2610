#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Full-size models through everything: BERT-base, GPT-2 small and ResNet-50.

Each is generated, converted, checked for erasure, run and compared with the same graph in
f64, and lowered to PTX for every chip (assembled to a cubin where ptxas is found). Prints a
row per model and format; exits 1 when a step fails or an error exceeds --max-rel.

usage: full-models.py BUILD/bin [--models bert,gpt2,resnet50] [--formats bf16,f16] [--chips sm_80,sm_90a]
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile


def run(*command):
    """Runs a command; its processor seconds. The command's own words are shown when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}exit status {done.returncode}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder with mp-opt, mp-run and mp-gen")
    parser.add_argument("--models", default="bert,gpt2,resnet50")
    parser.add_argument("--formats", default="bf16,f16")
    parser.add_argument("--chips", default="sm_80,sm_90a")
    parser.add_argument("--seed", default="1", help="of the inputs and weights")
    parser.add_argument("--max-rel", type=float, default=0.01, help="largest error over the largest magnitude")
    options = parser.parse_args()
    tool = lambda name: os.path.join(options.bin, name)
    chips = options.chips.split(",")
    emit = "cubin" if shutil.which("ptxas") else "ptx"
    print(f"{'model':<10}{'format':<7}{'ops':>6}{'narrow contractions':>21}{'casts':>7}{'convert s':>11}"
          f"{'run s':>7}{'max error':>11}  {emit} KiB for {', '.join(chips)}")
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for model in options.models.split(","):
            run(tool("mp-gen"), model, "-o", path("model.mlir"))
            for kind in options.formats.split(","):
                seconds = run(tool("mp-opt"), path("model.mlir"), "-o", path("narrow.mlir"),
                              f"--mp-mixed-precision=format={kind} target={chips[0].rstrip('a')} report={path('report.json')}")
                run(tool("mp-opt"), path("narrow.mlir"), f"--mp-check-erasure=original={path('model.mlir')}", "-o", os.devnull)
                run(tool("mp-run"), path("narrow.mlir"), "--compare=f64", f"--seed={options.seed}", f"--json={path('run.json')}")
                sizes = []
                for chip in chips:
                    run(tool("mp-opt"), path("model.mlir"), "-o", os.devnull,
                        f"--mp-to-nvvm=format={kind} target={chip} emit={emit} dir={path(chip)}")
                    sizes.append(sum(entry.stat().st_size for entry in os.scandir(path(chip))) // 1024)
                    shutil.rmtree(path(chip))
                report, result = (json.load(open(path(name), encoding="utf-8")) for name in ("report.json", "run.json"))
                contractions = [op for op in report["ops"] if op["class"] == "T"]
                narrow = sum(op["narrowed"] for op in contractions)
                error = max(output["max_abs_over_largest"] for output in result["outputs"])
                worst = max(worst, error)
                print(f"{model:<10}{kind:<7}{len(report['ops']):>6}{f'{narrow} of {len(contractions)}':>21}"
                      f"{len(report['casts']):>7}{seconds:>11.2f}{result['run_seconds']:>7.2f}{error:>11.2%}  "
                      f"{', '.join(map(str, sizes))}", flush=True)
    if not worst <= options.max_rel:
        sys.exit(f"full-models: expected errors of at most {options.max_rel}, found {worst}")


if __name__ == "__main__":
    main()
