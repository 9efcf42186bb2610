#!/bin/sh
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlir-reduce keeps a file when the script exits with 1.
grep -q 'mp.cast saturate' "$1" && exit 1
exit 0
