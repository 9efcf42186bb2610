#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The main job on a real model: a BERT of two layers (hidden size 768, sequence 128) from
# f32 to bf16, the table of what was decided, the proof that only casts were added, and
# how far the result is from the same graph computed in f64. Then task accuracy: a trained
# perceptron on handwritten digits that it has not seen, in f32, bf16 and f16.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/build/release/bin:$PATH"
out=build/demo
mkdir -p "$out"
set -x
mp-gen bert --layers=2 -o "$out/bert.mlir"
mp-opt "$out/bert.mlir" --mp-mixed-precision="format=bf16 target=sm_80 report=$out/report.json" -o "$out/bert-bf16.mlir"
mp-opt "$out/bert-bf16.mlir" --mp-check-erasure="original=$out/bert.mlir" -o /dev/null
mp-run "$out/bert-bf16.mlir" --compare=f64 --max-rel=0.01
{ set +x; } 2>/dev/null

mp-gen digits -o "$out/digits-f32.mlir"
for format in f32 bf16 f16; do
  if [[ $format != f32 ]]; then
    mp-opt "$out/digits-f32.mlir" --mp-mixed-precision="format=$format table=false" -o "$out/digits-$format.mlir"
  fi
  mp-run "$out/digits-$format.mlir" --input=@test/Models/Inputs/digits-images.npy --output=@"$out/logits.npy" >/dev/null
  echo "digits in $format: $(tools/dev/tables/accuracy.py "$out/logits.npy" test/Models/Inputs/digits-labels.npy)"
done
