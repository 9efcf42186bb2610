# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on MLIR inputs, with numpy alone. Run as `python package.py`; each test is a claim."""
import copy
import ctypes
import gc
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy as np

import mp
from mp import library
from mp.arrays import HostArray, host_array
from mp.program import convert_source
from mp.source import Source

MODEL = """
func.func @main(%x: tensor<4x8xf32> loc("x"), %w: tensor<8x8xf32> {mp.role = "parameter"} loc("up.weight"), %v: tensor<8x2xf32> loc("down.weight")) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x8xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%i0 : tensor<4x8xf32>) -> tensor<4x8xf32> loc("blocks.0.up"("model.py":3:0))
  %e1 = tensor.empty() : tensor<4x2xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg.matmul ins(%0, %v : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i1 : tensor<4x2xf32>) -> tensor<4x2xf32> loc("blocks.1.down"("model.py":4:0))
  return %1 : tensor<4x2xf32>
}
"""


def inputs(seed=0):
    random = np.random.default_rng(seed)
    return tuple(random.normal(size=shape).astype(np.float32) for shape in ((4, 8), (8, 8), (8, 2)))


def rounded(x):
    """x in bf16, by integer arithmetic: to nearest, ties to even."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


class Conversion(unittest.TestCase):
    def test_result_is_that_of_rounded_operands(self):
        x, w, v = inputs()
        y = mp.convert(MODEL, format="bf16")(x, w, v)
        expected = rounded((rounded(x).astype(np.float64) @ rounded(w)).astype(np.float32)).astype(np.float64) @ rounded(v)
        self.assertLess(np.abs(y - expected).max() / np.abs(expected).max(), 1e-6)
        self.assertEqual(y.dtype, np.float32)
        exact = x.astype(np.float64) @ w @ v
        self.assertGreater(np.abs(y - exact).max(), 1e-4)

    def test_report_names_layers(self):
        program = mp.convert(MODEL, format="f16", target="sm_90")
        self.assertEqual((program.report.contractions, program.report.narrowed), (2, 2))
        self.assertIn("2 of 2 contractions f16", str(program.report))
        self.assertEqual([op["op"] for op in program.report.ops_of("blocks.1")], ["linalg.matmul"])
        self.assertEqual(program.report.ops_of("blocks.1.do"), [])
        self.assertIn("blocks.0.up", program.report.layers())
        self.assertIn("<iframe", program.report._repr_html_())
        self.assertEqual([spec["name"] for spec in program.inputs], ["x", "up.weight", "down.weight"])

    def test_explains_a_layer_and_a_line(self):
        program = mp.convert(MODEL)
        self.assertIn("computes in bf16", program.explain("blocks.0"))
        self.assertIn("model.py:4", program.explain("model.py:4"))
        with self.assertRaisesRegex(mp.Error, "nearest is"):
            program.explain("blocks.7")

    def test_keeps_a_layer_wide_by_its_name(self):
        program = mp.convert(MODEL, keep=["blocks.0"])
        self.assertEqual(program.report.narrowed, 1)
        self.assertEqual(mp.convert(MODEL, keep="blocks.?.up").report.narrowed, 1)
        self.assertEqual(mp.convert(MODEL, keep=["blocks.*"]).report.narrowed, 0)
        self.assertIn("keep blocks.0", program.explain("blocks.0"))

    def test_policy_as_dict(self):
        policy = {"rules": [{"select": {"name": "down"}, "precision": "wide"}]}
        self.assertEqual(mp.convert(MODEL, policy=policy).report.narrowed, 1)

    def test_results_have_names(self):
        named = MODEL.replace("-> tensor<4x2xf32> {\n", '-> (tensor<4x2xf32> {ml_program.identifier = "logits"}) {\n', 1)
        rule = {"rules": [{"select": {"result": "^logits$"}, "precision": "narrow"}]}
        program = mp.convert(named, format="bf16", policy=rule, inputs=inputs())
        self.assertEqual((program.outputs[0]["name"], program.outputs[0]["element"]), ("logits", "bf16"))
        self.assertRegex(str(program.compare("f64")), "^logits: ")

    def test_changes_since_an_earlier_report(self):
        done = mp.convert(MODEL, format="f16")
        self.assertEqual(done.changes(done), "0 of 7 ops are decided otherwise")
        found = done.changes(mp.convert(MODEL, format="bf16").report)
        self.assertRegex(found, r"^2 of 7 ops are decided otherwise\n +format +bf16 -> f16[\s\S]*blocks.1.down")

    def test_check_holds_and_is_lost_by_a_change(self):
        program = mp.convert(MODEL)
        self.assertTrue(program.check())
        program.original = program.module.context.parse(MODEL.replace("constant 0.0", "constant 1.0"))
        found = program.check()
        self.assertFalse(found)
        self.assertTrue(found.diagnostics)

    def test_compare_with_f64(self):
        close = mp.convert(MODEL, inputs=inputs(), format="f16").compare("f64").relative
        coarse = mp.convert(MODEL, inputs=inputs(), format="bf16").compare("f64").relative
        self.assertLess(close, 2e-3)
        self.assertGreater(coarse, close)
        wide = mp.convert(MODEL, keep=["blocks.*"])
        self.assertLess(wide.compare(inputs=inputs()).relative, 1e-6)
        with self.assertRaisesRegex(mp.Error, "compare needs inputs"):
            wide.compare()

    def test_emulator_agrees_with_the_host(self):
        program = mp.convert(MODEL, target="sm_80")
        moved = program.to("sm_80")
        self.assertEqual(moved.device, "emulator")
        x, w, v = inputs()
        self.assertLess(np.abs(moved(x, w, v) - program(x, w, v)).max(), 2e-2)

    def test_variables_stay_between_calls(self):
        text = """
