# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files that mp-run refuses, each for a reason of its own, to a folder."""
import hashlib
import json
import os
import struct
import sys

folder = sys.argv[1]


def write(name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def npy(name, header, version=1, length=None, data=b""):
    text = header.encode()
    length = len(text) if length is None else length
    write(name + ".npy", b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", length) + text + data)


def safetensors(name, header):
    text = json.dumps(header).encode()
    write(name + ".safetensors", struct.pack("<Q", len(text)) + text + bytes(8))


def state(name, text):
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    write(name + "/step-000000001.json", (text + "\n" + hashlib.sha256(text.encode()).hexdigest() + "\n").encode())


def main():
    for name in ("", "empty"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    known = "'descr': '<f4', 'fortran_order': False, "
    write("begin.npy", b"\x93NUMPY\x01")
    npy("cut", "{}", length=900)
    npy("version", "{}", version=9)
    npy("no-order", "{'descr': '<f4', 'shape': (4,), }")
    npy("complex", "{'descr': '<c8', 'fortran_order': False, 'shape': (4,), }")
    npy("list", "{" + known + "'shape': [4], }")
    npy("open", "{" + known + "'shape': (4, }")
    npy("word", "{" + known + "'shape': (4, x), }")
    npy("rows", "{" + known + "'shape': (8, 4), }", data=bytes(128))
    write("short.safetensors", b"\1\2")
    safetensors("no-type", {"w": {"shape": [2], "data_offsets": [0, 8]}})
    safetensors("type", {"w": {"dtype": "Q7", "shape": [2], "data_offsets": [0, 8]}})
    safetensors("size", {"w": {"dtype": "F32", "shape": ["2"], "data_offsets": [0, 8]}})
    entry = '"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}'
    text = ("{" + entry + ", " + entry + "}").encode()
    write("twice.safetensors", struct.pack("<Q", len(text)) + text + bytes(8))
    state("array", "[1]")
    state("other", "{}")
    write("map.json", b"[1]")
    write("mark.mlir", b"\xef\xbb\xbffunc.func private @f()")
    write("wide.mlir", b"\xff\xfef\0")
    write("nul.mlir", b"func.func private @f()\n\0")


main()
