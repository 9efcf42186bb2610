# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: make-family-kernels.sh FOLDER PYTHON INPUTS
#
# Writes the kernels of families that gates are about, as FOLDER/GATE.ptx, with functions as $MATH says, approximate by default.
folder=$1 python=$2 inputs=$3
make() {
  gate=$1
  shift
  "$python" "$inputs/family-kernels.py" "$@" >"$folder/$gate.mlir"
  mp-opt "$folder/$gate.mlir" --mp-to-nvvm="sums=tree math=${MATH:-approximate} dir=$folder/$gate" -o "$folder/$gate.out.mlir"
  mv "$folder/$gate"/*.ptx "$folder/$gate.ptx"
}
make cast-f32-bf16 cast 64 8192 f32
make bias-gelu-bf16 bias-gelu 64 4096 bf16
make softmax-8192-f32 softmax 64 8192 f32
make softmax-1024-f32 softmax 64 1024 f32
make softmax-1024-bf16 softmax 64 1024 bf16
make layernorm-4096-f32 layernorm 64 4096 f32
make layernorm-1024-bf16 layernorm 64 1024 bf16
make rmsnorm-4096-f32 rmsnorm 64 4096 f32
make rmsnorm-4096-bf16 rmsnorm 64 4096 bf16
make row-sum-8192-f32 row-sum 64 8192 f32
make residual-layernorm-cast-amax residual-layernorm 64 4096 f32
make transpose-f16 transpose 512 1024 f16
make transpose-f32 transpose 512 1024 f32