ml_program.global private mutable @counts(dense<[3, 5]> : tensor<2xi64>) : tensor<2xi64>
func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %counts = ml_program.global_load @counts : tensor<2xi64>
  %next = arith.addi %counts, %x : tensor<2xi64>
  ml_program.global_store @counts = %next : tensor<2xi64>
  return %next : tensor<2xi64>
}
"""
        for program in (mp.convert(text), mp.convert(text).to("sm_80")):
            self.assertEqual([program(np.array([1, 2])).tolist() for _ in range(2)], [[4, 7], [5, 9]])

    def test_arrays_of_the_device_stay_there(self):
        program = mp.convert(MODEL, target="sm_80").to("sm_80")
        x, w, v = inputs()
        there = [program.upload(a) for a in (x, w, v)]
        addresses = [a.address for a in there]
        y = program(*there)
        self.assertEqual((type(y).__name__, y.shape, y.element), ("DeviceArray", (4, 2), "f32"))
        self.assertNotIn(y.address, addresses)
        np.testing.assert_array_equal(y.numpy(), program(x, w, v))
        np.testing.assert_array_equal(there[0].numpy(), x)
        np.testing.assert_array_equal(program(x, there[1], v).numpy(), y.numpy())
        with self.assertRaisesRegex(mp.Error, "element type is f16, expected f32"):
            program(program.upload(x.astype(np.float16)), w, v)
        with self.assertRaisesRegex(mp.Error, "nothing to upload"):
            mp.convert(MODEL).upload(x)

    def test_memory_of_a_device_is_borrowed_by_dlpack(self):
        """Arrays of other packages are read where they lie, and results lent: the emulated driver copies nothing up."""
        class Foreign:
            def __init__(self, array, **change):
                self.array, self.change = array, change

            def __dlpack_device__(self):
                return self.change.get("device", self.array.__dlpack_device__())

            def __dlpack__(self):
                capsule = self.array.__dlpack__()
                tensor = dlpack.DLManagedTensor.from_address(dlpack._pointer(capsule, b"dltensor")).tensor
                for name, field in self.change.items():
                    if name == "strides":
                        for place, stride in enumerate(field):
                            tensor.strides[place] = stride
                    elif name != "device":
                        setattr(tensor, name, field)
                return capsule

        from mp import devices, dlpack
        program = mp.convert(MODEL, target="sm_80").to("sm_80")
        x, w, v = inputs()
        there = [program.upload(a) for a in (x, w, v)]
        expected = program(*there).numpy()
        for change in ({}, {"strides": dlpack.strides_of(there[0].shape)}):
            y = program(Foreign(there[0], **change), Foreign(there[1]), Foreign(there[2]))
            np.testing.assert_array_equal(y.numpy(), expected)
        borrowed = devices.as_tensor(Foreign(there[0]), "f32", "emulator", "x")[0]
        self.assertEqual((borrowed.data, borrowed.place), (there[0].address, devices.ON_DEVICE))
        self.assertEqual(devices.as_tensor(Foreign(y), "f32", "emulator", "y")[0].data, y.address)
        for change, error in (({"strides": [1, 99]}, "has strides .* make it dense"), ({"device": (2, 0)}, "lies on 'cuda', but"),
                              ({"code": 5}, "DLPack's type"), ({"device_id": 1}, "lies on device 1, expected 0")):
            with self.assertRaisesRegex(mp.Error, error):
                program(Foreign(there[0], **change), w, v)
        with self.assertRaisesRegex(mp.Error, "lies on DLPack's device 12, expected on the host"):
            mp.convert(MODEL)(y, w, v)

    def test_a_target_has_no_kernels_on_the_host(self):
        for device in ("cpu", "gpu"):
            with self.assertRaisesRegex(mp.Error, f"device='{device}'.*: kernels of a target run on 'emulator' or 'cuda'; to.'cpu'. runs"):
                mp.convert(MODEL).to("sm_80", device=device)

    def test_kernels_are_ptx_of_the_target(self):
        images = mp.convert(MODEL).kernels("sm_90")
        self.assertTrue(images)
        for image in images.values():
            self.assertIn(b".target sm_90", image)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.mlir")
            with open(path, "w") as file:
                file.write(MODEL)
            self.assertEqual(mp.convert(path).report.narrowed, 2)
            with self.assertRaisesRegex(mp.Error, "does not exist"):
                mp.convert(os.path.join(folder, "none.mlir"))
            os.rename(path, path + ".xyz")
            with self.assertRaisesRegex(mp.Error, "ending '.xyz'"):
                mp.convert(path + ".xyz")

    def test_save_and_load_in_another_process(self):
        x, w, v = inputs()
        program = mp.convert(MODEL, format="f16")
        expected = program(x, w, v)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.mp")
            program.save(path)
            np.savez(os.path.join(folder, "a.npz"), x, w, v)
            subprocess.run([sys.executable, "-c", f"""
