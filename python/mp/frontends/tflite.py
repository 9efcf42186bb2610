# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TFLite: tosa-converter-for-tflite."""
import os
import tempfile

from ..source import Source
from .programs import call, find_program


def convert_file(path, text):
    """Writes the TOSA of a .tflite file as text."""
    call(find_program("tosa-converter-for-tflite", "tosa_converter_for_tflite"), path, "--text", "-o", text)


def read_file(path):
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "tosa.mlir")
        convert_file(path, text)
        with open(text, "rb") as file:
            return Source(file.read(), os.path.basename(path))
