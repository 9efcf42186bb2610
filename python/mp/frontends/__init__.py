# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The routes from a model to text that the compiler reads; tools/dev/frontends and mp.convert share them."""
import os

from ..arrays import framework_of
from ..errors import Error
from ..source import Source

# Files: ending -> module here, and its function.
FILES = {".tflite": "tflite", ".onnx": "onnx", ".pt2": "pytorch"}
TEXTS = (".mlir", ".mlirbc", ".bc")


def read_model(model, args=None, kwargs=None, dynamic=None):
    """A Source of anything that mp.convert takes."""
    if isinstance(model, os.PathLike) or (isinstance(model, str) and "\n" not in model and not model.lstrip().startswith(("module", "func"))):
        return read_file(os.fspath(model))
    if isinstance(model, (str, bytes)):
        return Source(model)
    if framework_of(model) == "torch" or is_torch_module(model) or (callable(model) and takes_tensors(args, kwargs)):
        from . import pytorch
        return pytorch.read(model, args, kwargs or {}, dynamic)
    if callable(model):
        from . import jax
        return jax.read(model, args, kwargs or {})
    raise Error(f"cannot convert a {type(model).__name__}; expected a torch module, a JAX function, MLIR text, or a path")


def is_torch_module(model):
    """Whether one of its classes is torch.nn.Module, without importing torch."""
    return any(base.__module__.startswith("torch.") and base.__name__ in ("Module", "ExportedProgram") for base in type(model).__mro__)


def takes_tensors(*values):
    """Whether any of them is a tensor of torch, or a list or dict with one."""
    return any(framework_of(value) == "torch" or (isinstance(value, (list, tuple)) and takes_tensors(*value))
               or (isinstance(value, dict) and takes_tensors(*value.values())) for value in values)


def read_file(path):
    ending = os.path.splitext(path)[1].lower()
    if not os.path.exists(path):
        raise Error(f"'{path}' does not exist")
    if ending in FILES:
        import importlib
        return importlib.import_module("." + FILES[ending], __package__).read_file(path)
    if ending not in TEXTS:
        raise Error(f"'{path}': the ending '{ending}' is none of {', '.join((*TEXTS, *FILES))}")
    with open(path, "rb") as file:
        return Source(file.read(), path)
