# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of other projects that the routes run, and packages that have them."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

from ..errors import Error, MissingPackage

# Versions that the routes were tried with.
PACKAGES = {"torch": "torch==2.15.0", "torch_mlir": "torch-mlir==20261001", "jax": "jax==0.10.2", "onnx": "onnx",
            "iree.compiler": "iree-base-compiler==3.13.0", "tosa_converter_for_tflite": "tosa-converter-for-tflite==2026.2.0"}


def require(what, *modules):
    """Errors with the command that installs what is missing; imports nothing."""
    missing = [module for module in modules if not importlib.util.find_spec(module.partition(".")[0])]
    if missing:
        raise MissingPackage(what, [PACKAGES[module] for module in missing])


def find_program(name, module=None):
    """Its path, beside the interpreter first; an error names the package that has it."""
    found = shutil.which(name, path=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""))
    if not found and module:
        raise MissingPackage(f"{name}, which the route runs,", [PACKAGES[module]])
    return found


def call(*command):
    """Runs a program; what it says is the error where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")
    if done.returncode:
        if done.returncode < 0 or "\nStack dump:\n" in done.stderr:
            raise Error(f"{os.path.basename(str(command[0]))} crashed, which is a defect of its project on this model; "
                        "torch.onnx.export(..., dynamo=True) and mp.convert of its file is another route, and "
                        "torch.compile(model, backend='mp') runs in torch what cannot be lowered")
        said = done.stderr.partition(": note: see current operation")[0].rpartition("\n") if "error: " in done.stderr else ("", "", "")
        lines = [line for line in (said[0] or done.stderr).strip().splitlines() if line.strip()]
        raise Error(f"{os.path.basename(str(command[0]))} failed: " + ("\n".join(lines[:8]) or f"exit status {done.returncode}"))


def transform(text, command, suffix=".mlir"):
    """The output of a program that reads a file and writes -o."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in" + suffix), os.path.join(folder, "out.mlir")
        with open(source, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        call(*command, source, "-o", result)
        with open(result, "rb") as file:
            return file.read()
