# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/guides/FromONNX.md: torch-mlir's importer and its two backends, and IREE's. Models of ONNX's text form are run by its
reference evaluator; where torch and onnxscript are installed, those of pytorch_models.py follow, exported and run by torch."""
import importlib.util
import os
import shutil
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
from mp.frontends import onnx as route
from onnx import parser
from onnx.reference import ReferenceEvaluator

TOOLS = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
HEADER = '<ir_version: 10, opset_import: ["" : 23]>\n'
TYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16, onnx.TensorProto.BFLOAT16: ml_dtypes.bfloat16}

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
    "selection": """g (float[4,9] x, int64[3] i, float[9,4] w) => (float[3,4] y, float[4,2] v, float[4,9] c, int64[4] a, int64[9] b) {
        g = Gather<axis = 0>(x, i)
        y = MatMul(g, w)
        k = Constant<value_ints = [2]>()
        v, n = TopK<axis = -1>(x, k)
        one = Constant<value_int = 1>()
        c = CumSum(x, one)
        a = ArgMax<axis = 1, keepdims = 0>(x)
        b = ArgMin<axis = 0, keepdims = 0>(x)
    }""",
    "functions": """g (float[2,8,32] x, float[32,96] w, float[32,32] o, float[8] scale, float[8] bias) => (float[2,8,32] y) {
        n = GroupNormalization<num_groups = 2, epsilon = 1e-5>(x, scale, bias)
        qkv = MatMul(n, w)
        q, k, v = Split<axis = 2, num_outputs = 3>(qkv)
        a = Attention<q_num_heads = 4, kv_num_heads = 4, is_causal = 1>(q, k, v)
        b = MatMul(a, o)
        y = Add(x, b)
    }""",
    "quantised": """g (float[1,3,8,8] x, float sx, int8 zx, int8[4,3,3,3] w, float[4] sw, int8[4] zw, int32[4] b, float[4] sb, int32[4] zb) => (float[1,4,6,6] y) {
        q = QuantizeLinear(x, sx, zx)
        d = DequantizeLinear(q, sx, zx)
        f = DequantizeLinear<axis = 0>(w, sw, zw)
        e = DequantizeLinear<axis = 0>(b, sb, zb)
        c = Conv(d, f, e)
        y = Relu(c)
    }""",
    "recurrent": """g (float[5,2,8] x, float[2,64,8] w, float[2,64,16] r, float[1,48,32] u, float[1,48,16] s) => (float[5,1,2,16] y, float[1,2,16] h) {
        l, a, c = LSTM<hidden_size = 16, direction = "bidirectional">(x, w, r)
        t = Transpose<perm = [0, 2, 1, 3]>(l)
        shape = Constant<value_ints = [5, 2, 32]>()
        z = Reshape(t, shape)
        y, h = GRU<hidden_size = 16, linear_before_reset = 1>(z, u, s)
    }""",
    "branches": """g (float[4,16] x, float[16,16] w, bool c) => (float[4,16] y, float[4,16] l) {
        n = Constant<value_int = 3>()
        t = Constant<value = bool {1}>()
        l = Loop(n, t, x) <body = b (int64 i, bool ci, float[4,16] h) => (bool co, float[4,16] ho) { co = Identity(ci)
            m = MatMul(h, w)
            ho = Tanh(m) }>
        y = If(c) <then_branch = p () => (float[4,16] a) { a = MatMul(l, w) }, else_branch = e () => (float[4,16] f) {
            f = Softmax<axis = -1>(l) }>
    }""",
    "spectrum": """g (float[1,64,1] x, float[16] v, float[9,4] w) => (float[1,7,4] y) {
        st = Constant<value_int = 8>()
        fl = Constant<value_int = 16>()
        z = STFT<onesided = 1>(x, st, v, fl)
        sq = Mul(z, z)
        ax = Constant<value_ints = [-1]>()
        p = ReduceSum<keepdims = 0>(sq, ax)
        y = MatMul(p, w)
    }""",
    "scatters": """g (float[6,8] x, int64[3] i, float[3,8] u, float[8,4] w) => (float[6,4] y, float[6,8] e) {
        ax = Constant<value_ints = [1]>()
        j = Unsqueeze(i, ax)
        a = ScatterND<reduction = "add">(x, j, u)
        y = MatMul(a, w)
        e = ScatterND(x, j, u)
    }""",
    "half": """g (float16[4,16] x, bfloat16[16,16] w) => (float16[4,16] y) {
        h = Cast<to = 1>(x)
        f = Cast<to = 1>(w)
        m = MatMul(h, f)
        s = Softmax<axis = -1>(m)
        y = Cast<to = 10>(s)
    }""",
}

PYTORCH = "torch_"
# Known answers that differ (docs/guides/FromONNX.md).
NOT_TAKEN = {"moe": "torch-mlir sums too early in an Einsum of three operands", "losses": "the exporter drops the smoothing of labels",
             "autocast": "the exporter mixes types in a norm", "half": "rounded elsewhere than in torch",
             "fakequant": "the exporter has no amax of a whole tensor"}
WRONG_IN_TOSA = {"unet"}  # nearest neighbours of Resize
if importlib.util.find_spec("torch") and importlib.util.find_spec("onnxscript"):
    import pytorch_models
    MODELS.update({PYTORCH + name: name for name in pytorch_models.MODELS if name not in NOT_TAKEN})


def from_pytorch(name):
    """The model, inputs and outputs of torch."""
    import torch
    from pytorch_route import build, to_numpy
    module, inputs = build(name)
    with torch.no_grad():
        outputs = module(*[x.clone() for x in inputs])
    model = torch.onnx.export(module, inputs, dynamo=True, verbose=False).model_proto
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return model, [to_numpy(x) for x in inputs], [to_numpy(y) for y in outputs]


def from_text(name):
    """The model, seeded inputs and outputs of ONNX's evaluator."""
    model = parser.parse_model(HEADER + MODELS[name])
    random = np.random.default_rng(1)
    inputs = [value(argument, random) for argument in model.graph.input]
    outputs = ReferenceEvaluator(model).run(None, {a.name: x for a, x in zip(model.graph.input, inputs)})
    onnx.checker.check_model(model)
    return model, inputs, outputs


