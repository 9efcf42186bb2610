# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: sweep.py default|variants "MODEL --OPTIONS"
# Generates the model in both dialects, as it is or in every variant, twice (the bytes must
# agree), and checks it with stock tools. Prints what failed and the number of failures; exits with 1 if there are any.
import subprocess
import sys

VARIANTS = ["--dynamic", "--weights=constants", "--resources"]
OF_LAYERS = ["--calls", "--control-flow=for", "--control-flow=if", "--control-flow=while",
             "--control-flow=all", "--control-flow --calls --dynamic --weights=constants"]
SPECIFICATION = ["--tosa-attach-target=specification_version=1.1.draft "
                 "profiles=pro_fp,pro_int extensions=controlflow",
                 "--tosa-validate=strict-op-spec-alignment"]

failures = 0


def run(command, text=None):
    global failures
    result = subprocess.run(command, input=text, capture_output=True)
    if result.returncode:
        failures += 1
        print(" ".join(command), result.stderr.decode()[:2000])
    return result


model = sys.argv[2].split()
variants = [""]
if sys.argv[1] == "variants":
    variants = VARIANTS + ([] if model[0] == "chain" else OF_LAYERS)
for dialect in ("linalg", "tosa"):
    for variant in variants:
        command = ["mp-gen"] + model + ["--dialect=" + dialect] + variant.split()
        first = run(command)
        if first.returncode:
            continue
        if run(command).stdout != first.stdout:
            failures += 1
            print(" ".join(command), "differs between two runs")
        # The specification has no dynamic shapes that its checker could size.
        strict = SPECIFICATION if dialect == "tosa" and "--dynamic" not in variant else []
        run(["mlir-opt"] + strict + ["-o", "/dev/null"], first.stdout)
print("failures:", failures)
sys.exit(failures != 0)
