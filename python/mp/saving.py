# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Program as one file: a zip of texts, and of bound values in the safetensors layout; nothing in it is executed."""
import json
import struct
import zipfile

from .arrays import ELEMENTS, HostArray, host_array
from .errors import Error
from .library import Context
from .program import Program
from .report import Report
from .source import Source

VERSION = 1
# Names of element types in the safetensors layout; others go by MLIR's.
SAFETENSORS = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "f8E4M3FN": "F8_E4M3", "f8E5M2": "F8_E5M2", "i64": "I64",
               "i32": "I32", "i16": "I16", "i8": "I8", "ui8": "U8", "ui16": "U16", "ui32": "U32", "ui64": "U64", "i1": "BOOL"}


def pack_arrays(arrays):
    """name -> HostArray as the bytes of a safetensors file."""
    header, chunks, offset = {}, [], 0
    for name, array in arrays.items():
        content = array.patterns().tobytes()
        header[name] = {"dtype": SAFETENSORS.get(array.element, array.element), "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(content)]}
        chunks.append(content)
        offset += len(content)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(chunks)


def unpack_arrays(content):
    """The reverse; sizes are checked against the length."""
    if len(content) < 8:
        raise Error("the weights are cut short")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise Error("the weights are cut short: their header is longer than the file")
    elements, arrays = {name: element for element, name in SAFETENSORS.items()}, {}
    for name, entry in json.loads(content[8:8 + length]).items():
        element, (begin, end) = elements.get(entry["dtype"], entry["dtype"]), entry["data_offsets"]
        if element not in ELEMENTS or not 0 <= begin <= end <= len(content) - 8 - length:
            raise Error(f"the weights are damaged at '{name}'")
        array = HostArray(0, element, entry["shape"], None)
        if array.bytes != end - begin:
            raise Error(f"the weights are damaged: '{name}' has {end - begin} bytes, expected {array.bytes}")
        import numpy as np
        data = np.frombuffer(content[8 + length + begin:8 + length + end], np.uint8).copy()
        array.address, array.owner = data.ctypes.data, data
        arrays[name] = array
    return arrays


def save(program, path):
    source = program.source
    bound = {str(index): host_array(value, program.inputs[index]["element"]) for index, value in source.bound.items()}
    specs = {"version": VERSION, "name": source.name, "entry": program.entry, "options": {k: v for k, v in program.options.items() if k != "policy"},
             "pipeline": program.pipeline, "target": program.target, "names": {str(index): name for index, name in source.names.items()},
             "results": source.results}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        file.writestr("specs.json", json.dumps(specs, indent=2))
        file.writestr("original.mlir", program.original.print(locations=True))
        file.writestr("program.mlir", program.mlir)
        file.writestr("report.json", json.dumps(program.report.content))
        file.writestr("report.txt", program.report.text)
        file.writestr("report.html", program.report.page)
        file.writestr("weights.safetensors", pack_arrays(bound))


def load(path):
    """A Program that Program.save wrote; needs no framework. It takes flat positional arguments and gives a tuple of results."""
    try:
        file = zipfile.ZipFile(path)
        specs = json.loads(file.read("specs.json"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise Error(f"'{path}' was not written by Program.save: {error}") from None
    if specs.get("version") != VERSION:
        raise Error(f"'{path}' has version {specs.get('version')}, expected {VERSION}")
    with file:
        context = Context()
        original = context.parse(file.read("original.mlir"), "original.mlir", imports=False)
        module = context.parse(file.read("program.mlir"), "program.mlir", imports=False)
        report = Report(file.read("report.txt").decode(), json.loads(file.read("report.json")), file.read("report.html").decode())
        bound = {int(index): array for index, array in unpack_arrays(file.read("weights.safetensors")).items()}
    names = {int(index): name for index, name in specs["names"].items()}
    source = Source("", specs["name"], specs["entry"], imports=False, bound=bound, names=names,
                    results=tuple(map(tuple, specs.get("results", ()))))
    program = Program(source, original, module, report, specs["options"])
    program.target, program.pipeline = specs["target"], specs["pipeline"]
    return program
