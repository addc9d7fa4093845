"""python/xlc with modules, which needs PyTorch and the command: what it warns of, what it refuses, what recurrent modules may be."""

import pathlib
import tempfile
import unittest
import warnings

import torch
import xlc
import xlc_export
from torch import nn

from call import Call

X = torch.linspace(-1, 1, 48).reshape(4, 3, 4)
SPEC = {"dp": 2, "batch": {"micro": 4}, "loss": {"type": "cross_entropy", "logits": "logits", "labels": "y"}}
NAMES = {"input_names": ["x"], "output_names": ["logits"]}
EVAL = torch.onnx.TrainingMode.EVAL


def net():
    parts = (nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1), nn.Dropout(0.0), nn.AlphaDropout(0.2), nn.LayerNorm(4))
    return nn.Sequential(*parts, nn.BatchNorm1d(4), nn.BatchNorm1d(4, track_running_stats=False))


def plan(module, x=X, **options):
    return xlc.plan(module, SPEC, args=x, export_options={**NAMES, **options})


class Modes(unittest.TestCase):
    """Warnings of what eval mode turns off."""

    def warnings_of(self, module, call=None, **options):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            path = pathlib.Path(folder) / "model.onnx"
            (call or xlc_export.export)(module, (X[:, 0],), path, reference=False, verbose=False, **options)
        found = [each for each in caught if "eval mode" in str(each.message)]
        self.assertEqual({each.filename for each in found} - {__file__}, set())
        return [str(each.message) for each in found]

    def test_a_module_in_eval_mode(self):
        words = ("the module is in eval mode: 2 dropouts are inactive and 2 batch norms use their running averages; call "
                 "module.train() first to train with them, or pass training=torch.onnx.TrainingMode.EVAL if this is intended")
        self.assertEqual(self.warnings_of(net().eval()), [words])
        self.assertEqual(self.warnings_of(net().eval(), xlc.export), [words])
        one = nn.Sequential(nn.Linear(4, 4), nn.Dropout()).eval()
        self.assertIn("1 dropout is inactive; call", self.warnings_of(one)[0])

    def test_a_part_in_eval_mode(self):
        module = Call(lambda m, x: m.body(x), body=net().eval())
        self.assertIn("module 'body' (Sequential) is in eval mode: 2 dropouts", self.warnings_of(module)[0])
        for parameter in module.body.parameters():
            parameter.requires_grad = False
        module.head = nn.Linear(4, 4)
        self.assertEqual(self.warnings_of(module), [])

    def test_what_is_intended(self):
        frozen = net()
        frozen[1].eval()
        for module, options in ((net(), {}), (frozen, {}), (net().eval(), {"training": EVAL}),
                                (net().eval(), {"training": torch.onnx.TrainingMode.TRAINING}), (nn.Linear(4, 4).eval(), {})):
            self.assertEqual(self.warnings_of(module, **options), [])

    def test_a_warning_points_to_the_caller(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            plan(net().eval(), X[:, 0])
        for words in ("the module is in eval mode: 2 dropouts", "model: 2 batch norms are in inference form"):
            self.assertEqual([each.filename for each in caught if words in str(each.message)], [__file__])


class RefusedByExport(unittest.TestCase):
    """By both exporters; running averages are the same on all ranks, so a SyncBatchNorm in eval mode is accepted."""

    def check(self, words, module, exporters=(True, False)):
        for dynamo in exporters:
            with self.subTest(dynamo=dynamo), self.assertRaises(xlc_export.ExportRefused) as raised:
                xlc_export.export(module, (X,), "/nowhere/model.onnx", dynamo=dynamo)
            self.assertIn(words, str(raised.exception))

    def test_recurrent_modules(self):
        for cell in (nn.LSTM(4, 4, num_layers=2, dropout=0.5), nn.GRU(4, 4).eval()):
            name = type(cell).__name__
            self.check(f"module '0' ({name}) is not supported; write it as a loop over nn.{name}Cell", nn.Sequential(cell))

    def test_dropout_between_layers(self):
        module = nn.Sequential(nn.RNN(4, 4, num_layers=2, dropout=0.5))
        self.check("module '0' (RNN) drops elements between its layers (dropout = 0.5)", module, [True])
        self.check("module '0' (RNN) is not supported with dynamo=False", module, [False])

    def test_batch_norms_of_all_ranks(self):
        module = nn.Sequential(nn.Linear(4, 4), nn.SyncBatchNorm(4), nn.SyncBatchNorm(4))
        self.check("module '1' (SyncBatchNorm) and 1 more would normalise over the rows of all ranks", module)
        self.check("use BatchNorm if that is acceptable, or GroupNorm or LayerNorm", module)
        self.assertTrue(plan(module.eval(), X[:, 0], training=EVAL).fits)


class Exported(unittest.TestCase):
    """By xlc.export, with what xlc_export.export leaves to the caller."""

    def test_the_batch_is_dimension_0(self):
        for dynamo in (True, False):
            with self.subTest(dynamo=dynamo), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", UserWarning)
                path = pathlib.Path(folder) / "model.onnx"
                xlc.export(nn.Linear(4, 4), X[:2, 0], path, dynamo=dynamo, **NAMES)
                self.assertTrue(xlc.plan(path, {**SPEC, "batch": {"micro": 3}}).fits)
                self.assertFalse([each for each in said if "reference" in str(each.message)])


class Refused(unittest.TestCase):
    """By xlc, as an Error."""

    def check(self, module, words, cause, x=X[:, 0], **options):
        with self.assertRaises(xlc.Error) as raised:
            plan(module, x, **options)
        self.assertEqual((raised.exception.code, type(raised.exception.__cause__).__name__), (1, cause))
        self.assertIn(words, raised.exception.first.message)
        return raised.exception.first

    def test_modules_that_are_refused(self):
        self.check(nn.Sequential(nn.Linear(4, 4), nn.SyncBatchNorm(4)), "module '1' (SyncBatchNorm)", "ExportRefused")
        self.check(Call(lambda m, x: m.rnn(x)[0], rnn=nn.LSTM(4, 4, 2, dropout=0.1)), "write it as a loop over nn.LSTMCell",
                   "ExportRefused", X)

    def test_branches_on_values(self):
        def branch(m, x):
            return m.linear(x) if x.sum() > 0 else x

        def loop(m, x):
            while x.abs().max() > 0.5:
                x = x / 2
            return m.linear(x)
        for f in (branch, loop):
            first = self.check(Call(f, linear=nn.Linear(4, 4)), "forward branches on a tensor's value", "TorchExportError")
            self.assertEqual((first.file, first.line), (__file__, f.__code__.co_firstlineno + 1))
        self.check(Call(lambda m, x: torch.cond(x.sum() > 0, m.linear, torch.sin, (x,)), linear=nn.Linear(4, 4)),
                   "compute both branches and use torch.where", "TorchExportError")
        with self.assertRaises(torch.onnx.errors.OnnxExporterError):  # of another kind: as PyTorch raises it
            plan(Call(lambda m, x: m.linear(x), linear=nn.Linear(5, 4)), X[:, 0])

    def test_names_of_temporary_files(self):
        with tempfile.TemporaryDirectory() as folder:
            program = xlc.compile(nn.Linear(4, 4), SPEC, pathlib.Path(folder) / "train", args=X[:, 0], export_options=NAMES)
            with self.assertRaises(xlc.Error) as raised:
                xlc.train(program, 1, data={"x": torch.zeros(16, 4), "y": torch.zeros(10, dtype=torch.int64)}, progress=False)
            self.assertEqual(str(raised.exception), "data 'y': error: has 10 rows, but data 'x' has 16")
            with self.assertRaisesRegex(TypeError, "data 'y' must be a .npy file or an array of NumPy or PyTorch"):
                xlc.train(program, 1, data={"x": torch.zeros(16, 4), "y": object()})
        with self.assertRaisesRegex(xlc.Error, "^spec:.*: error: "):
            xlc.plan(nn.Linear(4, 4), {**SPEC, "dpp": 2}, args=(X[:, 0],), export_options=NAMES)


class Recurrent(unittest.TestCase):
    """What the refusals of LSTM and GRU recommend is compiled."""

    def test_loops_over_cells(self):
        def loop(m, x):
            state = None
            for step in range(x.shape[1]):
                state = m.cell(x[:, step], state)
            return state[0] if isinstance(state, tuple) else state
        y = torch.tensor([0, 1, 2, 3])
        for cell in (nn.LSTMCell(4, 4), nn.GRUCell(4, 4), nn.RNNCell(4, 4)):
            self.check(Call(loop, cell=cell), y)
        self.check(Call(lambda m, x: m.cell(x)[0][:, -1], cell=nn.RNN(4, 4, 2, batch_first=True)), y)

    def check(self, module, y):
        """The first two losses are PyTorch's."""
        spec, wanted = {**SPEC, "dp": 1, "optimizer": {"type": "sgd", "lr": 0.5}}, []
        with tempfile.TemporaryDirectory() as folder:
            program = xlc.compile(module, spec, pathlib.Path(folder) / "train", args=X, export_options=NAMES)
            found = xlc.train(program, 2, data={"x": X, "y": y}, progress=False).losses
        optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
        for _ in found:
            optimizer.zero_grad()
            wanted.append(nn.functional.cross_entropy(module(X), y))
            wanted[-1].backward()
            optimizer.step()
        torch.testing.assert_close(torch.tensor(found), torch.stack(wanted).detach(), rtol=1e-5, atol=0)


if __name__ == "__main__":
    unittest.main()
