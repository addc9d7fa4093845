#!/usr/bin/env python3
"""Tests of python/xlc that need no PyTorch: python/tests/test_xlc.py XLC EXAMPLES, the command and the folder of examples."""

import doctest
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
if __name__ == "__main__":
    os.environ["XLC"], EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv.pop(2)).resolve()
    del sys.argv[1]
import xlc  # noqa: E402  pylint: disable=wrong-import-position

SPEC = {"dp": 2, "zero_stage": 3, "batch": {"micro": 4}, "loss": {"type": "cross_entropy", "logits": "logits", "labels": "y"}}


class Xlc(unittest.TestCase):
    """With the MLP of the examples."""

    def setUp(self):
        self.model, self.file = EXAMPLES / "mlp" / "logits.onnx", EXAMPLES / "mlp" / "zero3.yaml"
        self.data = {name: EXAMPLES / "mlp" / f"{name}.npy" for name in ("x", "y")}
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_examples_of_docstrings(self):
        for module in ("_command", "_model", "_results", "_program"):
            self.assertEqual(doctest.testmod(importlib.import_module(f"xlc.{module}")).failed, 0)

    def test_a_plan_is_what_the_command_prints(self):
        said = subprocess.run([os.environ["XLC"], "plan", self.model, "--spec", self.file, "--json"], check=True, capture_output=True, text=True)
        plan = xlc.plan(self.model, self.file)
        self.assertEqual(plan.to_dict(), json.loads(said.stdout))
        self.assertEqual(plan.groups[0].memory.total, plan["groups"][0]["memory"]["total"])
        self.assertIn("memory of each of ranks", str(plan))
        self.assertTrue(plan._repr_html_().startswith("<pre>"))
        with self.assertRaisesRegex(AttributeError, "there is no 'grups'; the keys are model, dp"):
            plan.grups  # pylint: disable=pointless-statement

    def test_a_spec_is_a_file_a_dict_or_keys(self):
        plans = [xlc.plan(self.model, SPEC), xlc.plan(self.model, **SPEC), xlc.plan(self.model, {"dp": 2}, **{**SPEC, "dp": 2})]
        self.assertEqual(plans[0].to_dict(), plans[1].to_dict())
        self.assertEqual(plans[0].to_dict(), plans[2].to_dict())
        with self.assertRaisesRegex(TypeError, "a spec file cannot be combined with keys: dp"):
            xlc.plan(self.model, self.file, dp=2)

    def test_a_plan_that_does_not_fit_is_a_result(self):
        plan = xlc.plan(self.model, **SPEC, cluster={"device_memory": "1MiB"})
        self.assertFalse(plan.fits)

    def test_what_is_refused_has_its_place(self):
        with self.assertRaises(xlc.Error) as caught:
            xlc.plan(self.model, **SPEC, zero_stge=2)
        error = caught.exception
        self.assertEqual((error.code, error.first.file, error.first.line), (1, "spec", 12))
        self.assertEqual(error.first.message, "unknown key 'zero_stge'; did you mean 'zero_stage'?")
        with self.assertRaisesRegex(xlc.Error, "nowhere.onnx: error: "):
            xlc.inspect(self.folder / "nowhere.onnx")
        with self.assertRaisesRegex(TypeError, "a module needs example arguments"):
            xlc.plan(object(), **SPEC)

    def test_warnings_of_a_command_that_succeeds(self):
        for call in (lambda: xlc.plan(self.model, spec), lambda: xlc.compile(self.model, spec, self.folder / "train")):
            spec = {**SPEC, "trainable": ["*", "!nowhere.*"]}
            with self.assertWarnsRegex(xlc.Warning, "trainable has the pattern '!nowhere.\\*', which does not match a parameter") as caught:
                call()
            self.assertEqual((len(caught.warnings), caught.filename), (1, __file__))
        with warnings.catch_warnings(action="error"):
            xlc.plan(self.model, SPEC)

    def test_notes_of_a_warning(self):
        said = "m.onnx: warning: one\nm.onnx: note: of one\n  source\nspec:2:3: warning: two\nm.onnx: note: of two\nspec: error: three"
        script = f"import sys; sys.stderr.write({said!r})"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            xlc._command.run([sys.executable, "-c", script])  # pylint: disable=protected-access
        self.assertEqual([str(each.message) for each in caught], ["m.onnx: one\nnote: of one\n  source", "spec:2:3: two\nnote: of two"])
        self.assertEqual({each.filename for each in caught}, {__file__})

    def test_version(self):
        self.assertEqual(xlc.__version__, xlc.version())
        self.assertFalse(hasattr(xlc, "__nothing__"))
        with unittest.mock.patch.object(xlc, "version", side_effect=FileNotFoundError("no command")):
            self.assertFalse(hasattr(xlc, "__version__"))

    def test_data_that_is_refused(self):
        program = xlc.compile(self.model, SPEC, self.folder / "train")
        for data in ([self.data], object()):
            with self.assertRaisesRegex(TypeError, f"data must be a folder, or a dict of .* by input, .*not {type(data).__name__}"):
                xlc.train(program, 1, data=data)

    def test_a_program_trains(self):
        program = xlc.compile(self.model, {**SPEC, "eval": {"metrics": ["accuracy"]}}, self.folder / "train")
        seen = xlc.train(program, 5, data=self.data, progress=False)
        self.assertEqual([line["step"] for line in seen.log], [1, 2, 3, 4, 5])
        self.assertEqual(len(seen.losses), 5)
        self.assertLess(seen.losses[-1], seen.losses[0])
        self.assertTrue(seen.parameters.exists())
        before, after = (xlc.evaluate(program, data=self.data, init=init, options=["--data", EXAMPLES / "mlp"]) for init in (None, seen.parameters))
        self.assertLess(after["loss"], before["loss"])
        with self.assertRaises(xlc.Error) as caught:
            xlc.train(program, 5, data=self.folder)
        self.assertEqual(caught.exception.code, 1)

    def test_a_program_is_proved(self):
        self.assertIn("all equal", xlc.verify(self.model, self.file, kernels=False).text)

    def test_an_interrupt_ends_a_child_cleanly(self):
        program = xlc.compile(self.model, SPEC, self.folder / "train")
        def interrupt(line):
            if line.startswith("step    3"):
                raise KeyboardInterrupt
        kept = self.folder / "kept.safetensors"
        with self.assertRaises(KeyboardInterrupt):
            xlc._command.run([str(program.path), "--steps", "100000000", "--data", str(EXAMPLES / "mlp"), "--save", str(kept)], on_line=interrupt)  # pylint: disable=protected-access
        self.assertTrue(kept.exists(), "the run has saved what it had learned")


if __name__ == "__main__":
    unittest.main()
