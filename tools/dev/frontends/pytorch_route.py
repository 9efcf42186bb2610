# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/guides/FromPyTorch.md: torch.export, torch-mlir's importer, and its two backends."""
import os
import shutil
import subprocess
import sys

import ml_dtypes
import torch
from pytorch_models import MODELS
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter

TOOL = shutil.which("torch-mlir-opt", path=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])


def to_numpy(tensor):
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def build(name, seed=1):
    """A model and its arguments."""
    torch.manual_seed(seed)
    make, arguments = MODELS[name]
    return make().eval(), arguments()


def leaves(results):
    """Arrays of numpy, of whatever the model gives."""
    return [to_numpy(y) for y in torch.utils._pytree.tree_flatten(results)[0]]


def run(model, arguments):
    with torch.no_grad():
        return leaves(model(*[x.clone() for x in arguments]))


def parameter_names(model):
    return set(dict(model.named_parameters()))


def torch_text(take):
    """What an importer says when `take` has given it a graph, in torch's dialect."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    take(importer)
    return str(importer.module)


def lower_text(source, pipeline, text):
    """Writes what the file `source`, in torch's dialect, is for a backend; what went wrong, or nothing."""
    done = subprocess.run([TOOL, "--torchdynamo-export-to-torch-backend-pipeline", f"--torch-backend-to-{pipeline}-backend-pipeline",
                           "--canonicalize", "--cse", source, "-o", text], capture_output=True, text=True)
    return (done.stderr or "failed") if done.returncode else ""


def lower(model, inputs, folder):
    """Texts by kind. What a backend cannot lower has no text."""
    program = torch.export.export(model, inputs).run_decompositions(get_decomposition_table())
    source = os.path.join(folder, "torch.mlir")
    with open(source, "w") as file:
        file.write(torch_text(lambda importer: importer.import_frozen_program(program)))
    texts = {kind: os.path.join(folder, kind + ".mlir") for kind in ("linalg", "tosa")}
    return {kind: text for kind, text in texts.items()
            if not lower_text(source, "linalg-on-tensors" if kind == "linalg" else kind, text)}


def export(name, folder):
    """Texts by kind, inputs and outputs."""
    model, inputs = build(name)
    with torch.no_grad():
        outputs = model(*[x.clone() for x in inputs])
    texts = lower(model, inputs, folder)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return texts, [to_numpy(x) for x in inputs], [to_numpy(y) for y in outputs]
