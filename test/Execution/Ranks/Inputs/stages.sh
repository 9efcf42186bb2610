#!/bin/sh
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# usage: stages.sh STEP MPIRUN PYTHON SAME-BYTES STAGES [PROCESSES]
# Runs two calls of the step in stages on four micro-batches, and compares results with those of four ranks that share the batch, in
# one process and in PROCESSES.
set -e
mp-opt "$1" --mp-annotate-roles --inline --mp-decompose-training -o whole.mlir
mp-opt whole.mlir --mp-partition="ranks=4 batch=true" -o ranks.mlir
mp-opt ranks.mlir --mp-pipeline=stages=$5 --remarks-filter=mp-partition -o stages.mlir 2> remark.txt
grep -o "@main is.*" remark.txt
mp-run ranks.mlir -q --steps=2 --output-dir=ranks > ranks.txt
mp-run stages.mlir -q --steps=2 --output-dir=stages > stages.txt
"$3" "$4" remark.txt stages.txt 2
diff -r ranks stages
if [ -n "$6" ]; then
  $2 -n $6 mp-run stages.mlir -q --steps=2 --output-dir=processes > processes.txt
  "$3" "$4" remark.txt processes.txt 2
  diff -r ranks processes
fi
echo "$5 stages: bits of ranks"
