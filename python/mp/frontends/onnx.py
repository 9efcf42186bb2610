# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX: torch-mlir's importer and its lowering to linalg."""
import os
import tempfile

from ..source import Source
from .programs import call, find_program, require

# Ops that ONNX defines as functions of others, and that torch-mlir does not know.
FUNCTIONS = [("", name) for name in ("Attention", "GroupNormalization", "RMSNormalization", "RotaryEmbedding")]


def inline_functions(model):
    """The model with those ops replaced by what they stand for."""
    from onnx import inliner
    return inliner.inline_selected_functions(model, FUNCTIONS, inline_schema_functions=True)


def import_model(model, folder):
    """Path of the model in torch's dialect."""
    import onnx
    source, imported = os.path.join(folder, "model.onnx"), os.path.join(folder, "torch.mlir")
    onnx.save(inline_functions(model), source)
    call(find_program("torch-mlir-import-onnx", "torch_mlir"), source, "-o", imported)
    return imported


def lowering(backend="linalg-on-tensors"):
    """The command that lowers it, but for files."""
    return [find_program("torch-mlir-opt", "torch_mlir"), "--torch-onnx-to-torch-backend-pipeline",
            f"--torch-backend-to-{backend}-backend-pipeline", "--mlir-print-debuginfo"]


def read_file(path):
    require("an .onnx file", "onnx", "torch_mlir")
    import onnx
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "linalg.mlir")
        call(*lowering(), import_model(onnx.load(path), folder), "-o", text)
        with open(text, "rb") as file:
            return Source(file.read(), os.path.basename(path))
