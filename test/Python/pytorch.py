# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on models of PyTorch: names, results, torch.compile. Needs torch and torch-mlir."""
import os
import sys
import tempfile
import unittest

import torch
from torch import nn

import mp
import mp.dynamo
from mp.frontends.programs import call

sys.path.insert(0, os.path.join(os.environ["MP_SOURCE"], "tools/dev/frontends"))
from pytorch_calls import Bags, Calls, ControlFlow, Functions, Refused, Results  # noqa: E402, F401: cases of this suite
from pytorch_models import MODELS  # noqa: E402


class Block(nn.Module):
    def __init__(self, d=32, heads=4):
        super().__init__()
        self.n1, self.n2, self.heads = nn.LayerNorm(d), nn.LayerNorm(d), heads
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(nn.functional.gelu(self.up(self.n2(x))))


class Tiny(nn.Module):
    def __init__(self, d=32, vocabulary=50):
        super().__init__()
        self.embed, self.blocks = nn.Embedding(vocabulary, d), nn.ModuleList([Block(d), Block(d)])
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def tiny():
    torch.manual_seed(0)
    return Tiny().eval(), torch.randint(0, 50, (2, 8))


def relative(found, expected):
    return float((found.detach().double() - expected.detach().double()).abs().max() / expected.detach().double().abs().max())


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model, cls.ids = tiny()
        cls.program = mp.convert(cls.model, (cls.ids,), format="bf16")

    def test_parameters_have_their_qualified_names(self):
        self.assertEqual([spec["name"] for spec in self.program.inputs], [*dict(self.model.named_parameters()), "ids"])

    def test_contractions_have_the_paths_of_their_modules(self):
        found = {op["name"].rpartition(".")[0] for op in self.program.report.ops if op["class"] == "T"}
        wanted = {f"blocks.{i}.{layer}" for i in (0, 1) for layer in ("qkv", "out", "up", "down")}
        self.assertEqual(found, {*wanted, "blocks.0", "blocks.1", "head"})

    def test_lines_are_those_of_the_model(self):
        files = {op["location"].rsplit(":", 2)[0] for op in self.program.report.ops if op["class"] == "T"}
        self.assertEqual(files, {os.path.abspath(__file__)})

    def test_a_layer_is_kept_wide_by_its_name(self):
        kept = mp.convert(self.model, (self.ids,), keep=["blocks.1.qkv"])
        self.assertEqual(self.program.report.narrowed - kept.report.narrowed, 1)
        self.assertEqual({op["compute"] for op in kept.report.ops_of("blocks.1.qkv") if op["class"] == "T"}, {"f32"})

    def test_explains_a_block(self):
        self.assertIn("linalg.matmul", self.program.explain("blocks.1"))

    def test_results_on_host_and_emulator(self):
        expected = self.model(self.ids)
        found = self.program(self.ids)
        self.assertIsInstance(found, torch.Tensor)
        self.assertLess(relative(found, expected), 1e-2)
        self.assertGreater(relative(found, expected), 1e-5)
        self.assertLess(relative(self.program.to("sm_80")(self.ids), expected), 1e-2)
        self.assertLess(self.program.compare("f64").relative, 1e-2)
        self.assertTrue(self.program.check())

    def test_variances_in_f64_are_said_and_narrowed(self):
        with self.assertLogs("mp", "INFO") as logged:
            kept = mp.convert(self.model, (self.ids,))
        self.assertEqual(sum("f64='narrow'" in line for line in logged.output), 1)
        narrow = mp.convert(self.model, (self.ids,), f64="narrow", keep=["*"])
        self.assertIn("tensor<2x8x1xf64>", kept.mlir)
        self.assertNotIn("tensor<2x8x1xf64>", narrow.mlir)
        self.assertLess(relative(narrow(self.ids), self.model(self.ids)), 2e-6)

    def test_saved_weights_and_pt2_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.program.save(os.path.join(folder, "m.mp"))
            self.assertTrue(torch.equal(mp.load(os.path.join(folder, "m.mp"))(self.ids), self.program(self.ids)))
            torch.export.save(torch.export.export(self.model, (self.ids,)), os.path.join(folder, "m.pt2"))
            self.assertTrue(torch.equal(mp.convert(os.path.join(folder, "m.pt2"))(self.ids), self.program(self.ids)))

    def test_dynamic_batch(self):
        batch = torch.export.Dim("batch", min=2, max=64)
        program = mp.convert(self.model, (self.ids,), dynamic=({0: batch},))
        more = torch.randint(0, 50, (5, 8))
        self.assertLess(relative(program(more), self.model(more)), 1e-2)

    def test_caches_are_stored_narrow_by_name(self):
        class Decode(nn.Module):
            def __init__(self):
                super().__init__()
                self.key = nn.Linear(16, 16)

            def forward(self, x, cache):
                cache = torch.cat([cache[:, 1:], self.key(x)[:, None]], 1)
                return (cache @ x[:, :, None]).squeeze(-1), cache

        torch.manual_seed(0)
        model, x, cache = Decode().eval(), torch.randn(4, 16), torch.randn(4, 8, 16)
        rules = [{"name": "cache", "select": {"argument": "^cache$"}, "precision": "narrow"},
                 {"name": "next cache", "select": {"result": "^#1$"}, "precision": "narrow"}]
        program = mp.convert(model, (x, cache), format="bf16", policy={"mp_policy": 1, "rules": rules})
        _, following = program(x, cache.bfloat16())
        expected = model(x, cache)[1]
        self.assertEqual(following.dtype, torch.bfloat16)
        self.assertTrue(torch.equal(following[:, :-1], expected[:, :-1].bfloat16()))  # what is only moved is rounded once
        self.assertLess(relative(following, expected), 1e-2)
        with self.assertRaisesRegex(mp.Error, "cache.*bf16.*f32"):
            program(x, cache)
        self.assertLess(program.compare("f64").relative, 1e-2)


