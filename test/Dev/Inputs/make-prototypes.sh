#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: make-prototypes.sh PROTOTYPES FOLDER PYTHON
#
# Turns the kernel generators of the shared folder into PTX, named as the gates that they answer.
set -euo pipefail
prototypes=$1 folder=$2 python=$3
mkdir -p "$folder"

# make NAME CPU FEATURES GENERATOR ARGUMENTS...
make() {
  local name=$1 cpu=$2 features=$3 generator=$4
  shift 4
  "$python" "$prototypes/$generator" "$@" >"$folder/$name.ll"
  opt -O3 "$folder/$name.ll" -S -o "$folder/$name.o.ll" -mtriple=nvptx64-nvidia-cuda -mcpu="$cpu"
  llc -O3 -mcpu="$cpu" -mattr="$features" "$folder/$name.o.ll" -o "$folder/$name.ptx"
  rm "$folder/$name.ll" "$folder/$name.o.ll"
}

for sm in 80 89; do
  make matmul-bf16-128x256x64-sm_$sm sm_$sm +ptx80 gemm_mma_sync.py --cpu sm_$sm
  make matmul-bf16-128x128x64-sm_$sm sm_$sm +ptx80 gemm_mma_sync.py --cpu sm_$sm --BN 128 --wm 2 --wn 2
  make matmul-bf16-64x64x64-sm_$sm sm_$sm +ptx80 gemm_mma_sync.py --cpu sm_$sm --BM 64 --BN 64 --wm 2 --wn 2
done
make matmul-bf16-128x256x64-sm_120 sm_120 +ptx87 gemm_mma_sync.py --cpu sm_120
make softmax-8192-f32 sm_80 +ptx80 rows.py softmax 8192 256
make softmax-1024-f32 sm_80 +ptx80 rows.py softmax 1024 32
make softmax-1024-bf16 sm_80 +ptx80 rows.py softmax 1024 32 bf16
make layernorm-4096-f32 sm_80 +ptx80 rows.py layernorm 4096 256
make layernorm-1024-bf16 sm_80 +ptx80 rows.py layernorm 1024 32 bf16
make rmsnorm-4096-f32 sm_80 +ptx80 rows.py rms 4096 128
make attention-128-sm_90a sm_90a +ptx83 attention_wgmma.py --S 512
make attention-64-sm_90a sm_90a +ptx83 attention_wgmma.py --S 512 --D 64 --cons 3 --regs 32,160
