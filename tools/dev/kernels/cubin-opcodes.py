#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the machine instructions of each kernel in a cubin, by opcode; needs no disassembler.

usage: cubin-opcodes.py FILE.cubin

Since sm_70 an instruction is 16 bytes whose low 12 bits are the opcode. Those that tests ask for have
names here, as ptxas 13 encodes them; the others are counted together. One line for each kernel.
"""
import collections
import struct
import sys

NAMES = {
    0x23C: "HMMA", 0x237: "IMMA", 0x27A: "QMMA", 0x83B: "LDSM", 0xFAE: "LDGSTS", 0xB1D: "BAR",
    0x308: "MUFU", 0xF89: "SHFL", 0x983: "LDL", 0x387: "STL", 0x9F0: "HGMMA", 0xDF0: "HGMMA",
    0x9F3: "QGMMA", 0x5B4: "UTMALDG",
}


def sections(data):
    """Name and content of each section of a 64-bit little-endian ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"{sys.argv[1]}: expected a cubin, found a file that begins with {data[:6]!r}")
    start, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    table = headers[names]
    for name, _, _, _, offset, length in headers:
        at = table[4] + name
        yield data[at:data.index(b"\0", at)].decode(), data[offset:offset + length]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for name, content in sections(data):
        if not name.startswith(".text."):
            continue
        opcodes = collections.Counter(struct.unpack_from("<H", content, at)[0] & 0xFFF for at in range(0, len(content), 16))
        named = collections.Counter()
        for opcode, count in opcodes.items():
            named[NAMES.get(opcode, "other")] += count
        print(name.removeprefix(".text.") + ":", ", ".join(f"{key} {named[key]}" for key in sorted(named)))


if __name__ == "__main__":
    main()
