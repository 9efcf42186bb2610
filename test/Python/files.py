# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on files of ONNX and TFLite: names of layers and arguments, layers kept by name, results, refusals."""
import importlib.util
import os
import tempfile
import unittest

import numpy as np

import mp

HERE = os.path.dirname(os.path.abspath(__file__))
HAS_ONNX = importlib.util.find_spec("onnx") and importlib.util.find_spec("torch_mlir")
HAS_TFLITE = importlib.util.find_spec("tosa_converter_for_tflite")
GRAPH = """<ir_version: 10, opset_import: ["" : 20]>
g (float[4,8] tokens, float[8,16] up, float[16,2] down) => (float[4,2] y) {
  h = MatMul(tokens, up)
  a = Relu(h)
  logits = MatMul(a, down)
  y = Softmax<axis = -1>(logits)
}"""


def contractions(program):
    return {op["name"]: op["compute"] for op in program.report.ops if op["class"] == "T"}


@unittest.skipUnless(HAS_ONNX, "needs onnx and torch-mlir")
class Onnx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import onnx
        cls.folder = tempfile.TemporaryDirectory()
        model = onnx.parser.parse_model(GRAPH)
        model.graph.node[0].name = "/encoder/up/MatMul"  # as torch's older exporter names nodes
        noted = model.graph.node[2].metadata_props.add()
        noted.key, noted.value = "pkg.torch.onnx.name_scopes", "['', 'head', 'head.down', 'linear_1']"
        cls.path = os.path.join(cls.folder.name, "m.onnx")
        onnx.save(model, cls.path)
        cls.program = mp.convert(cls.path, format="bf16")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_arguments_and_layers_have_their_names(self):
        self.assertEqual([spec["name"] for spec in self.program.inputs], ["tokens", "up", "down"])
        self.assertEqual(contractions(self.program), {"encoder/up/MatMul": "bf16", "head.down.linear_1": "bf16"})

    def test_layers_are_kept_and_explained_by_name(self):
        kept = mp.convert(self.path, format="bf16", keep=["head.down"])
        self.assertEqual(contractions(kept), {"encoder/up/MatMul": "bf16", "head.down.linear_1": "f32"})
        self.assertIn("matmul", kept.explain("encoder"))

    def test_results(self):
        random = np.random.default_rng(0)
        tokens, up, down = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 8), (8, 16), (16, 2)))
        logits = np.maximum(tokens @ up, 0) @ down
        expected = np.exp(logits - logits.max(-1, keepdims=True))
        expected /= expected.sum(-1, keepdims=True)
        self.assertLess(np.abs(self.program(tokens, up, down) - expected).max(), 0.05)
        self.assertLess(np.abs(mp.convert(self.path, keep=["*"])(tokens, up, down) - expected).max(), 1e-5)

    def test_a_file_that_is_no_model_is_named(self):
        path = os.path.join(self.folder.name, "wrong.onnx")
        with open(path, "wb") as file:
            file.write(b"not a protobuf")
        with self.assertRaisesRegex(mp.Error, "wrong.onnx'"):
            mp.convert(path)


@unittest.skipUnless(HAS_TFLITE, "needs tosa-converter-for-tflite")
class TFLite(unittest.TestCase):
    def test_arguments_and_layers_have_their_names(self):
        path = os.path.join(HERE, "Inputs/separable.tflite")
        program = mp.convert(path, format="bf16")
        self.assertEqual([spec["name"] for spec in program.inputs], ["keras_tensor_16"])
        names = list(contractions(program))
        self.assertEqual(len(names), 4)
        self.assertTrue(all(name.startswith("sequential_1/") for name in names), names)
        dense = next(name for name in names if "dense_4" in name)
        self.assertEqual([name for name, form in contractions(mp.convert(path, keep=[dense])).items() if form == "f32"], [dense])
        self.assertEqual(program(np.ones((1, 16, 16, 3), np.float32)).shape, (1, 10))

    def test_a_file_that_is_no_model_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wrong.tflite")
            with open(path, "wb") as file:
                file.write(b"not a flatbuffer")
            with self.assertRaisesRegex(mp.Error, "tosa-converter-for-tflite"):
                mp.convert(path)


if __name__ == "__main__":
    unittest.main(verbosity=1)
