# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How models of PyTorch are called and what they give: keywords, dicts, constants, sizes; control flow. pytorch.py runs these."""
import dataclasses
import os
import tempfile
import unittest

import numpy as np
import torch
from torch import nn

import mp


def difference(found, expected):
    return float((found.detach() - expected.detach()).abs().max() / expected.detach().abs().max())


class Subtract(nn.Module):
    """Two arguments of one type, which must not be mixed up."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(8, 4)

    def forward(self, a, b, *, flag=None, n=3):
        y = self.layer(a - b) * n
        return y if flag is None else y * flag


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.model, cls.a, cls.b = Subtract().eval(), torch.randn(2, 8), torch.randn(2, 8)
        cls.program = mp.convert(cls.model, (), {"b": cls.b, "a": cls.a})

    def test_arguments_by_name_in_any_order_and_by_position(self):
        expected = self.model(self.a, self.b)
        for args, kwargs in (((), {"a": self.a, "b": self.b}), ((), {"b": self.b, "a": self.a}), ((self.a,), {"b": self.b}),
                             ((self.a, self.b), {"n": 3, "flag": None})):
            self.assertLess(difference(self.program(*args, **kwargs), expected), 1e-2)

    def test_keys_of_dicts_in_any_order(self):
        class Batch(Subtract):
            def forward(self, batch):
                return self.layer(batch["p"] - batch["q"])

        program = mp.convert(Batch().eval(), ({"p": self.a, "q": self.b},))
        self.assertLess(difference(program({"q": self.b, "p": self.a}) * 3, self.model(self.a, self.b)), 1e-2)
        with self.assertRaisesRegex(mp.Error, "another structure.*missing key.*q"):
            program({"p": self.a, "r": self.b})

    def test_numbers_that_decided_the_graph_must_be_those(self):
        program = mp.convert(self.model, (self.a, self.b), {"n": 5})
        self.assertLess(difference(program(self.a, self.b, n=5), self.model(self.a, self.b, n=5)), 1e-2)
        with self.assertRaisesRegex(mp.Error, "'n' was 5 when the model was converted.*found 7"):
            program(self.a, self.b, n=7)
        with self.assertRaisesRegex(mp.Error, "'n' was 5 when the model was converted.*found 3"):
            program(self.a, self.b)  # the model's own default

    def test_numbers_of_numpy_are_values_of_a_call(self):
        program = mp.convert(lambda x, t: x * t, (self.a, np.float32(2)))
        for t in (np.float32(3), torch.tensor(3.0), np.full((), 3, "f")):
            self.assertTrue(torch.equal(program(self.a, t), self.a * 3))
        program = mp.convert(self.model, (self.a, self.b), {"flag": np.float32(2)})
        self.assertLess(difference(program(self.a, self.b, flag=np.float32(4)), self.model(self.a, self.b) * 4), 1e-2)

    def test_calls_that_do_not_fit(self):
        for args, kwargs, message in (((self.a,), {"c": self.b}, "no argument 'c': the model was converted with b, a"),
                                      ((self.a,), {}, "argument 'b' is missing"),
                                      ((self.a,), {"a": self.a, "b": self.b}, "'a' is given twice"),
                                      ((self.a, self.b, self.a), {}, r"takes 2 arguments by position \(a, b\), found 3"),
                                      ((self.a, self.b), {"flag": self.a}, "no argument 'flag'")):
            with self.assertRaisesRegex(mp.Error, message):
                self.program(*args, **kwargs)

    def test_sizes_that_vary_have_their_limits(self):
        batch = torch.export.Dim("batch", min=1, max=8)
        program = mp.convert(self.model, (self.a, self.b), dynamic=({0: batch}, {0: batch}))
        five = torch.randn(5, 8)
        self.assertLess(difference(program(five, -five), self.model(five, -five)), 1e-2)
        with self.assertRaisesRegex(mp.Error, "a: size 0 is 9, expected 1 to 8"):
            program(torch.randn(9, 8), torch.randn(9, 8))
        with self.assertRaisesRegex(mp.Error, "b: size 0 is 4, expected 5"):
            program(five, five[:4])

    def test_two_sizes_that_vary_are_laid_end_to_end(self):
        batch, tokens = torch.export.Dim("batch", min=2, max=32), torch.export.Dim("tokens", min=2, max=64)
        model = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
        program = mp.convert(model, (torch.randn(3, 5, 16),), dynamic=({0: batch, 1: tokens},))
        for sizes in ((2, 7), (6, 3)):
            x = torch.randn(*sizes, 16)
            self.assertLess(difference(program(x), model(x)), 2e-2)

        class Merge(nn.Module):
            def forward(self, x):
                b, t, d = x.shape
                return x.view(b * t, 4, d // 4), x.view(b, t * d), x.view(b * t, 1, d), x.view(-1)

        program = mp.convert(Merge(), (torch.randn(3, 5, 16),), dynamic=({0: batch, 1: tokens},))
        for found, expected in zip(program(x), Merge()(x)):
            self.assertTrue(torch.equal(found, expected))

    def test_wrappers_and_functions(self):
        for wrapped in (torch.compile(self.model), nn.DataParallel(self.model)):
            program = mp.convert(wrapped, (self.a, self.b))
            self.assertEqual([spec["name"] for spec in program.inputs], ["layer.weight", "layer.bias", "a", "b"])
        self.assertLess(difference(mp.convert(lambda x: x @ x.T, (self.a,))(self.a), self.a @ self.a.T), 1e-2)


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    hidden: tuple
    steps: int = 2
    cache: object = None


torch.export.register_dataclass(Output, serialized_type_name="mp.test.Output")


class Results(unittest.TestCase):
    def test_structures_and_names(self):
        class Model(Subtract):
            def forward(self, x):
                h = self.layer(x)
                return Output(h.softmax(-1), (h, {"best": h.argmax(-1), "rows": [h[:, 0]]}))

        model, x = Model().eval(), torch.randn(2, 8)
        program = mp.convert(model, (x,))
        found, expected = program(x), model(x)
        self.assertEqual((type(found), found.steps, found.cache), (Output, 2, None))
        self.assertTrue(torch.equal(found.hidden[1]["best"], expected.hidden[1]["best"]))
        self.assertLess(difference(found.hidden[1]["rows"][0], expected.hidden[1]["rows"][0]), 1e-2)
        names = ["logits", "hidden.0", "hidden.1.best", "hidden.1.rows.0"]
        self.assertEqual([spec["name"] for spec in program.outputs], names)
        self.assertRegex(str(program.compare("f64")), "(?m)^logits: .*\nhidden.0: ")
        kept = {"mp_policy": 1, "rules": [{"name": "first", "select": {"result": "^logits$"}, "precision": "narrow"}]}
        self.assertEqual(mp.convert(model, (x,), policy=kept)(x).logits.dtype, torch.bfloat16)
        with tempfile.TemporaryDirectory() as folder:
            program.save(os.path.join(folder, "m.mp"))
            self.assertEqual([spec["name"] for spec in mp.load(os.path.join(folder, "m.mp")).outputs], names)

    def test_unsigned_integers_stay_so(self):
        class Pixels(nn.Module):
            def forward(self, u):
                return u + 10, u.float(), u > 100

        u = torch.tensor([255, 2, 130, 0], dtype=torch.uint8)
        for found, expected in zip(mp.convert(Pixels(), (u,))(u), Pixels()(u)):
            self.assertEqual(found.dtype, expected.dtype)
            self.assertTrue(torch.equal(found, expected))


class Bags(unittest.TestCase):
    def test_sums_means_and_maxima_of_rows(self):
        rows, flat, offsets = torch.tensor([[1, 5, 0], [2, 2, 5]]), torch.tensor([4, 1, 5, 5, 2, 0]), torch.tensor([0, 2, 2, 4])
        for options in ({"mode": "sum"}, {"mode": "mean", "padding_idx": 5}, {"mode": "max", "padding_idx": 5}):
            model = nn.EmbeddingBag(6, 4, **options).eval()
            for args in ((rows,), (flat, offsets)):
                self.assertLess(difference(mp.convert(model, args)(*args), model(*args)), 1e-6, options)
        model, weights = nn.EmbeddingBag(6, 4, mode="sum", include_last_offset=True).eval(), torch.randn(6)
        args = flat, torch.tensor([0, 3, 3, 6]), weights
        self.assertLess(difference(mp.convert(model, args)(*args), model(*args)), 1e-6)


class ControlFlow(unittest.TestCase):
    def test_branches_and_loops_of_torch(self):
        from torch._higher_order_ops.while_loop import while_loop

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(0)
                self.l, self.m = nn.Linear(8, 8), nn.Linear(8, 8)

            def forward(self, x):
                x = torch.cond(x.sum() > 0, lambda x: self.l(x), lambda x: self.m(x) * 2, (x,))
                return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, self.l(x)), (torch.tensor(0), x))[1]

        model, x = Model().eval(), torch.randn(2, 8)
        program = mp.convert(model, (x,))
        for value in (x, -x):
            self.assertLess(difference(program(value), model(value)), 2e-2)
        self.assertEqual(program.report.narrowed, 3)
        found = sorted(op["name"].rpartition(".")[0] for op in program.report.ops if op["class"] == "T")
        self.assertEqual(found, ["l", "l", "m"])  # those of their parameters
        self.assertEqual(mp.convert(model, (x,), keep=["l"]).report.narrowed, 1)

    def test_masks_of_any_count(self):
        class Model(nn.Module):
            def forward(self, x, m):
                return x[x > 0], x[:, m], torch.masked_select(x, m)

        x, m = torch.randn(2, 8), torch.rand(8) > 0.5
        for found, expected in zip(mp.convert(Model(), (x, m))(x, m), Model()(x, m)):
            self.assertTrue(torch.equal(found, expected))


class Functions(unittest.TestCase):
    def test_train_steps_keep_their_state_and_follow_torch(self):
        torch.manual_seed(0)
        model, x, target = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4)), torch.randn(8, 16), torch.randn(8, 4)

        def step(params, x, target):
            def loss(params):
                return ((torch.func.functional_call(model, params, (x,)) - target) ** 2).mean()
            gradients, value = torch.func.grad_and_value(loss)(params)
            return {name: params[name] - 0.1 * gradients[name] for name in params}, value

        params = {name: value.detach() for name, value in model.named_parameters()}
        train = mp.train_step(step, (params,), (x, target), format="f16")
        self.assertEqual(set(train.state), {*(f"params.{name}" for name in params), "loss_scale", "clean_steps", "skipped_steps"})
        for _ in range(3):
            params, expected = step(params, x, target)
            self.assertLess(abs(float(train(x, target)) / float(expected) - 1), 1e-2)
        for name, value in params.items():
            self.assertLess(difference(torch.from_numpy(train.state[f"params.{name}"]), value), 1e-2)
        lines = {op["location"].rsplit(":", 2)[0] for op in train.report.ops if op["class"] == "T"}
        self.assertEqual(lines, {os.path.abspath(__file__)})
        layers = {op["name"].rpartition(".")[0] for op in train.report.ops if op["class"] == "T"}
        self.assertLessEqual({"0", "2"}, layers)  # of the forward pass; functional_call runs the module

    def test_structures_and_numbers(self):
        weight = torch.randn(8, 4)

        def function(batch, n=2):
            return {"y": batch["x"] @ weight * n, "more": [batch["x"].sum(), n, None]}

        x = torch.randn(2, 8)
        program = mp.convert(function, ({"x": x},), {"n": 3})
        found, expected = program({"x": x}, n=3), function({"x": x}, n=3)
        self.assertLess(difference(found["y"], expected["y"]), 1e-2)
        self.assertEqual(found["more"][1:], [3, None])
        self.assertEqual(([spec["name"] for spec in program.inputs], [spec["name"] for spec in program.outputs]), (["batch.x"], ["y", "more.0"]))
        with self.assertRaisesRegex(mp.Error, "'n' was 3 .* found 2"):
            program({"x": x})


    def test_derivatives_of_vectors_forward_and_backward(self):
        weight, x = torch.randn(4, 4), torch.randn(4)

        def model(x):
            return torch.tanh(weight @ x)

        def both(x):
            return {"back": torch.func.jacrev(model)(x), "forward": torch.func.jvp(model, (x,), (x,))[1],
                    "second": torch.func.hessian(lambda x: model(x).sum())(x)}

        found, expected = mp.convert(both, (x,), format="bf16")(x), both(x)
        for name, value in expected.items():
            self.assertLess(difference(found[name], value), 2e-2, name)

    def test_values_on_diagonals_and_behind_strides(self):
        from mp.frontends.decompositions import diagonal_scatter, strided, strided_scatter
        for shape, offset, dims in (((3, 5), 0, (0, 1)), ((3, 5), 2, (0, 1)), ((5, 3), -3, (0, 1)), ((5, 2, 3), 1, (2, 0)), ((3, 3), 3, (0, 1))):
            x = torch.randn(shape)
            values = torch.randn_like(torch.diagonal(x, offset, *dims))
            self.assertTrue(torch.equal(diagonal_scatter(x, values, offset, *dims), torch.diagonal_scatter(x, values, offset, *dims)), (shape, offset))
        for place in (((3, 4), (4, 1)), ((1, 12), (7, 1)), ((4, 3), (1, 4)), ((2, 2), (2, 4), 1), ((), (), 5), ((12,), (1,), 0)):
            x, values = torch.randn(3, 4), torch.randn(place[0])
            self.assertTrue(torch.equal(strided_scatter(x, values, *place), torch.as_strided_scatter(x, values, *place)), place)
            if (found := strided(x, *place)) is not NotImplemented:
                self.assertTrue(torch.equal(found, torch.as_strided(x, *place)), place)


class Refused(unittest.TestCase):
    def test_what_torch_refuses_is_an_error_with_its_cause(self):
        class Branch(nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x

        with self.assertRaisesRegex(mp.Error, "torch.export refuses the model: .*data-dependent") as caught:
            mp.convert(Branch(), (torch.randn(2),))
        self.assertIsNotNone(caught.exception.__cause__)

    def test_structures_that_torch_does_not_know(self):
        @dataclasses.dataclass
        class Unknown:
            y: torch.Tensor

        class Model(nn.Module):
            def forward(self, x):
                return Unknown(x + 1)

        with self.assertRaisesRegex(mp.Error, r"Unknown[\s\S]*torch.export.register_dataclass\(TYPE\) does so for a dataclass"):
            mp.convert(Model(), (torch.randn(2),))

    def test_random_numbers_are_said_not_to_be_those_of_torch(self):
        with self.assertLogs("mp", "WARNING") as logged:
            program = mp.convert(nn.Dropout(0.5).train(), (torch.ones(64),))
        self.assertRegex(logged.output[0], "draws random numbers, .*not those that torch draws")
        for program in (program, program.to("sm_80")):
            self.assertEqual(set(program(torch.ones(64)).tolist()), {0.0, 2.0})

    def test_tensors_without_values(self):
        with torch.device("meta"):
            model = nn.Linear(8, 4)
        program = mp.convert(model, (torch.empty(2, 8, device="meta"),))
        self.assertEqual(program.report.narrowed, 1)
        with self.assertRaisesRegex(mp.Error, "'weight'.* is on meta, .*it has no values"):
            program(torch.randn(2, 8))
        with self.assertRaisesRegex(mp.Error, "torch.sparse_coo, expected a dense tensor"):
            mp.convert(nn.Linear(8, 4), (torch.randn(2, 8),))(torch.randn(2, 8).to_sparse())
