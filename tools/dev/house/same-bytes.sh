#!/usr/bin/env bash
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Converts models with and without threads, with and without a random address layout, and by a
# second build where one is named: module, report and page must be the same bytes.
#   tools/dev/house/same-bytes.sh BIN [OTHER-BIN]
set -euo pipefail
bin=$(realpath "${1?usage: same-bytes.sh BIN [OTHER-BIN]}") other=$(realpath "${2-$1}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$bin/mp-gen" bert --layers=2 --hidden=64 --heads=4 --vocab=50 -o bert.mlir
"$bin/mp-gen" mlp --hidden=64 --train --roles -o train.mlir

# convert NAME COMMAND...: leaves NAME.MODEL.{mlir,json,html}
convert() {
  local name=$1 model pass
  shift
  for model in bert train; do
    pass=--mp-mixed-precision
    [[ $model == train ]] && pass=--mp-train-step
    "$@" "$model.mlir" "$pass=format=f16 report=out.json html=out.html" -o out.mlir 2> out.txt
    for kind in mlir json html txt; do mv "out.$kind" "$name.$model.$kind"; done
  done
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
