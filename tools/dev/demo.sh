#!/usr/bin/env bash
# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The main job on a real model: a two-layer BERT from f32 to bf16, the table of what
# was decided, and how far the result is from the original.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/build/release/bin:$PATH"
out=build/demo
mkdir -p "$out"
for tool in mp-gen mp-opt mp-run; do
  if ! command -v "$tool" >/dev/null; then
    echo "demo: $tool is not part of this build yet; the README's status table says what is"
    exit 0
  fi
done
set -x
mp-gen bert --layers=2 -o "$out/bert.mlir"
mp-opt "$out/bert.mlir" --mp-mixed-precision="format=bf16 target=sm_80 report=$out/report.json" -o "$out/bert-bf16.mlir"
mp-opt "$out/bert-bf16.mlir" --mp-check-erasure="original=$out/bert.mlir" -o /dev/null
mp-run "$out/bert.mlir" --compare=f64
mp-run "$out/bert-bf16.mlir" --compare="$out/bert.mlir"
