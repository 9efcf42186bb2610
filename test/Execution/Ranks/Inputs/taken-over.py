#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: taken-over.py SAVED BEFORE

Compares the arguments that mp-run wrote to the folder BEFORE (--input-dir, of a step with 19 arrays of state, images and
labels before its residuals) with the state whose manifest is SAVED.json."""
import json
import os
import struct
import sys

import numpy as np

manifest = json.loads(open(sys.argv[1] + ".json").readline())
shards = []
for file in manifest["files"]:
    data = open(os.path.join(os.path.dirname(sys.argv[1]), file["name"]), "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    shards.append((json.loads(data[8:8 + size]), data[8 + size:]))
saved = []
for tensor in manifest["tensors"]:
    whole = np.zeros(tensor["shape"], np.float32)
    for part in tensor["parts"]:
        header, data = shards[part["file"]]
        begin, end = header[part["name"]]["data_offsets"]
        values = np.frombuffer(data[begin:end], np.float32).reshape(header[part["name"]]["shape"])
        where = [slice(None)] * whole.ndim
        if part["dim"] >= 0:
            where[part["dim"]] = slice(part["begin"], part["end"])
        whole[tuple(where)] = values
    saved.append(whole)
before = [np.load(os.path.join(sys.argv[2], name)) for name in sorted(os.listdir(sys.argv[2]))]
same = sum(a.tobytes() == b.tobytes() for a, b in zip(saved[:19], before[:19]))
# Rank 0 has the sum over ranks, all others nothing; parts of a vector have another padding behind it.
kept = 0
for theirs, ours in zip(saved[19:], before[21:]):
    rows = theirs.reshape(-1, theirs.shape[-1])
    total = np.zeros(rows.shape[1], np.float32)
    for row in rows:
        total += row
    ours = ours.reshape(-1, ours.shape[-1])
    width = min(total.size, ours.shape[1])
    fits = np.array_equal(ours[0, :width], total[:width]) and not total[width:].any() and not ours[0, width:].any()
    kept += bool(fits and not ours[1:].any())
print(same, "arrays equal,", kept, "of", len(saved[19:]), "residuals kept", "" if any(r.any() for r in saved[19:]) else "(all 0)")