import mp, numpy as np
p = mp.load({path!r})
a = np.load({os.path.join(folder, 'a.npz')!r})
np.save({os.path.join(folder, 'y.npy')!r}, p(*[a[k] for k in a.files]))
assert p.check() and p.report.narrowed == 2
"""], check=True)
            np.testing.assert_array_equal(np.load(os.path.join(folder, "y.npy")), expected)
            bound = convert_source(Source(MODEL, bound={1: w, 2: v}, names={1: "up", 2: "down"}), {"format": "f16"})
            bound.save(os.path.join(folder, "bound.mp"))
            loaded = mp.load(os.path.join(folder, "bound.mp"))
            np.testing.assert_array_equal(loaded(x), expected)
            self.assertEqual(list(loaded.parameters), ["up", "down"])
            with open(path, "r+b") as file:
                file.truncate(100)
            with self.assertRaisesRegex(mp.Error, "not written by"):
                mp.load(path)


class Errors(unittest.TestCase):
    def test_text_that_is_none(self):
        with self.assertRaises(mp.Error) as caught:
            mp.convert("func.func @f() {\n  foo\n}")
        self.assertIn(":2:3", str(caught.exception))
        self.assertEqual(caught.exception.diagnostics[0].severity, "error")

    def test_fractions_are_given_with_all_their_digits(self):
        for limit, narrowed in ((1.2e-7, 0), (0.5, 2)):
            report = mp.convert(MODEL, max_rel_error=limit).report
            self.assertEqual(report.narrowed, narrowed)
            self.assertIn(f"(allowed: {limit:g})", str(report))

    def test_options(self):
        with self.assertRaisesRegex(mp.Error, "fp17"):
            mp.convert(MODEL, format="fp17")
        with self.assertRaisesRegex(mp.Error, "e4m3 .* or e5m2"):
            mp.convert(MODEL, format="fp8")
        with self.assertRaisesRegex(mp.Error, "did you mean 'objective'"):
            mp.convert(MODEL, options={"objectiv": "time"})
        with self.assertRaisesRegex(mp.Error, "sm_81"):
            mp.convert(MODEL, target="sm_81")
        with self.assertRaisesRegex(mp.Error, r"'nowhere', neither [^\[]*\[MP201\]$"):  # one number
            mp.convert(MODEL, policy="nowhere", keep=[])
        with self.assertRaisesRegex(mp.Error, "keep holds 3, expected names"):
            mp.convert(MODEL, keep=[3])
        with self.assertRaisesRegex(mp.Error, "options is of list, expected a dict"):
            mp.convert(MODEL, options=["table"])
        with self.assertRaisesRegex(mp.Error, "'gpu' is no device: expected 'cuda'"):
            mp.convert(MODEL).to("gpu")

    def test_arguments_are_named(self):
        program, (x, w, v) = mp.convert(MODEL), inputs()
        with self.assertRaisesRegex(mp.Error, r"argument 1 \('up.weight'\).*expected 8x8xf32, found 8x2xf32"):
            program(x, v, v)
        with self.assertRaisesRegex(mp.Error, "takes 3 arguments, found 2"):
            program(x, w)
        with self.assertRaisesRegex(mp.Error, "positional"):
            program(x, w, v, bias=1)
        with self.assertRaisesRegex(mp.Error, "complex64, which mp does not know"):
            program(x.astype(np.complex64), w, v)

    def test_model_of_no_kind(self):
        with self.assertRaisesRegex(mp.Error, "cannot convert a int"):
            mp.convert(3)

    def test_missing_packages_are_named(self):
        from mp.frontends.programs import require
        with self.assertRaisesRegex(mp.MissingPackage, "pip install"):
            with unittest.mock.patch("importlib.util.find_spec", return_value=None):
                require("a thing", "torch", "torch_mlir")

    def test_library_that_is_none(self):
        code = "import mp\ntry:\n  mp.version()\nexcept mp.Error as e: print('said', e)"
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "MP_LIBRARY": "/nowhere/libMP.so"}, capture_output=True, text=True)
        self.assertIn("said the library of mp was not loaded", done.stdout)


class Arrays(unittest.TestCase):
    def test_layout_is_that_of_the_header(self):
        header = pathlib.Path(os.environ["MP_SOURCE"], "include/mp-c/MP.h").read_text()
        for name in library.SIGNATURES:
            self.assertRegex(header, rf"\b{name}\(")
        self.assertIn(f"#define MP_API_VERSION {library.API_VERSION}\n", header)
        self.assertEqual(ctypes.sizeof(library.CArray), 8 + 8 + 16 + 8 + 8 * 16)

    def test_tensors_are_laid_out_as_the_runtime_has_them(self):
        from mp import devices, dlpack
        self.assertEqual((ctypes.sizeof(devices.CTensor), devices.CTensor.sizes.offset), (8 + 4 * 4 + 8 * 16, 24))
        header = pathlib.Path(os.environ["MP_SOURCE"], "include/mp/Runtime/Runtime.h").read_text()
        formats = re.findall(r"MP_RT_(\w+),", header[header.index("enum mp_rt_format"):])
        self.assertEqual([name.upper() for name in list(devices.CODES)[:10]], formats[:10])
        self.assertEqual([ctypes.sizeof(t) for t in (dlpack.DLTensor, dlpack.DLManagedTensor, dlpack.DLManagedTensorVersioned)], [48, 64, 80])

    def test_device_memory_is_lent_by_dlpack(self):
        from mp import devices, dlpack
        lent = devices.DeviceArray(devices.tensor_of(0x7000, "bf16", (2, 3), devices.ON_DEVICE), "bf16", "cuda", owner=self)
        capsule = lent.__dlpack__(stream=1)
        managed = dlpack.DLManagedTensor.from_address(dlpack._pointer(capsule, b"dltensor"))
        tensor = managed.tensor
        self.assertEqual((tensor.data, tensor.device_type, tensor.ndim, tensor.code, tensor.bits, tensor.lanes), (0x7000, 2, 2, 4, 16, 1))
        self.assertEqual((tensor.shape[:2], tensor.strides[:2]), ([2, 3], [3, 1]))
        held = len(dlpack.lent)
        self.assertIsNotNone(lent.__dlpack__())  # not taken: it ends with its capsule
        self.assertEqual(len(dlpack.lent), held)
        managed.deleter(ctypes.pointer(managed))
        self.assertEqual(len(dlpack.lent), held - 1)

    def test_every_function_of_the_header_is_declared(self):
        header = pathlib.Path(os.environ["MP_SOURCE"], "include/mp-c/MP.h").read_text()
        self.assertEqual(sorted(set(re.findall(r"MP_EXPORT [\w ]+\*?\b(mp_\w+)\(", header))), sorted(library.SIGNATURES))

    def test_arguments_are_taken_without_a_copy(self):
        x = inputs()[0]
        self.assertEqual(host_array(x).address, x.ctypes.data)
        transposed = host_array(x.T)
        self.assertNotEqual(transposed.address, x.ctypes.data)
        np.testing.assert_array_equal(transposed.numpy(), x.T)

    def test_results_are_aligned_and_outlive_the_program(self):
        program = mp.convert(MODEL)
        y = program(*inputs())
        expected = y.copy()
        self.assertEqual(y.ctypes.data % 64, 0)
        del program
        gc.collect()
        np.testing.assert_array_equal(y, expected)

    def test_formats_that_numpy_lacks_go_by_their_patterns(self):
        text = "func.func @f(%x: tensor<2xbf16>) -> tensor<2xf32> { %0 = arith.extf %x : tensor<2xbf16> to tensor<2xf32> return %0 : tensor<2xf32> }"
        program = mp.convert(text)
        np.testing.assert_array_equal(program(np.array([0x3F80, 0xC000], np.uint16)), [1, -2])

    def test_views_and_lists(self):
        text = "func.func @f(%x: tensor<2x2xf32>, %s: f32) -> tensor<2x2xf32> { return %x : tensor<2x2xf32> }"
        program = mp.convert(text)
        np.testing.assert_array_equal(program(np.arange(16, dtype=np.float32).reshape(4, 4)[::2, ::3], 1.0), [[0, 3], [8, 11]])
        np.testing.assert_array_equal(program([[1, 2], [3, 4]], 2), [[1, 2], [3, 4]])

    def test_values_are_those_of_the_array_in_any_byte_order(self):
        program = mp.convert("func.func @f(%x: tensor<2xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<i32>) { return %x, %n : tensor<2xf32>, tensor<i32> }")
        x, n = program(np.array([1.5, -2], ">f4"), np.array(7, ">i4"))
        self.assertEqual((list(x), int(n)), ([1.5, -2], 7))

    def test_numbers_that_a_format_does_not_hold(self):
        program = mp.convert("func.func @f(%n: tensor<i8>, %b: tensor<2xi1>) -> (tensor<i8>, tensor<2xi1>) { return %n, %b : tensor<i8>, tensor<2xi1> }")
        self.assertEqual(int(program(200, [True, 0])[0]), -56)  # integers have no sign here
        for n, b, said in ((3.5, [1, 0], "argument 0.*holds 3.5, which i8"), (256, [1, 0], "holds 256, which i8"), (1, [1, 2], "argument 1.*holds 2, which i1"),
                           (None, [1, 0], r"of NoneType \(object\)"), ("1", [1, 0], r"of str \(str"), (1, [[1], [1, 0]], "argument 1.* is no array")):
            with self.subTest(said), self.assertRaisesRegex(mp.Error, said):
                program(n, b)

    def test_dlpack(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **kwargs):
                return self.array.__dlpack__(**kwargs)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = inputs()[0]
        self.assertEqual(host_array(Foreign(x)).address, x.ctypes.data)


class Process(unittest.TestCase):
    def test_import_is_light(self):
        code = "import sys, mp; print([m for m in ('numpy', 'torch', 'jax') if m in sys.modules])"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout, "[]\n")

    def test_nothing_is_printed(self):
        code = f"import mp; p = mp.convert({MODEL!r}); p.explain('blocks.0'); p.check(); p.changes(p)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_threads(self):
        results, (x, w, v) = [None] * 6, inputs()

        def work(index):
            results[index] = mp.convert(MODEL, format="f16")(x, w, v)

        threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            np.testing.assert_array_equal(result, results[0])

    def test_one_program_in_several_threads(self):
        program, said = mp.convert(MODEL, format="f16"), []

        def work(ask):
            try:
                for _ in range(5):
                    ask()
            except Exception as error:
                said.append(error)

        asks = (lambda: program.explain("blocks.0.up"), program.check, lambda: program.kernels("sm_80"), lambda: program.compare("f64", inputs()),
                lambda: program(*inputs()))
        threads = [threading.Thread(target=work, args=(ask,)) for ask in asks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(said, [])

    def test_tools(self):
        code = "import sys; from mp.tools import mp_opt; sys.argv = ['mp-opt', '--mp-show-targets']; mp_opt()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, "sm_90" in done.stdout), (0, True))


class Copies(unittest.TestCase):
    def test_a_program_is_its_copy_and_is_saved_not_pickled(self):
        program = mp.convert(MODEL)
        self.assertIs(copy.deepcopy([program])[0], program)
        self.assertIs(copy.copy(program), program)
        with self.assertRaisesRegex(mp.Error, "save.*mp.load"):
            pickle.dumps(program)

    def test_a_copied_array_has_memory_of_its_own(self):
        x = host_array(inputs()[0].copy())
        copied, expected = copy.deepcopy(x), x.numpy().copy()
        x.numpy()[:] = 0
        np.testing.assert_array_equal(copied.numpy(), expected)
        self.assertEqual(copied.address, copied.numpy().ctypes.data)


@unittest.skipUnless(shutil.which("mp-gen"), "mp-gen, which writes the step, is no part of the wheel")
class Training(unittest.TestCase):
    def test_steps_keep_their_state_and_follow_f32(self):
        text = subprocess.run(["mp-gen", "digits", "--train=adam", "--batch=32"], capture_output=True, text=True, check=True).stdout
        original = library.Context().parse(text)
        names = original.signature()["arguments"]
        random = np.random.default_rng(0)
        state = tuple(np.asarray((0.1 if spec["name"].startswith("linear") else 0) * random.normal(size=spec["shape"]), np.float32)
                      for spec in names[:-2])
        images = random.uniform(0, 16, (32, 64)).astype(np.float32)
        batch = images, (images[:, :10].argmax(1)).astype(np.int64)
        train = mp.train_step(text, state, batch, format="f16")
        self.assertEqual(train.report.narrowed, train.report.contractions)
        self.assertIn("loss_scale", train.state)
        executable, carried, wide = original.compile(None, {"device": "cpu"}), [host_array(x) for x in state], []
        narrow = [float(train(*batch)) for _ in range(6)]
        for _ in range(6):
            *carried, loss = executable.run([*carried, *map(host_array, batch)])
            wide.append(float(loss.numpy()))
        self.assertLess(narrow[-1], narrow[0])
        np.testing.assert_allclose(narrow, wide, rtol=1e-2)
        saved = train.state
        self.assertEqual(float(train(*batch)), float((setattr(train, "state", saved), train(*batch))[1]))
        with self.assertRaisesRegex(mp.Error, "no state 'nobody'"):
            train.state = {"nobody": 1}
        with self.assertRaisesRegex(mp.Error, "a batch of 2 arrays"):
            train(images)


if __name__ == "__main__":
    unittest.main(verbosity=1)
