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
        self.assertEqual((error.code, error.first.file, error.first.line), (1, "<stdin>", 12))
        self.assertEqual(error.first.message, "unknown key 'zero_stge'; did you mean 'zero_stage'?")
        with self.assertRaisesRegex(xlc.Error, "nowhere.onnx: error: "):
            xlc.inspect(self.folder / "nowhere.onnx")
        with self.assertRaisesRegex(TypeError, "a module needs example arguments"):
            xlc.plan(object(), **SPEC)

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
