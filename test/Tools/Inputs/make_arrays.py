# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the array files of mp-run-inputs.mlir into the folder given."""
import json, os, struct, sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def npy(name, descr, shape, data, fortran=False, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    prefix = 10 if version == 1 else 12
    header += " " * (63 - (prefix + len(header)) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data)


def safetensors(name, header, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(header + data)


npy("c.npy", "<f4", (2, 3), struct.pack("<6f", 1, 2, 3, 4, 5, 6))
npy("fortran.npy", ">f4", (2, 3), struct.pack(">6f", 1, 4, 2, 5, 3, 6), fortran=True, version=3)
npy("bits.npy", "<u2", (4,), struct.pack("<4H", 0x3F80, 0x7FC1, 0x0001, 0xFF80))
npy("hostile.npy", "<f4", (1 << 60,), b"")
text = json.dumps({"layer.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
safetensors("w.safetensors", struct.pack("<Q", len(text)) + text, struct.pack("<2f", 3, 4))
safetensors("hostile.safetensors", struct.pack("<Q", (1 << 63) - 1), b"{}")
