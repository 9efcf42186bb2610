# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TFLite: tosa-converter-for-tflite. Ops have the names of the layers that the file was made from."""
import os
import re
import tempfile

from ..source import Source
from .programs import call, find_program


def name_arguments(text):
    """Arguments by the names of the file's signature; the converter gives them all the function's."""
    return re.sub(r'(\{tf_saved_model\.index_path = \["([^"]+)"\]\} )loc\((?:"[^"]*"\(#loc\d*\)|#loc\d*)\)', r'\1loc("\2")', text)


def convert_file(path, text):
    """Writes the TOSA of a .tflite file as text."""
    call(find_program("tosa-converter-for-tflite", "tosa_converter_for_tflite"), path, "--text", "--emit-debug-info", "-o", text)
    with open(text, encoding="utf-8", errors="surrogateescape") as file:
        named = name_arguments(file.read())
    with open(text, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(named)


def read_file(path):
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "tosa.mlir")
        convert_file(path, text)
        with open(text, "rb") as file:
            return Source(file.read(), os.path.basename(path))