def value(argument, random):
    """Seeded values: variances and scales are positive, indices below 4 and different."""
    shape = [dim.dim_value for dim in argument.type.tensor_type.shape.dim]
    kind = argument.type.tensor_type.elem_type
    if kind == onnx.TensorProto.INT64:
        return random.permutation(4)[:shape[0]]
    if kind == onnx.TensorProto.BOOL:
        return np.ones(shape, bool)
    if kind in (onnx.TensorProto.INT8, onnx.TensorProto.INT32):
        zero = argument.name == "zb" or argument.name == "zw"
        return (0 * random.integers(-90, 90, shape) if zero else random.integers(-90, 90, shape)).astype(np.int8 if kind == onnx.TensorProto.INT8 else np.int32)
    if argument.name in ("sx", "sw", "sb"):
        return np.asarray(random.uniform(0.01, 0.03, shape), np.float32)
    scale = 1 if argument.name == "x" or not shape else shape[-1 if len(shape) == 3 else 0] ** -0.5
    numbers = random.normal(size=shape) * scale + 0.1
    return (np.abs(numbers) if argument.name == "v" else numbers).astype(TYPES[kind])


def export(name, folder):
    """Texts by kind, inputs and outputs. What a backend cannot lower has no text."""
    model, inputs, outputs = from_pytorch(MODELS[name]) if name.startswith(PYTORCH) else from_text(name)
    imported = route.import_model(model, folder)
    commands = {"linalg": route.lowering(), "tosa": route.lowering("tosa")}
    if compiler := shutil.which("iree-compile", path=TOOLS):
        commands["iree"] = [compiler, "--iree-input-type=onnx", "--compile-to=input", "--iree-torch-emit-async-entry-points=false"]
    if name.removeprefix(PYTORCH) in WRONG_IN_TOSA:
        del commands["tosa"]
    texts = {}
    for kind, command in commands.items():
        text = os.path.join(folder, kind + ".mlir")
        if subprocess.run([*command, imported, "-o", text], capture_output=True).returncode == 0:
            texts[kind] = text
    return texts, inputs, outputs
