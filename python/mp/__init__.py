# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mp: mixed precision for models of PyTorch, JAX, TFLite, ONNX and MLIR.

    program = mp.convert(model, (example,), format="bf16", target="sm_90a")
    print(program.report)                   # what was decided
    print(program.explain("blocks.0.up"))   # and why
    print(program.compare("f64"))           # how far the results are from f64
    y = program(x)                          # numpy, torch or JAX arrays

docs/guides/Python.md is the guide. Importing mp imports neither numpy nor a framework.
"""
from .convert import convert
from .errors import Diagnostic, Error, MissingPackage
from .library import describe, version
from .saving import load
from .training import train_step
from .xla import jit

__version__ = "0.1.0"
__all__ = ["Diagnostic", "Error", "MissingPackage", "convert", "describe", "jit", "load", "train_step", "version"]
