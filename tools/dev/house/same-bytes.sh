#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Converts models, and lowers functions with constants, with and without threads, with and without
# a random address layout, and by a second build where one is named: modules, reports and pages must
# be the same bytes.
#   tools/dev/house/same-bytes.sh BIN [OTHER-BIN]
set -euo pipefail
bin=$(realpath "${1?usage: same-bytes.sh BIN [OTHER-BIN]}") other=$(realpath "${2-$1}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$bin/mp-gen" bert --layers=2 --hidden=64 --heads=4 --vocab=50 -o bert.mlir
"$bin/mp-gen" mlp --hidden=64 --train --roles -o train.mlir

for callee in one three fourth; do
  echo "func.func private @$callee() -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, ${#callee}.5]> : tensor<2xf32>
  return %c : tensor<2xf32>
}"
done > calls.mlir
cat >> calls.mlir << 'END'
func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = call @one() : () -> tensor<2xf32>
  %1 = call @three() : () -> tensor<2xf32>
  %2 = call @fourth() : () -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
END

# convert NAME COMMAND...: leaves NAME.MODEL.{mlir,json,html,txt} and NAME.{nvvm,cpu}.mlir
convert() {
  local name=$1 model pass
  shift
  for model in bert train; do
    pass=--mp-mixed-precision
    [[ $model == train ]] && pass=--mp-train-step
    "$@" "$model.mlir" "$pass=format=f16 report=out.json html=out.html" -o out.mlir 2> out.txt
    for kind in mlir json html txt; do mv "out.$kind" "$name.$model.$kind"; done
  done
  "$@" calls.mlir --mp-to-nvvm=target=sm_80 -o "$name.nvvm.mlir"
  "$@" calls.mlir --mp-to-cpu -o "$name.cpu.mlir"
}
fixed=()
setarch -R true 2> /dev/null && fixed=(setarch -R)
convert a "$bin/mp-opt"
convert b "$bin/mp-opt" --mlir-disable-threading
convert c "${fixed[@]}" "$bin/mp-opt"
convert d "$other/mp-opt"
count=0 different=0
for file in a.*; do
  for name in b c d; do
    count=$((count + 1))
    cmp -s "$file" "$name${file#a}" || { echo "$name${file#a} differs from $file"; different=$((different + 1)); }
  done
done
echo "$count files compared, $different differ"
((different == 0))