class Compile(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        mp.dynamo.graphs.clear()

    def test_models(self):
        for name in ("llama", "sdpa", "convnet", "norms", "moe", "unet", "gather", "positional"):
            torch.manual_seed(1)
            make, arguments = MODELS[name]
            model, values = make().eval(), arguments()
            with torch.no_grad():
                expected = model(*[x.clone() for x in values])
                found = torch.compile(model, backend=mp.dynamo.backend)(*values)
            first = lambda y: y[0] if isinstance(y, tuple) else y
            self.assertLess(relative(first(found), first(expected)), 2e-2, name)
        self.assertTrue(any(program for _, program, _ in mp.dynamo.graphs))

    def test_training_compiles_forward_and_backward(self):
        class Attention(nn.Module):
            def forward(self, x):
                return nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], is_causal=True)[0, 0]

        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), Attention(), nn.GELU(), nn.Linear(32, 4))
        x, target = torch.randn(8, 16), torch.randn(8, 4)
        ((model(x) - target) ** 2).mean().backward()
        expected = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        ((torch.compile(model, backend=mp.dynamo.backend)(x) - target) ** 2).mean().backward()
        self.assertEqual([bool(program) for _, program, _ in mp.dynamo.graphs], [True, True])
        for parameter, wanted in zip(model.parameters(), expected):
            self.assertLess(relative(parameter.grad, wanted), 2e-2)

    def test_one_graph_serves_all_batches(self):
        model = nn.Sequential(nn.Linear(16, 8), nn.ReLU()).eval()
        compiled = torch.compile(model, backend=mp.dynamo.backend, dynamic=True)
        with torch.no_grad():
            for batch in (4, 9, 17):
                x = torch.randn(batch, 16)
                self.assertLess(relative(compiled(x), model(x)), 1e-2)
        self.assertEqual(len(mp.dynamo.graphs), 1)

    def test_encoder_layers_without_gradients_do_not_fall_back(self):
        torch.manual_seed(0)
        for options in ({}, {"norm_first": True, "activation": "gelu"}):
            torch._dynamo.reset()
            model, x = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, **options).eval(), torch.randn(2, 5, 16)
            with torch.no_grad():
                self.assertLess(relative(torch.compile(model, backend=mp.dynamo.backend)(x), model(x)), 1e-2)
        self.assertEqual([bool(program) for _, program, _ in mp.dynamo.graphs], [True, True])

    def test_recurrent_layers_are_in_the_graph(self):
        class Model(nn.Module):
            def __init__(self, kind):
                super().__init__()
                self.cells, self.head = kind(8, 6, batch_first=True), nn.Linear(6, 2)

            def forward(self, x):
                return self.head(self.cells(x)[0])

        torch.manual_seed(0)
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            torch._dynamo.reset()
            model, x = Model(kind), torch.randn(2, 3, 8)
            compiled = torch.compile(model, backend=mp.dynamo.backend)
            with torch.no_grad():
                self.assertLess(relative(compiled(x), model(x)), 2e-2, kind)
            if kind is nn.LSTM:
                model(x).sum().backward()
                expected = model.cells.weight_ih_l0.grad.clone()
                model.zero_grad()
                compiled(x).sum().backward()
                self.assertLess(relative(model.cells.weight_ih_l0.grad, expected), 3e-2)
        self.assertEqual([(bool(program), program and program.report.narrowed > 3) for _, program, _ in mp.dynamo.graphs], [(True, True)] * 5)

    def test_options_that_are_none_are_errors_not_reasons_to_fall_back(self):
        for options, message in (({"formt": "bf16"}, "no option 'formt', expected format, "), ({"format": "fp17"}, "'fp17', expected bf16")):
            torch._dynamo.reset()
            with self.assertRaisesRegex(Exception, message):
                torch.compile(nn.Linear(4, 4), backend=mp.dynamo.backend, options=options)(torch.ones(2, 4))
        self.assertEqual(mp.dynamo.graphs, [])

    def test_gradients_within_a_function(self):
        weight, x = torch.randn(8, 8), torch.randn(8)

        def function(x):
            return torch.func.grad(lambda x: torch.tanh(weight @ x)[:1].sum())(x)

        self.assertLess(relative(torch.compile(function, backend=mp.dynamo.backend)(x), function(x)), 2e-2)
        self.assertEqual([reason for _, _, reason in mp.dynamo.graphs], [""])

    def test_unsigned_integers_stay_so(self):
        u = torch.tensor([250, 3], dtype=torch.uint8)
        self.assertEqual(torch.compile(lambda u: u + 10, backend=mp.dynamo.backend)(u).dtype, torch.uint8)

    def test_what_cannot_be_lowered_runs_in_torch_and_is_said(self):
        compiled = torch.compile(lambda x: torch.fft.fft(x @ x).abs(), backend=mp.dynamo.backend)
        x = torch.randn(8, 8)
        with self.assertLogs("mp", "WARNING") as logged, torch.no_grad():
            self.assertTrue(torch.allclose(compiled(x), torch.fft.fft(x @ x).abs()))
        self.assertRegex(logged.output[0], "graph \\d+ runs in torch, not in mp: torch-mlir does not lower torch.aten._fft_")


