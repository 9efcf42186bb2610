#!/bin/sh
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# usage: schemes.sh STEP PYTHON ZERO-BYTES [SIZE:ROWS]
# Runs two calls of the step on 4 ranks in each scheme, compares bytes with the formula and results with data parallel's.
set -e
mp-opt "$1" --inline --mp-decompose-training -o whole.mlir
for scheme in data state all; do
  case $scheme in
  data) parts="" ;;
  state) parts="optimizer-state=true" ;;
  all) parts="optimizer-state=true parameters=true" ;;
  esac
  mp-opt whole.mlir --mp-partition="ranks=4 batch=true $parts" --remarks-filter=mp-partition \
    -o $scheme.mlir 2> $scheme-remark.txt
  mp-run $scheme.mlir -q --steps=2 --output-dir=$scheme > $scheme.txt
  "$2" "$3" whole.mlir $scheme 2 $scheme-remark.txt $scheme.txt $4
  diff -r data $scheme && echo "$scheme: bits of data parallel"
done
