#!/bin/sh
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# True of a program in which at least two products read f32.
test "$(grep -c "linalg.matmul ins(.*: tensor<8x8xf32>, tensor<8x8xf32>)" "$1")" -ge 2
