# Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/FromONNX.md: torch-mlir's importer and its two backends. ONNX's reference evaluator runs the model."""
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import parser
from onnx.reference import ReferenceEvaluator

TOOLS = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
HEADER = '<ir_version: 9, opset_import: ["" : 20]>\n'

# The text form of ONNX; initialisers are filled in with seeded values.
MODELS = {
    "attention": """g (float[2,8,32] x, float[32,96] w, float[32,32] o, float[32] scale, float[32] bias) => (float[2,8,32] y) {
        qkv = MatMul(x, w)
        q, k, v = Split<axis = 2, num_outputs = 3>(qkv)
        kt = Transpose<perm = [0, 2, 1]>(k)
        s = MatMul(q, kt)
        root = Constant<value_float = 5.656854>()
        t = Div(s, root)
        p = Softmax<axis = -1>(t)
        a = MatMul(p, v)
        b = MatMul(a, o)
        c = Add(x, b)
        y = LayerNormalization<axis = -1, epsilon = 1e-5>(c, scale, bias)
    }""",
    "convolution": """g (float[1,3,16,16] x, float[8,3,3,3] w, float[8] b, float[8] s, float[8] m, float[8] v, float[10,8] f) => (float[1,10] y) {
        c = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]>(x, w, b)
        n = BatchNormalization<epsilon = 1e-5>(c, s, b, m, v)
        r = HardSwish(n)
        p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)
        a = GlobalAveragePool(p)
        e = Flatten(a)
        z = Gemm<transB = 1>(e, f)
        y = Sigmoid(z)
    }""",
    "gelu": """g (float[4,16] x, float[16,32] w, float[32,8] u) => (float[4,8] y, float[4,8] l) {
        h = MatMul(x, w)
        a = Gelu(h)
        z = MatMul(a, u)
        y = LeakyRelu<alpha = 0.1>(z)
        l = LogSoftmax<axis = -1>(z)
    }""",
    "selection": """g (float[4,9] x, int64[3] i, float[9,4] w) => (float[3,4] y, float[4,2] v, float[4,9] c) {
        g = Gather<axis = 0>(x, i)
        y = MatMul(g, w)
        k = Constant<value_ints = [2]>()
        v, n = TopK<axis = -1>(x, k)
        one = Constant<value_int = 1>()
        c = CumSum(x, one)
    }""",
}


def export(name, folder):
    """Texts by kind, inputs and outputs. What a backend cannot lower has no text."""
    model = parser.parse_model(HEADER + MODELS[name])
    random = np.random.default_rng(1)
    inputs = []
    for argument in model.graph.input:
        shape = [dim.dim_value for dim in argument.type.tensor_type.shape.dim]
        if argument.type.tensor_type.elem_type == onnx.TensorProto.INT64:
            inputs.append(random.integers(0, 4, shape))
        else: # at least 0.1 where it is a variance
            scale = 1 if argument.name == "x" else shape[0] ** -0.5
            inputs.append((np.abs if argument.name == "v" else np.asarray)(random.normal(size=shape) * scale + 0.1).astype(np.float32))
    outputs = ReferenceEvaluator(model).run(None, {a.name: x for a, x in zip(model.graph.input, inputs)})
    onnx.checker.check_model(model)
    source, imported = os.path.join(folder, "model.onnx"), os.path.join(folder, "torch.mlir")
    onnx.save(model, source)
    subprocess.run([shutil.which("torch-mlir-import-onnx", path=TOOLS), source, "-o", imported], check=True)
    texts = {}
    for kind, pipeline in (("linalg", "linalg-on-tensors"), ("tosa", "tosa")):
        text = os.path.join(folder, kind + ".mlir")
        lowered = subprocess.run([shutil.which("torch-mlir-opt", path=TOOLS), "--torch-onnx-to-torch-backend-pipeline",
                                  f"--torch-backend-to-{pipeline}-backend-pipeline", imported, "-o", text], capture_output=True)
        if lowered.returncode == 0:
            texts[kind] = text
    return texts, inputs, outputs
