"""Each small model, by both exporters: a valid file, PyTorch's outputs and parameters, PyTorch's training."""

import json
import os
import pathlib
import tempfile
import unittest
import warnings

import numpy
import onnx
import onnxruntime
import torch
import xlc_export

import models
import program

# What the exporters cannot do themselves: model -> words of their message.
EXPORTER_FAILS = {}


def expected_parameters(module):
    """PyTorch's own account: name -> (shape, other names, whether it is trained)."""
    names = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return {name: (list(parameter.shape), names[id(parameter)][1:], parameter.requires_grad)
            for name, parameter in module.named_parameters()}


class Models(unittest.TestCase):
    def test_all(self):  # XLC_ONLY: some of them
        only = os.environ.get("XLC_ONLY", "").split()
        for model in models.MODELS:
            if only and model.name not in only:
                continue
            for dynamo in (True, False):
                with self.subTest(model=model.name, dynamo=dynamo), tempfile.TemporaryDirectory() as folder:
                    self.check(model, dynamo, pathlib.Path(folder) / "model.onnx")

    def check(self, model, dynamo, file):
        module = model.make()
        if model.name == "cnn":
            module.train()
        example = model.example()
        try:
            with warnings.catch_warnings(action="ignore"):
                xlc_export.export(module, example, file, **model.options(dynamo))
        except Exception as error:
            words = EXPORTER_FAILS.get((model.name, dynamo))
            if words is None or words not in str(error):
                raise
            self.skipTest(f"the exporter fails: {words}")
        self.check_file(module, example, file, model)
        self.check_parameters(module, file)
        for trace in sorted(model.folder.glob("trace-*.json")):
            wanted = json.loads(trace.read_text())
            if "loss" not in wanted:  # mixed precision
                continue
            losses, norms = program.train(file, model, wanted)
            far = program.distance(losses, wanted["loss"]), program.distance(norms, wanted["grad_norm"])
            print(f"{model.name} {'dynamo' if dynamo else 'torchscript'} {trace.stem}: {far[0]:.0e} {far[1]:.0e}", flush=True)
            self.assertLessEqual(far[0], 5e-6)
            self.assertLessEqual(far[1], 5e-5)

    def check_file(self, module, example, file, model):
        onnx.checker.check_model(str(file), full_check=True)
        options = onnxruntime.SessionOptions()  # it would fuse batch norms in training with convolutions
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        got = session.run(None, {name: x.numpy() for name, x in zip(model.inputs, example)})[0]
        with torch.no_grad():
            wanted = module(*example).numpy()
        numpy.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)

    def check_parameters(self, module, file):
        shown = program.inspect(file)
        ties = {}
        for tie in shown["ties"]:
            ties.setdefault(tie["parameter"], []).append(tie["name"])
        got = {entry["name"]: (entry["shape"], ties.get(entry["name"], []), "frozen" not in entry["name_from"])
               for entry in shown["parameters"]}
        self.assertEqual(got, expected_parameters(module))
        self.assertEqual([entry["name_from"] for entry in shown["parameters"] if "the file" not in entry["name_from"]], [])


if __name__ == "__main__":
    unittest.main()
