# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs inside of what JAX compiles, through XLA's foreign functions. Each test is a claim."""
import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import mp
import mp.frontends.jax
import mp.library
import mp.xla


def net(params, x):
    with jax.named_scope("block"):
        hidden = jnp.tanh(x @ params["up"])
    return hidden @ params["down"]


keys = jax.random.split(jax.random.key(0), 3)
params = {"up": jax.random.normal(keys[0], (16, 32)) / 4, "down": jax.random.normal(keys[1], (32, 4)) / 6}
x = jax.random.normal(keys[2], (8, 16))


def relative(found, expected):
    return max(float(jnp.abs(a - b).max() / jnp.abs(b).max()) for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)))


def loss(function):
    return lambda params, x: (function(params, x) ** 2).sum()


class WithoutIREE(unittest.TestCase):
    """Ops that torch-mlir leaves; nothing is narrowed, so that results are JAX's to the last bits."""

    def setUp(self):
        find = mp.frontends.jax.find_program
        mp.frontends.jax.find_program = lambda name, *rest: None if name == "iree-compile" else find(name, *rest)
        self.addCleanup(setattr, mp.frontends.jax, "find_program", find)

    def assertSame(self, function, *args):
        found = mp.convert(function, args, format="bf16", keep=["*"])(*args)
        expected = jax.jit(function)(*args)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-5, atol=1e-6)

    def test_train_step(self):
        def step(params, images, labels):
            def loss(params):
                h = jax.lax.conv_general_dilated(images, params["k"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
                h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
                layer = jax.checkpoint(lambda h, w: (h + jnp.tanh(h @ w), None))
                h, _ = jax.lax.scan(layer, h.reshape(h.shape[0], -1), params["w"])
                return -jnp.take_along_axis(jax.nn.log_softmax(h), labels[:, None], 1).mean()
            value, gradients = jax.value_and_grad(loss)(params)
            return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value
        random = np.random.default_rng(0)
        draw = lambda *shape: jnp.asarray(random.standard_normal(shape), jnp.float32) / 4
        self.assertSame(step, {"k": draw(3, 3, 2, 2), "w": draw(3, 18, 18)}, draw(4, 5, 5, 2), jnp.arange(4))

    def test_orders_and_branches(self):
        def choose(x, i):
            values, places = jax.lax.top_k(x, 3)
            y = jax.lax.switch(i, [lambda x: x + 1, lambda x: x * 2, lambda x: -x], x)
            y = jax.lax.cond(i > 1, jnp.sin, jnp.cos, y)
            return values, places, jnp.argsort(y, 1), jnp.sort(y, 0), y.at[:, i].add(1.0).at[1:3, 2:5].set(y[3:5, 1:4])
        spread = jnp.sin(jnp.arange(48.0)).reshape(6, 8).at[2, 5].set(jnp.nan)
        for i in (0, 1, 2, 7):
            self.assertSame(choose, spread, jnp.int32(i))

    def test_loops(self):
        def halve(x):
            return jax.lax.while_loop(lambda s: s[0].max() > 0.1, lambda s: (s[0] / 2, s[1] + 1), (x, 0))
        self.assertSame(halve, jnp.arange(5.0))
        self.assertSame(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: jax.lax.fori_loop(0, i, lambda j, x: x * x + j, x), x), x[:2])

    def test_random_numbers_are_those_of_jax(self):
        def draw(key, x):
            first, second = jax.random.split(key)
            return {"noise": jax.random.normal(first, x.shape), "kept": jax.random.bernoulli(second, 0.5, x.shape), "key": second}

        key = jax.random.key(3)
        program = mp.convert(draw, (key, x))
        found, expected = program(key, x), draw(key, x)
        self.assertEqual(found["key"].dtype, key.dtype)
        self.assertTrue((jax.random.key_data(found["key"]) == jax.random.key_data(expected["key"])).all())
        self.assertTrue((found["kept"] == expected["kept"]).all())
        self.assertLess(relative(found["noise"], expected["noise"]), 1e-6)
        self.assertEqual([spec["name"] for spec in program.outputs], ["kept", "key", "noise"])
        edges = jnp.array([-1.0, 1.0, 0.0, 0.999999, -0.999999, 2.0, jnp.nan])
        np.testing.assert_allclose(mp.convert(jax.lax.erf_inv, (edges,))(edges), jax.lax.erf_inv(edges), rtol=1e-6)

    def test_static_arguments_stay_so(self):
        function = jax.jit(lambda x, n, mode: (x @ x.T) * n if mode == "on" else x, static_argnums=1, static_argnames="mode")
        program = mp.convert(function, (x, 3), {"mode": "on"})
        self.assertLess(relative(program(x, 3, mode="on"), function(x, 3, mode="on")), 1e-2)
        for n, mode in ((4, "on"), (3, "off")):
            with self.assertRaisesRegex(mp.Error, "static arguments were .*3.*found"):
                program(x, n, mode=mode)

    def test_routines_of_jax_and_functions_that_it_refuses(self):
        with self.assertRaisesRegex(mp.Error, "calls @lapack_spotrf_ffi, .*no route lowers.*mp.jit"):
            mp.convert(lambda x: jnp.linalg.cholesky(x @ x.T), (x,))
        with self.assertRaisesRegex(mp.Error, "JAX does not trace the function: TracerBoolConversionError") as caught:
            mp.convert(lambda x: x if x.sum() > 0 else -x, (x,))
        self.assertIsNotNone(caught.exception.__cause__)


class Jit(unittest.TestCase):
    def assertNarrow(self, found, expected):
        """Close to what JAX computes, and not the same."""
        self.assertLess(relative(found, expected), 2e-2)
        self.assertGreater(relative(found, expected), 1e-5)

    def test_under_jit(self):
        narrow = mp.jit(net, format="bf16")
        found = jax.jit(lambda params, x: 2 * narrow(params, x + 1))(params, x)
        self.assertNarrow(found, 2 * net(params, x + 1))
        self.assertEqual([program.report.narrowed for _, program, _ in narrow.programs], [2])
        self.assertNarrow(narrow(params, x), net(params, x))
        narrow(params, x[:4])
        self.assertEqual(len(narrow.programs), 2)

    def test_gradients_are_converted_too(self):
        narrow = mp.jit(net, format="bf16")
        self.assertNarrow(jax.jit(jax.grad(loss(narrow)))(params, x), jax.grad(loss(net))(params, x))
        (gradient,) = narrow._gradients.values()
        self.assertEqual([program.report.narrowed for _, program, _ in gradient.programs], [5])
        twice = lambda function: jax.grad(jax.grad(lambda s: function(params, x * s).sum()))(1.0)
        self.assertNarrow(twice(narrow), twice(net))

    def test_vmap_calls_for_each_element(self):
        narrow, xs = mp.jit(net, format="bf16"), jnp.stack([x, 2 * x, -x])
        self.assertNarrow(jax.vmap(narrow, (None, 0))(params, xs), jax.vmap(net, (None, 0))(params, xs))
        each = jnp.stack([narrow(params, each) for each in xs])
        self.assertTrue((jax.vmap(narrow, (None, 0))(params, xs) == each).all())
        self.assertNarrow(jax.vmap(jax.grad(loss(narrow)), (None, 0))(params, xs), jax.vmap(jax.grad(loss(net)), (None, 0))(params, xs))
        inside = mp.jit(jax.vmap(net, (None, 0)), format="bf16")
        self.assertNarrow(inside(params, xs), jax.vmap(net, (None, 0))(params, xs))

    def test_several_results_and_integers(self):
        def several(x, n):
            return {"sum": x.sum(), "rows": (x @ x.T, n + 1), "bits": jnp.uint32(7) * jnp.ones(2, jnp.uint32), "positive": x > 0}

        narrow = mp.jit(several, format="bf16")
        found, expected = jax.jit(narrow)(x, jnp.arange(3)), several(x, jnp.arange(3))
        self.assertEqual(jax.tree.structure(found), jax.tree.structure(expected))
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        for name in ("bits", "positive"):
            self.assertTrue((found[name] == expected[name]).all())
        plain = mp.convert(several, (x, jnp.arange(3)))(x, jnp.arange(3))
        self.assertEqual([y.dtype for y in jax.tree.leaves(plain)], [y.dtype for y in jax.tree.leaves(expected)])
        gradient = jax.grad(lambda x: narrow(x, jnp.arange(3))["sum"])(x)
        self.assertTrue((gradient == 1).all())

    def test_unsigned_integers(self):
        n = jnp.array([7, 0xFFFFFFF0], jnp.uint32)
        function = lambda n: (n // jnp.uint32(3), n.astype(jnp.float32))
        for found in (mp.jit(function)(n), mp.convert(function, (n,))(n)):
            for a, b in zip(found, function(n)):
                self.assertEqual(a.dtype, b.dtype)
                self.assertTrue((a == b).all())

    def test_on_the_emulator(self):
        narrow = mp.jit(net, format="bf16", target="sm_80", device="emulator")
        self.assertNarrow(jax.jit(narrow)(params, x), net(params, x))
        self.assertEqual(narrow.programs[0][1].device, "emulator")

    def test_what_cannot_be_converted_runs_in_jax_and_is_said(self):
        narrow = mp.jit(lambda x: jnp.fft.fft(x @ x.T).real, format="bf16")
        with self.assertLogs("mp", "WARNING") as logged:
            found = jax.jit(narrow)(x)
        self.assertTrue(jnp.allclose(found, jnp.fft.fft(x @ x.T).real))
        self.assertRegex(logged.output[0], "runs in JAX, not in mp: .*fft")
        self.assertIsNone(narrow.programs[0][1])

    def test_a_format_that_is_none_is_no_reason_to_run_in_jax(self):
        with self.assertRaisesRegex(mp.Error, "'fp17', expected bf16"):
            mp.jit(net, format="fp17")
        with self.assertRaisesRegex(mp.Error, "unknown target 'sm_81'"):
            mp.jit(net, target="sm_81")

    def test_functions_that_stablehlo_lacks(self):
        point = jnp.linspace(-0.9, 0.9, 12).reshape(3, 4)
        for function in (jax.scipy.special.erf, jax.lax.erfc, jnp.sinh, jnp.cosh, jnp.arcsinh, jnp.arctanh, jnp.arcsin, jnp.arccos, jnp.tan,
                         lambda x: jnp.arccosh(x + 2), lambda x: jax.nn.gelu(x, approximate=False)):
            found = mp.convert(function, (point,), target="sm_80")
            for program in (found, found.to("sm_80")):
                self.assertLess(float(abs(program(point) - function(point)).max()), 2e-6, function)

    def test_layers_are_kept_wide_by_their_names(self):
        narrow = mp.jit(net, format="bf16", keep=["block"])
        narrow(params, x)
        self.assertEqual([program.report.narrowed for _, program, _ in narrow.programs], [1])

    def test_threads_call_at_the_same_time(self):
        function, failures = jax.jit(mp.jit(net, format="bf16")), []
        expected = function(params, x)

        def work():
            for _ in range(20):
                if not (function(params, x) == expected).all():
                    failures.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(failures, [])


class Programs(unittest.TestCase):
    def setUp(self):
        self.program = mp.convert(net, (params, x), format="bf16")

    def test_a_program_is_an_op_of_what_jax_compiles(self):
        found = jax.jit(lambda params, x: self.program(params, x) * 2)(params, x)
        self.assertTrue((found == 2 * self.program(params, x)).all())

    def test_wrong_shapes_are_named_when_jax_traces(self):
        with self.assertRaisesRegex(mp.Error, r"argument 2 \('x'\): expected 8x16xf32, found 4x16xf32"):
            jax.jit(self.program)(params, x[:4])
        with self.assertRaisesRegex(mp.Error, "expected 8x16xf32, found 8x16xbf16"):
            jax.jit(self.program)(params, x.astype(jnp.bfloat16))
        with self.assertRaisesRegex(mp.Error, "the structure"):
            jax.jit(self.program)(x)

    def test_gradients_are_refused(self):
        with self.assertRaisesRegex(mp.Error, "no gradient; mp.jit"):
            jax.grad(lambda x: self.program(params, x).sum())(x)

    def test_arguments_are_not_copied(self):
        """A handler between XLA and mp's notes the addresses that XLA gives on: they are those of the caller's arrays."""
        seen = []

        class Buffers(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t), ("extensions", ctypes.c_void_p), ("size", ctypes.c_int64),
                        ("kinds", ctypes.c_void_p), ("buffers", ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))]

        class Frame(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t), ("extensions", ctypes.c_void_p), ("api", ctypes.c_void_p),
                        ("context", ctypes.c_void_p), ("stage", ctypes.c_int), ("arguments", Buffers)]

        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        def note(address):
            frame = Frame.from_address(address)
            if not frame.extensions and frame.stage == 3:
                seen.extend(frame.arguments.buffers[i][3] for i in range(frame.arguments.size))
            return mp.library.library().mp_xla_host_call(address)

        jax.ffi.register_ffi_target("noting", jax.ffi.pycapsule(note), platform="cpu")
        call = jax.ffi.ffi_call("noting", [jax.ShapeDtypeStruct((8, 4), jnp.float32)])
        leaves = jax.tree.leaves((params, x))
        key = mp.xla.publish(self.program)
        (found,) = jax.jit(lambda *leaves: call(*leaves, program=key))(*leaves)
        self.assertTrue((found == self.program(params, x)).all())
        self.assertEqual(seen, [leaf.unsafe_buffer_pointer() for leaf in leaves])

    def test_compiled_code_of_another_process_finds_its_program(self):
        """The cache of JAX holds a key of the model, not an address; where the function was not converted, the call says so."""
        code = """
import jax, jax.numpy as jnp, mp, mp.xla, sys
mp.xla.register()
f = lambda x: jnp.tanh(x @ x)
program = mp.convert(f, (jnp.ones((4, 4)),))
print(mp.xla.publish(program))
call = jax.ffi.ffi_call("mp_call", [jax.ShapeDtypeStruct((4, 4), jnp.float32)])
for key in (program.key, "nobody"):
    try:
        print(float(jax.jit(lambda x: call(x, program=key)[0])(jnp.ones((4, 4)))[0, 0]))
    except Exception as error:
        print(error)
"""
        done = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.splitlines() for _ in range(2)]
        self.assertEqual(done[0], done[1])
        self.assertAlmostEqual(float(done[0][1]), float(np.tanh(4.0)), 3)
        self.assertIn("no program 'nobody' in this process: convert the function here first", done[0][2])


class Names(unittest.TestCase):
    def test_all_parameters_and_layers_are_named(self):
        program = mp.convert(net, (params, x), format="bf16")
        self.assertEqual([spec["name"] for spec in program.inputs], ["params.down", "params.up", "x"])
        found = {op["name"] for op in program.report.ops if op["class"] == "T"}
        self.assertEqual(found, {"block/dot_general", "dot_general"})
        self.assertTrue(all(op["location"].rsplit(":", 2)[0] == os.path.abspath(__file__) for op in program.report.ops if op["class"] == "T"))
        self.assertIn("linalg.matmul", program.explain("block"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
