#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: one-overflows.py ROWS RANKS VALUE FILE        three batches of ROWS digits; in the second one example, of the
last but one rank, has a pixel of VALUE"""
import sys

import numpy as np

rows, ranks, value = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
images = np.random.default_rng(7).random((3 * rows, 64), np.float32)
images[rows + (ranks - 2) * rows // ranks, 5] = value
np.save(sys.argv[4], images)
