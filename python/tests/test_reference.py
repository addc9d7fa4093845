"""References: the same numbers as autograd's, rows that tell something, a module that is left as it was."""

import json
import pathlib
import tempfile
import unittest
import warnings

import torch
import torch.nn.functional as F
import xlc_export
from torch import nn
from xlc_export import _projections

from call import Call

IDS = torch.tensor([[3, 1, 4], [1, 5, 2]])
WORD = (1 << 64) - 1


def classifier(**parts):
    return Call(lambda m, x, y: F.cross_entropy(m.body(x), y), body=nn.Linear(4, 3), **parts).eval()


def rows(count=3):
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(1)), torch.arange(count) % 3


def read(path):
    """The document and the tensors of a reference, by the format alone."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    document = json.loads(header.pop("__metadata__")["xlc.reference"])
    kinds = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64, "I8": torch.int8, "I32": torch.int32,
             "BOOL": torch.bool}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        piece = bytearray(data[8 + size + begin:8 + size + end])
        tensors[name] = torch.frombuffer(piece, dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
    return document, tensors


def splitmix64(i):
    z = (i + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def described(gradient):
    """Norm and projections, as docs/Export.md says it."""
    values = gradient.double().flatten().tolist()
    signs = [[1 - 2 * (splitmix64(i) >> k & 1) for i in range(len(values))] for k in range(16)]
    return torch.tensor([sum(x * x for x in values) ** 0.5] + [sum(s * x for s, x in zip(row, values)) for row in signs],
                        dtype=torch.float64)


class References(unittest.TestCase):
    def make(self, module, args, *, is_dynamic=True, names=None, **more):
        """The document, the tensors and the warnings of the reference of a file that is exported."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "model.onnx"
        shapes = {"dynamic_shapes": (tuple({0: "batch"} for _ in args),)} if is_dynamic else {}
        names = names or [f"input{i}" for i in range(len(args))]
        with warnings.catch_warnings(action="ignore"):
            xlc_export.export(module, args, path, input_names=names, verbose=False, reference=False, **shapes)
        self.path = path
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = xlc_export.reference(module, args, path, input_names=names, **more)
        self.assertEqual(found, path.with_suffix(".reference.safetensors"))
        return *read(found), [str(x.message) for x in said]