class Experts(nn.Module):
    """The two best of four experts for each token. "scatter": all experts, weighed by a scatter on the last dimension;
    "rows": each expert on as many tokens as chose it, as Mixtral does."""

    def __init__(self, kind, d=16, n=4, m=32):
        super().__init__()
        self.kind, self.gate = kind, nn.Linear(d, n, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(n, d, m) * 0.2), nn.Parameter(torch.randn(n, m, d) * 0.1)

    def forward(self, x):
        weights, best = torch.softmax(self.gate(x), -1).topk(2, -1)
        if self.kind == "scatter":
            weights = torch.zeros(x.shape[0], 4).scatter(-1, best, weights)
            h = nn.functional.silu(torch.einsum("td,edm->etm", x, self.up))
            return torch.einsum("etd,te->td", torch.einsum("etm,emd->etd", h, self.down), weights)
        y = torch.zeros_like(x)
        for expert in range(4):
            token, place = torch.where(best == expert)
            h = nn.functional.silu(x[token] @ self.up[expert]) @ self.down[expert]
            y = y.index_add(0, token, h * weights[token, place, None])
        return y


class Mixtures(unittest.TestCase):
    def test_experts_are_converted(self):
        for kind in ("scatter", "rows"):
            torch.manual_seed(0)
            model, x = Experts(kind).eval(), torch.randn(12, 16)
            program = mp.convert(model, (x,), target="sm_80")
            self.assertGreater(program.report.narrowed, 2, kind)
            self.assertLess(relative(program(x), model(x)), 1e-2, kind)
            self.assertTrue(program.check(), kind)
            exact = mp.convert(model, (x,), keep=["*"])
            self.assertLess(relative(exact(x), model(x)), 1e-5, kind)

    def test_compiled_by_torch_without_falling_back(self):
        torch._dynamo.reset()
        mp.dynamo.graphs.clear()
        torch.manual_seed(0)
        model, x = Experts("scatter").eval(), torch.randn(12, 16)
        with torch.no_grad():
            self.assertLess(relative(torch.compile(model, backend=mp.dynamo.backend)(x), model(x)), 1e-2)
        self.assertEqual([bool(program) for _, program, _ in mp.dynamo.graphs], [True])

    def test_forms_that_the_lowering_refuses(self):
        x, i, j = torch.randn(5, 4, 3), torch.tensor([1, -1, 4, 0]), torch.tensor([-2, 3, 0, -4])
        at = torch.tensor([[0, 2], [1, 3], [3, 0], [2, 1], [0, 1]])

        class Forms(nn.Module):
            def forward(self, x, i, j, at):
                rows = torch.where(i < 4)[0]  # of a size that data decides, with negative indices behind it
                y = x[:, :, 0]
                return (x[i[rows], j[rows]], y.scatter(-1, at, 1.0), y.scatter_add(-1, at, y[:, :2]),
                        y.scatter_reduce(-1, at, y[:, :2], "amax"), y.scatter(-2, at[:2], y[3:, :2]))

        expected = Forms()(x, i, j, at)
        found = mp.convert(Forms(), (x, i, j, at))(x, i, j, at)
        for number, (a, b) in enumerate(zip(found, expected)):
            self.assertTrue(torch.allclose(a, b), number)


class Recurrent(unittest.TestCase):
    def test_layers_with_a_state_that_begins_at_zero(self):
        for kind in (nn.LSTM, nn.GRU):
            torch.manual_seed(0)
            model, x = kind(16, 24, batch_first=True).eval(), torch.randn(2, 3, 16)
            program = mp.convert(model, (x,), target="sm_80")
            for found in (program(x)[0], program.to("sm_80")(x)[0]):
                self.assertLess(relative(found, model(x)[0]), 1e-2)


class Refusals(unittest.TestCase):
    def test_a_crash_of_a_program_is_an_error_with_another_route(self):
        with self.assertRaisesRegex(mp.Error, "sh crashed, .*torch.onnx.export"):
            call("/bin/sh", "-c", "kill -SEGV $$")

    def test_a_module_needs_arguments(self):
        with self.assertRaisesRegex(mp.Error, "needs example arguments"):
            mp.convert(nn.Linear(2, 2))

    def test_state_that_calls_change(self):
        with self.assertRaisesRegex(mp.Error, "running_mean.*eval"):
            mp.convert(nn.BatchNorm1d(4).train(), (torch.randn(3, 4),))


if __name__ == "__main__":
    unittest.main(verbosity=1)
