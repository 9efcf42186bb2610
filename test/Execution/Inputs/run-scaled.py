# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs two steps of a watched perceptron of eight layers of 16 with weights of one size, and prints what the monitor says of gradients.

usage: run-scaled.py STEP.mlir PREFIX SIZE
"""
import json
import subprocess
import sys

step, prefix, size = sys.argv[1:]
inputs = [word for layer in range(8) for word in (f"--input=16x16xf32=uniform:{layer},{size},0", "--input=16xf32=0")]
inputs.append("--input=32x16xf32=uniform:9,1e-6,0")  # so small that gradients of biases count, which are what comes back
run = subprocess.run(["mp-run", step, *inputs, "--seed=1", "--steps=2", "--log-every=9", f"--monitor={prefix}.jsonl", f"--html={prefix}.html"], capture_output=True, text=True, check=True)
print("\n".join(line for line in run.stdout.splitlines() if line.startswith("gradient")))
flow = json.loads(open(f"{prefix}.jsonl").read().splitlines()[-1])["gradient_flow"]
assert [layer["layer"] for layer in flow["layers"]] == ["input", *(f"hidden{i}.linear" for i in range(6)), "output"], flow
print(json.dumps({"verdict": flow["verdict"]}))
print("on the page" if "bits a layer" in open(f"{prefix}.html").read() else "NOT on the page")