class Numbers(References):
    def test_splitmix64(self):
        vector = [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1, 0x975835DE1C9756CE, 0x1D0B14E4DB018FED]
        self.assertEqual([splitmix64(i) for i in range(4)], vector)
        self.assertEqual([int(x) & WORD for x in _projections.splitmix64(torch.arange(4))], vector)
        far = 123456789012345
        self.assertEqual(int(_projections.splitmix64(torch.tensor([far]))) & WORD, splitmix64(far))

    def test_projections_of_several_pieces(self):
        gradient = torch.randn(50, 7)
        pieces, _projections._CHUNK = _projections._CHUNK, 100
        _projections._patterns.cache_clear()
        try:
            torch.testing.assert_close(_projections.describe(gradient), described(gradient), rtol=1e-12, atol=1e-12)
        finally:
            _projections._CHUNK = pieces
            _projections._patterns.cache_clear()

    def test_gradients_are_autograds(self):
        module, (x, y) = classifier(), rows()
        document, tensors, said = self.make(module, (x, y))
        self.assertEqual(said, [])
        exact = Call(module.f, body=nn.Linear(4, 3).double())
        exact.load_state_dict(module.state_dict())
        loss = exact(x.double(), y)
        loss.backward()
        self.assertEqual(document["dtype"], "float64")
        self.assertEqual(document["parameters"], ["body.weight", "body.bias"])
        self.assertEqual(tensors["loss"].item(), loss.item())
        wanted = torch.stack([described(p.grad) for p in exact.parameters()])
        torch.testing.assert_close(tensors["gradients"], wanted, rtol=1e-12, atol=1e-12)
        distance = (tensors["gradients"] - tensors["gradients.float32"]).abs().max().item()
        self.assertTrue(0 < distance < 1e-6, distance)
        self.assertTrue(torch.equal(tensors["input.input0"], x) and torch.equal(tensors["input.input1"], y))
        self.assertAlmostEqual(document["forward"]["loss"], loss.item(), places=6)

    def test_same_bytes(self):
        module = classifier()
        self.make(module, rows())
        first = self.path.with_suffix(".reference.safetensors").read_bytes()
        xlc_export.reference(module, rows(), self.path, input_names=["input0", "input1"])
        self.assertEqual(first, self.path.with_suffix(".reference.safetensors").read_bytes())

    def test_frozen_unread_and_tied(self):
        head = nn.Linear(4, 4, bias=False)
        module = Call(lambda m, x, y: F.cross_entropy(m.again(m.head(x)) + m.base, y), head=head, again=head,
                      base=nn.Parameter(torch.ones(4), requires_grad=False), unread=nn.Parameter(torch.ones(2)))
        document, tensors, _ = self.make(module, rows())
        self.assertEqual((document["parameters"], document["frozen"], document["ties"]),
                         (["unread", "head.weight"], ["base"], {"head.weight": ["again.weight"]}))
        self.assertTrue((tensors["gradients"][0] == 0).all() and (tensors["gradients"][1] != 0).all())

    def test_running_averages(self):
        module = Call(lambda m, x, y: F.cross_entropy(m.body(m.norm(x)), y), norm=nn.BatchNorm1d(4), body=nn.Linear(4, 3))
        x, y = rows(6)
        document, tensors, _ = self.make(module.train(), (x, y))
        self.assertEqual((document["buffers"], document["training"]), (["norm.running_mean", "norm.running_var"], True))
        torch.testing.assert_close(tensors["buffer.norm.running_mean"], 0.1 * x.double().mean(0), rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(tensors["begin.norm.running_var"], torch.ones(len(tensors["begin.norm.running_var"])).double())
        document, tensors, _ = self.make(module.eval(), (x, y))
        self.assertEqual((document["buffers"], document["training"]), ([], False))

    def test_large_buffers_are_projected(self):
        module = Call(lambda m, x, y: F.cross_entropy(m.body(x) + m.norm(x.repeat(1, 1025)).mean(), y), body=nn.Linear(4, 3),
                      norm=nn.BatchNorm1d(4100, affine=False))
        document, tensors, _ = self.make(module.train(), rows(4))
        self.assertEqual(document["projected"], ["norm.running_mean", "norm.running_var"])
        torch.testing.assert_close(tensors["buffer.norm.running_mean"],
                                   described(0.1 * rows(4)[0].double().repeat(1, 1025).mean(0)), rtol=1e-9, atol=1e-9)

    def test_short_types(self):
        module = classifier().to(torch.bfloat16)
        document, tensors, _ = self.make(module, (rows()[0].to(torch.bfloat16), rows()[1]))
        exact = F.cross_entropy(F.linear(rows()[0].to(torch.bfloat16).double(), module.body.weight.double(),
                                         module.body.bias.double()), rows()[1])
        self.assertAlmostEqual(tensors["loss"].item(), exact.item(), places=12)
        self.assertEqual((document["dtype"], module.body.weight.dtype), ("float64", torch.bfloat16))

    def test_casts_to_float32_are_to_float64(self):
        def norm(m, x, y):
            h = m.body(x).float()
            return F.cross_entropy((h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True, dtype=torch.float32) + 1e-5)).to(x.dtype), y)

        module, (x, y) = Call(norm, body=nn.Linear(4, 3)), rows()
        _, tensors, _ = self.make(module, (x, y))
        h = F.linear(x.double(), module.body.weight.double(), module.body.bias.double())
        exact = F.cross_entropy(h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-5), y)
        self.assertAlmostEqual(tensors["loss"].item(), exact.item(), places=12)

    def test_code_of_one_type(self):
        def narrow(m, x, y):
            assert x.dtype == torch.float32
            return F.cross_entropy(m.body(x), y)

        document, tensors, _ = self.make(Call(narrow, body=nn.Linear(4, 3)), rows())
        self.assertEqual(document["dtype"], "float32")
        self.assertFalse(torch.equal(tensors["gradients"], tensors["gradients.float32"]))

    def test_dropout_drops_nothing(self):
        def drop(m, x, y):
            h = F.dropout(m.drop(m.body(x)), 0.5)
            h = F.scaled_dot_product_attention(h[:, None], h[:, None], h[:, None], dropout_p=0.5)[:, 0] + m.cell(h[:, None])[0][:, 0]
            return F.cross_entropy(h, y)

        module = classifier(drop=nn.Dropout(0.5), cell=nn.RNN(3, 3, num_layers=2, dropout=0.5, batch_first=True))
        self.make(module, rows())
        module.train().f = drop
        with warnings.catch_warnings(action="ignore"):  # the file is of another forward
            found = read(xlc_export.reference(module, rows(), self.path, input_names=["input0", "input1"]))[1]
        self.assertEqual((module.cell.dropout, module.drop.p), (0.5, 0.5))
        cell = nn.RNN(3, 3, num_layers=2, batch_first=True).double()
        cell.load_state_dict(module.cell.state_dict())
        x, y = rows()
        h = F.linear(x.double(), module.body.weight.double(), module.body.bias.double())
        self.assertAlmostEqual(found["loss"].item(), F.cross_entropy(h + cell(h[:, None])[0][:, 0], y).item(), places=12)

    def test_none_of_a_file_that_draws_otherwise(self):
        module = Call(lambda m, x, y: F.cross_entropy(m.body(x) * (torch.rand_like(x[:, :1]) < 0.5), y), body=nn.Linear(4, 3))
        with self.assertRaisesRegex(xlc_export.NoReference, r"the file draws random numbers \(RandomUniformLike\)"):
            self.make(module, rows())


