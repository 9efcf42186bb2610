# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX: torch-mlir's importer and its lowering to linalg. Arguments keep their names; ops have those of their nodes, or the paths
of PyTorch's modules where its exporter wrote them."""
import ast
import os
import tempfile

from ..errors import Error
from ..source import Source
from .programs import call, find_program, require

# Ops that ONNX defines as functions of others, and that torch-mlir does not know.
FUNCTIONS = [("", name) for name in ("Attention", "GroupNormalization", "RMSNormalization", "RotaryEmbedding")]


def inline_functions(model):
    """The model with those ops replaced by what they stand for."""
    from onnx import inliner
    return inliner.inline_selected_functions(model, FUNCTIONS, inline_schema_functions=True)


def path_of(node):
    """"l.0.attention.linear" of scopes ["", "l.0", "l.0.attention", "linear"] as torch.onnx.export notes them; "l.0/MatMul" of "/l.0/MatMul"; where there is
    no name, that of its result."""
    noted = [entry.value for entry in node.metadata_props if entry.key == "pkg.torch.onnx.name_scopes"]
    try:
        scopes = [scope for scope in ast.literal_eval(noted[0])[-2:] if scope] if noted else []
    except (ValueError, SyntaxError, IndexError, TypeError):
        scopes = []
    return ".".join(map(str, scopes)) or node.name.strip("/") or (node.output[0] if node.output else node.op_type)


def name_nodes(graph):
    """Gives every node its path as its name, those of branches and loops, too."""
    for node in graph.node:
        node.name = path_of(node)
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                name_nodes(inner)


def import_model(model, folder):
    """Path of the model in torch's dialect, with the names of nodes and arguments as locations."""
    import onnx
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras import onnx_importer
    from torch_mlir.ir import Context
    from torch_mlir.tools.import_onnx import __main__ as tool
    source, imported = os.path.join(folder, "model.onnx"), os.path.join(folder, "torch.mlir")
    model = inline_functions(model)
    name_nodes(model.graph)
    onnx.save(model, source)
    try:
        info = onnx_importer.ModelInfo(tool.load_onnx_model(tool.parse_arguments([source])), config=onnx_importer.Config())
        context = Context()
        torch_dialect.register_dialect(context)
        module = info.create_module(context=context).operation
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
        module.verify()
    except Exception as error:  # of the checker, of shape inference, of the importer
        raise Error(f"torch-mlir does not import the model: {type(error).__name__}: {error}") from None
    with open(imported, "w", encoding="utf-8") as file:
        file.write(module.get_asm(enable_debug_info=True))
    return imported


def lowering(backend="linalg-on-tensors"):
    """The command that lowers it, but for files."""
    return [find_program("torch-mlir-opt", "torch_mlir"), "--torch-onnx-to-torch-backend-pipeline",
            f"--torch-backend-to-{backend}-backend-pipeline", "--mlir-print-debuginfo"]


def read_file(path):
    require("an .onnx file", "onnx", "torch_mlir")
    import onnx
    try:
        model = onnx.load(path)
    except Exception as error:  # of protobuf
        raise Error(f"'{path}' is no ONNX model: {error}") from None
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "linalg.mlir")
        try:
            call(*lowering(), import_model(model, folder), "-o", text)
        except Error as error:
            raise Error(f"'{path}': {error}") from None
        with open(text, "rb") as file:
            return Source(file.read(), os.path.basename(path))
