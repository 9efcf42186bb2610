# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes a manifest of --save-state, with the checksum that belongs to the change.

usage: forge-manifest.py MANIFEST shard|range|size|array|file|name

shard: a part lies in a shard that is none; range: beyond its array; size: an array has more bytes than there are; array,
file: an entry is no object; name: a part has a name that its shard lacks.
"""
import hashlib
import json
import sys

path, what = sys.argv[1:]
with open(path) as file:
    manifest = json.loads(file.read().split("\n")[0])
tensor = next(t for t in manifest["tensors"] if t["shape"])
part = tensor["parts"][0]
if what == "shard":
    part["file"] = 7
elif what == "range":
    part.update({"dim": 0, "begin": 0, "end": 10**9})
elif what == "size":
    tensor["shape"][0] = 2**40
elif what == "name":
    part["name"] = "elsewhere"
elif what == "array":
    manifest["tensors"][0] = 1
else:
    manifest["files"][0] = 1
text = json.dumps(manifest)
with open(path, "w") as file:
    file.write(text + "\n" + hashlib.sha256(text.encode()).hexdigest() + "\n")