class Rows(References):
    def test_one_row_becomes_two(self):
        document, tensors, _ = self.make(classifier(), rows(1))
        self.assertEqual(document["rows"], 2)
        self.assertTrue(torch.equal(tensors["input.input0"][:1], rows(1)[0]))
        self.assertFalse(torch.equal(tensors["input.input0"][0], tensors["input.input0"][1]))

    def test_one_row_of_a_fixed_batch(self):
        document, _, _ = self.make(classifier(), rows(1), is_dynamic=False)
        self.assertEqual(document["rows"], 1)

    def test_batch_norms_get_four(self):
        module = Call(lambda m, x, y: F.cross_entropy(m.body(m.norm(x)), y), norm=nn.BatchNorm1d(4), body=nn.Linear(4, 3))
        self.assertEqual(self.make(module.train(), rows(2))[0]["rows"], 4)

    def test_few_of_many(self):
        self.assertEqual(self.make(classifier(), rows(30))[0]["rows"], 8)

    def test_zeros_become_rows_of_the_table(self):
        module = Call(lambda m, ids, y: F.cross_entropy(m.head(m.table(ids).mean(1)), y), table=nn.Embedding(50, 4),
                      head=nn.Linear(4, 30))
        ids, labels = torch.zeros(2, 8, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
        _, tensors, _ = self.make(module, (ids, labels))
        self.assertTrue(0 <= tensors["input.input0"].min() and 6 < tensors["input.input0"].max() < 50)
        self.assertTrue(0 <= tensors["input.input1"].min() and 2 < tensors["input.input1"].max() < 30)

    def test_equal_rows_and_equal_inputs(self):
        module = Call(lambda m, ids, labels: F.cross_entropy(m.head(m.table(ids)).flatten(0, 1), labels.flatten()),
                      table=nn.Embedding(6, 4), head=nn.Linear(4, 6))
        _, tensors, _ = self.make(module, (IDS[:1].repeat(2, 1), IDS))
        self.assertFalse(torch.equal(tensors["input.input0"][0], tensors["input.input0"][1]))
        _, tensors, _ = self.make(module, (IDS, IDS.clone()))
        self.assertTrue(torch.equal(tensors["input.input0"], IDS) and torch.equal(tensors["input.input1"], IDS.flip(0)))

    def test_ignored_labels_stay(self):
        module = Call(lambda m, ids, labels: F.cross_entropy(m.head(m.table(ids)).flatten(0, 1), labels.flatten()),
                      table=nn.Embedding(6, 4), head=nn.Linear(4, 6))
        labels = torch.tensor([[-100, 3, 3]])
        _, tensors, _ = self.make(module, (IDS[:1], labels))
        self.assertEqual((tensors["input.input1"] == -100).tolist(), [[True, False, False]] * 2)

    def test_masks_end_early(self):
        def masked(m, ids, mask, y):
            return F.cross_entropy(m.head((m.table(ids) * mask[..., None]).sum(1)), y)

        module = Call(masked, table=nn.Embedding(6, 4), head=nn.Linear(4, 6))
        mask = torch.ones(2, 3, dtype=torch.int64)
        _, tensors, _ = self.make(module, (IDS, mask, IDS[:, 0]), names=["ids", "attention_mask", "labels"])
        self.assertEqual(tensors["input.attention_mask"].tolist(), [[1, 1, 1], [1, 1, 0]])

    def test_rows_that_the_module_does_not_take(self):
        def strict(m, x, y):
            assert (x == 1).all()
            return F.cross_entropy(m.body(x), y)

        module, args = classifier(), (torch.ones(2, 4), torch.tensor([0, 1]))
        self.make(module, args)
        module.f = strict
        tensors = read(xlc_export.reference(module, args, self.path, input_names=["input0", "input1"]))[1]
        self.assertTrue((tensors["input.input0"] == 1).all())

    def test_large_floats_are_quantised(self):
        module = Call(lambda m, x, y: F.cross_entropy(m.body(x).mean((1, 2)), y), body=nn.Linear(4, 3))
        x = torch.randn(2, 100, 50, 4)
        document, tensors, _ = self.make(module, (x, torch.tensor([0, 1])))
        scale = document["scales"]["input0"]
        self.assertEqual(tensors["input.input0"].dtype, torch.int8)
        restored = tensors["input.input0"].double() * scale
        self.assertLessEqual((restored - x).abs().max().item(), scale / 2)
        exact = F.cross_entropy(F.linear(restored, module.body.weight.double(), module.body.bias.double()).mean((1, 2)),
                                torch.tensor([0, 1]))
        self.assertAlmostEqual(tensors["loss"].item(), exact.item(), places=12)


class Module(References):
    def test_left_as_it_was(self):
        def changing(m, x, y):
            m.calls += 1
            m.seen.add_(1)
            return F.cross_entropy(m.body(m.norm(x)), y) + 0 * torch.rand(1).sum()

        module = Call(changing, norm=nn.BatchNorm1d(4), body=nn.Linear(4, 3)).train()
        module.register_buffer("seen", torch.zeros(1))
        module.calls = 0
        plain = classifier()
        self.make(plain, rows(4))
        changing(module, *rows(4)).backward()
        state = {name: value.clone() for name, value in module.state_dict().items()}
        grads = [(p, p.grad, p.grad.clone(), p.data_ptr()) for p in module.parameters()]
        buffers, seed = [id(b) for b in module.buffers()], torch.random.get_rng_state()
        with warnings.catch_warnings(action="ignore"):  # the file is of another forward
            xlc_export.reference(module, rows(4), self.path, input_names=["input0", "input1"])
        for name, value in module.state_dict().items():
            self.assertTrue(torch.equal(value, state[name]) and value.dtype == state[name].dtype, name)
        for parameter, grad, values, place in grads:
            self.assertTrue(parameter.grad is grad and torch.equal(grad, values) and parameter.data_ptr() == place)
        self.assertEqual([id(b) for b in module.buffers()], buffers)
        self.assertTrue(torch.equal(torch.random.get_rng_state(), seed))
        self.assertEqual((module.calls, module.training, torch.get_default_dtype(), torch.finfo.__name__),
                         (1, True, torch.float32, "finfo"))

    def test_left_as_it_was_after_an_error(self):
        module = classifier()
        self.make(module, rows())
        module.f = lambda m, x, y: m.missing
        with self.assertRaisesRegex(xlc_export.NoReference, "fails on these rows: AttributeError"):
            xlc_export.reference(module, rows(), self.path, input_names=["input0", "input1"])
        self.assertEqual(module.body.weight.dtype, torch.float32)

    def test_logits(self):
        module = nn.Linear(4, 3)
        with self.assertRaisesRegex(xlc_export.NoReference, "pass loss="):
            self.make(module, rows()[:1], names=["x"], is_dynamic=False)
        x, y = rows()
        document, tensors, said = self.make(module, (x,), names=["x"], is_dynamic=False, loss=F.cross_entropy, labels={"y": y})
        self.assertEqual((document["loss"], document["labels"], said), ("given", "y", []))
        self.assertTrue(torch.equal(tensors["input.y"], y))
        self.assertAlmostEqual(document["forward"]["loss"], tensors["loss"].item(), places=6)
        with self.assertRaisesRegex(xlc_export.NoReference, "must be given together"):
            xlc_export.reference(module, (x,), self.path, loss=F.cross_entropy)

    def test_no_values(self):
        module = classifier()
        self.make(module, rows())
        with self.assertRaisesRegex(xlc_export.NoReference, "device meta"):
            xlc_export.reference(classifier().to("meta"), rows(), self.path)

    def test_export_writes_it(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "model.onnx"
        beside = path.with_suffix(".reference.safetensors")
        export = lambda module, args, **more: xlc_export.export(module, args, path, verbose=False, **more)  # noqa: E731
        with warnings.catch_warnings(action="ignore"):
            export(classifier(), rows())
        self.assertEqual(read(beside)[0]["rows"], 3)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            export(nn.Linear(4, 3), rows()[:1])
        self.assertEqual(len([x for x in said if "no reference is written" in str(x.message) and "loss=" in str(x.message)]), 1)
        self.assertFalse(beside.exists())  # that of the older file is gone, too
        with warnings.catch_warnings(action="ignore"):
            export(nn.Linear(4, 3), rows()[:1], loss=F.cross_entropy, labels=rows()[1])
            self.assertEqual(read(beside)[0]["labels"], "labels")
            export(classifier(), rows(), reference=False)
        self.assertFalse(beside.exists())


class Names(References):
    def test_kwargs_of_both_exporters(self):
        class Three(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(4, 3)

            def forward(self, x, shift=None, y=None):
                return F.cross_entropy(self.body(x) + shift, y)

        x, y = rows()
        for dynamo in (True, False):
            for names in (None, ["p", "q", "r"]):
                with self.subTest(dynamo=dynamo, names=names), tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "model.onnx"
                    with warnings.catch_warnings(action="ignore"):
                        xlc_export.export(Three(), (x,), path, kwargs=dict(y=y, shift=torch.randn(3, 3)), dynamo=dynamo,
                                          input_names=names, **({"verbose": False} if dynamo else {}))
                    document, tensors = read(path.with_suffix(".reference.safetensors"))
                    self.assertAlmostEqual(document["forward"]["loss"], tensors["loss"].item(), places=5)

    def test_inputs_that_the_file_lacks(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(4, 3)

            def forward(self, x, unread, y):
                return F.cross_entropy(self.body(x), y)

        x, y = rows()
        module = Two()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            with warnings.catch_warnings(action="ignore"):
                torch.onnx.export(module, (x, x * 2, y), path, dynamo=False, input_names=["x", "unread", "y"])
            document, tensors = read(xlc_export.reference(module, (x, x * 2, y), path))
            self.assertEqual(document["unmatched"], ["unread"])
            self.assertEqual({name for name in tensors if name.startswith("input.")}, {"input.x", "input.y"})
            with self.assertRaisesRegex(xlc_export.NoReference, "the file has the inputs .*pass the names of the arguments, in their order, as input_names="):
                xlc_export.reference(module, (x, x * 2, y), path, input_names=["a", "b", "c"])

    def test_a_file_that_is_not_the_module(self):
        module, (x, y) = classifier(), rows()
        self.make(module, (x, y))
        with torch.no_grad():
            module.body.weight.mul_(2)
        with self.assertWarnsRegex(UserWarning, "the file's loss is .* PyTorch's is"):
            xlc_export.reference(module, (x, y), self.path, input_names=["input0", "input1"])


if __name__ == "__main__":
    unittest.main()
