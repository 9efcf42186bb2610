#!/bin/sh
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# True of nothing.
exit 1
