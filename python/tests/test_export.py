"""What a file keeps of training, and what is refused: small modules, each by both exporters."""

import json
import pathlib
import tempfile
import unittest
import warnings

import numpy
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
import xlc_export
from torch import nn

X = torch.linspace(-1, 1, 8).reshape(2, 4)
IDS = torch.tensor([[0, 1, 2], [3, 1, 5]])


class Call(nn.Module):
    """A module whose forward is a function of it and the inputs."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        self.linear = nn.Linear(4, 4)
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.f(self, *inputs)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(context, gradient):
        return 7 * gradient


def export(module, inputs, dynamo, **options):
    """The file as a model, and its path; checked as ONNX, its outputs compared with PyTorch's."""
    path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
    names = [f"input{i}" for i in range(len(inputs))]
    with warnings.catch_warnings(action="ignore"):
        xlc_export.export(module, inputs, path, **{"input_names": names, "dynamo": dynamo, **options},
                          **({"verbose": False} if dynamo else {}))
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()  # it would fuse batch norms in training with convolutions, as in inference
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    got = session.run(None, {x.name: value.detach().numpy() for x, value in zip(session.get_inputs(), inputs)})[0]
    numpy.testing.assert_allclose(got, module(*inputs).detach().numpy(), rtol=1e-4, atol=1e-5)
    return onnx.load(path), path


def record(model):
    return json.loads(next(entry.value for entry in model.metadata_props if entry.key == "xlc.export"))


def marks(model, key):
    """What the nodes with this key say, and the names of what they read."""
    found = []
    for node in model.graph.node:
        values = [entry.value for entry in node.metadata_props if entry.key == f"xlc.{key}"]
        found += [(node.op_type, *values, list(node.input))] if values else []
    return found


def initializers(model):
    return {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


class Both(unittest.TestCase):
    def each(self):
        for dynamo in (True, False):
            yield self.subTest(dynamo=dynamo), dynamo


class Kept(Both):
    def check_parameters(self, make, inputs=(X,), **options):
        """Every parameter is an initializer of its name, shape and value."""
        for test, dynamo in self.each():
            with test:
                module = make()
                model, _ = export(module, inputs, dynamo, **options)
                held = initializers(model)
                for name, parameter in module.named_parameters():
                    numpy.testing.assert_array_equal(held[name], parameter.detach().numpy())
                self.assertEqual([entry["name"] for entry in record(model)["parameters"]],
                                 [name for name, _ in module.named_parameters()])
                reads = [entry["reads"] for entry in record(model)["parameters"]]
                self.assertTrue(all(reads), reads)

    def test_equal_values_and_zeros(self):
        self.check_parameters(lambda: nn.Sequential(nn.LayerNorm(4), nn.LayerNorm(4), nn.Linear(4, 4), nn.LayerNorm(4)))

    def test_scalars_and_expressions(self):
        self.check_parameters(lambda: Call(lambda m, x: m.linear(x) * (1 + m.w) * m.s.exp() + (m.a @ m.b)[0] + m.w.sum(),
                                           w=nn.Parameter(torch.zeros(4)), s=nn.Parameter(torch.tensor(0.0)),
                                           a=nn.Parameter(torch.ones(1, 2)), b=nn.Parameter(torch.ones(2, 4))))

    def test_group_norm(self):
        self.check_parameters(lambda: nn.Sequential(nn.Conv1d(4, 4, 1), nn.GroupNorm(2, 4)), (torch.randn(2, 4, 3),))

    def test_attention(self):  # with need_weights: without, the old exporter fails by itself
        self.check_parameters(lambda: Call(lambda m, x: m.attention(m.linear(x), x, x, need_weights=True)[0],
                                           attention=nn.MultiheadAttention(4, 2, batch_first=True)), (torch.randn(2, 3, 4),))

    def test_batch_norm_in_training(self):
        make = lambda: nn.Sequential(nn.Conv1d(4, 4, 1, bias=False), nn.BatchNorm1d(4), nn.ReLU()).train()
        self.check_parameters(make, (torch.randn(2, 4, 3),))
        for test, dynamo in self.each():
            with test:
                module = make()
                model, _ = export(module, (torch.randn(2, 4, 3),), dynamo)
                norm = next(node for node in model.graph.node if node.op_type == "BatchNormalization")
                self.assertEqual({a.name: a.i for a in norm.attribute}["training_mode"], 1)
                numpy.testing.assert_array_equal(initializers(model)["1.running_mean"], numpy.zeros(4))
                self.assertTrue(module.training)

    def test_standardised_weights(self):  # NFNets: two norms of equal constants, of which none is a running average
        standard = lambda m, w: F.batch_norm(w.reshape(1, 4, -1), None, None, weight=m.gain, training=True).reshape(w.shape)
        self.check_parameters(lambda: Call(lambda m, x: F.linear(F.linear(m.linear(x), standard(m, m.a)), standard(m, m.b)),
                                           a=nn.Parameter(torch.randn(4, 4)), b=nn.Parameter(torch.randn(4, 4)),
                                           gain=nn.Parameter(torch.full((4,), 0.5))))

    def test_short_types_keep_their_constants(self):
        module = Call(lambda m, x: m.linear(x) * 0.044715).to(torch.bfloat16)
        path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
        with warnings.catch_warnings(action="ignore"):
            xlc_export.export(module, (X.to(torch.bfloat16),), path, input_names=["x"], verbose=False)
        numbers = [onnx.numpy_helper.to_array(node.attribute[0].t) for node in onnx.load(path).graph.node
                   if node.op_type == "Constant" and node.attribute[0].name == "value"]
        self.assertIn(numpy.float32(0.044715), [x.astype(numpy.float32).ravel()[0] for x in numbers if x.size == 1])

    def test_training_mode_for_a_while(self):
        for test, dynamo in self.each():
            with test:
                module = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).eval()
                path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
                with warnings.catch_warnings(action="ignore"):
                    xlc_export.export(module, (X,), path, dynamo=dynamo, training=torch.onnx.TrainingMode.TRAINING)
                self.assertTrue(record(onnx.load(path))["training"])
                self.assertFalse(module.training or module[1].training)
                self.assertEqual(module[1].num_batches_tracked, 0)

    def test_ties_frozen_unread_buffers(self):
        for test, dynamo in self.each():
            with test:
                module = Call(lambda m, x: m.again(m.linear(x)) * m.still * m.mask, again=nn.Linear(4, 4, bias=False),
                              still=nn.Parameter(torch.ones(4), requires_grad=False), extra=nn.Parameter(torch.ones(2)))
                module.again.weight = module.linear.weight
                module.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0, 2.0]), persistent=False)
                model, _ = export(module, (X,), dynamo)
                entries = {entry["name"]: entry for entry in record(model)["parameters"]}
                self.assertEqual(entries["linear.weight"]["ties"], ["again.weight"])
                self.assertEqual(entries["linear.weight"]["reads"], 2)
                self.assertFalse(entries["still"]["requires_grad"])
                self.assertEqual(entries["extra"]["reads"], 0)
                self.assertIn("extra", initializers(model))
                self.assertEqual(record(model)["buffers"][0]["name"], "mask")
                self.assertFalse(record(model)["buffers"][0]["persistent"])

    def test_dropout_is_listed(self):
        for test, dynamo in self.each():
            with test:
                model, _ = export(Call(lambda m, x: m.drop(m.linear(x)), drop=nn.Dropout(0.25)).eval(), (X,), dynamo)
                self.assertEqual(record(model)["dropout"], [{"module": "drop", "p": 0.25, "training": False}])

    def test_external_data(self):
        for test, dynamo in self.each():
            with test:
                module = nn.Linear(4, 300)
                model, path = export(module, (X,), dynamo, external_data=True)
                self.assertLess(path.stat().st_size, 4000)
                self.assertGreater(path.with_name("model.onnx.data").stat().st_size, 4 * 4 * 300)
                numpy.testing.assert_array_equal(initializers(model)["weight"], module.weight.detach().numpy())

    def test_dynamic_names_and_kwargs(self):
        for test, dynamo in self.each():
            with test:
                axes = dict(dynamic_shapes=({0: "batch"},)) if dynamo else dict(dynamic_axes={"input0": {0: "batch"}})
                model, _ = export(nn.Linear(4, 2), (X,), dynamo, **axes)
                self.assertEqual(model.graph.input[0].type.tensor_type.shape.dim[0].dim_param, "batch")
                self.assertEqual([x.name for x in model.graph.input], ["input0"])

    def test_inputs_that_are_one_tensor(self):
        table = lambda m, ids, labels: F.cross_entropy(m.e(ids).flatten(0, 1), labels.flatten())
        for test, dynamo in self.each():
            with test:
                module, other = Call(table, e=nn.Embedding(6, 6)), IDS.flip(0)
                named = {"dynamic_shapes": (({0: "batch", 1: "sequence"},) * 2,)} if dynamo else {}
                _, path = export(module, (IDS, IDS), dynamo, **named)
                session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
                got = session.run(None, {"input0": IDS.numpy(), "input1": other.numpy()})[0]
                numpy.testing.assert_allclose(got, module(IDS, other).detach().numpy(), rtol=1e-5)

    def test_an_input_that_is_a_parameter(self):
        for test, dynamo in self.each():
            with test:
                module = Call(lambda m, x: m.linear(x) * m.w, w=nn.Parameter(torch.ones(4)))
                model, _ = export(module, (module.w,), dynamo)
                self.assertEqual([x.name for x in model.graph.input], ["input0"])
                self.assertEqual({entry["name"]: entry["reads"] for entry in record(model)["parameters"]}["w"], 1)

    def test_label_smoothing(self):
        target = torch.tensor([1, -100])
        for reduction in ("mean", "sum"):
            for test, dynamo in self.each():
                with test:
                    loss = lambda m, x, y: F.cross_entropy(m.linear(x), y, label_smoothing=0.3, reduction=reduction)
                    export(Call(loss), (X, target), dynamo)

    def test_probabilities_as_targets(self):
        target = torch.tensor([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]])
        for options in ({}, {"label_smoothing": 0.3, "reduction": "sum"}, {"weight": torch.arange(1.0, 5)}):
            for test, dynamo in self.each():
                with test:
                    loss = lambda m, x, y: F.cross_entropy(m.linear(x), y, **options)
                    model, _ = export(Call(loss), (X, target), dynamo)
                    self.assertNotIn("SoftmaxCrossEntropyLoss", {node.op_type for node in model.graph.node})

    def test_pools_with_a_divisor(self):
        for test, dynamo in self.each():
            with test:
                pool = nn.AvgPool2d(2, 1, padding=1, count_include_pad=False, divisor_override=3)
                export(Call(lambda m, x: pool(m.linear(x)[None, None])), (X,), dynamo)
                with self.assertRaisesRegex(xlc_export.ExportRefused, "ceil_mode"):
                    pool.ceil_mode = True
                    export(Call(lambda m, x: pool(m.linear(x)[None, None])), (X,), dynamo)

    def test_means_of_scatters(self):
        index = torch.tensor([[0, 0, 2, 0], [3, 3, 1, 3]])
        for includes in (True, False):
            for test, dynamo in self.each():
                with test:
                    f = lambda m, x, i: m.linear(x).scatter_reduce(1, i, x * 2, "mean", include_self=includes)
                    export(Call(f), (X, index), dynamo)
                    with self.assertRaisesRegex(xlc_export.ExportRefused, "index_reduce"):
                        f = lambda m, x, i: m.linear(x).index_reduce(1, i[0], x * 2, "mean")
                        export(Call(f), (X, index), dynamo)

    def test_averages_of_instances(self):
        norm = nn.InstanceNorm1d(4, affine=True, track_running_stats=True)
        module, inputs = Call(lambda m, x: m.norm(m.linear(x)), norm=norm).train(), (torch.rand(2, 4, 4),)
        with self.assertRaisesRegex(xlc_export.ExportRefused, "dynamo=True"):
            export(module, inputs, False)
        model, _ = export(module, inputs, True)
        kept = {p.value: node.output[0] for node in model.graph.node for p in node.metadata_props if p.key == "xlc.buffer"}
        self.assertEqual(set(kept), {"norm.running_mean", "norm.running_var"})
        with self.assertRaisesRegex(xlc_export.ExportRefused, "runs twice"):
            export(Call(lambda m, x: m.norm(m.norm(x)), norm=norm).train(), inputs, True)

    def test_gaussian_loss(self):
        for test, dynamo in self.each():
            with test:
                loss = lambda m, x, y: F.gaussian_nll_loss(m.linear(x), y, m.linear(x * 2).abs(), eps=0.3)
                model, _ = export(Call(loss), (X, X * 3), dynamo)
                self.assertEqual(len(marks(model, "stop_gradient")), 1)

    def test_variance(self):  # which PyTorch decomposes with autograd functions of its own
        for test, dynamo in self.each():
            with test:
                export(Call(lambda m, x: m.linear(x).var(0)), (X,), dynamo)

    def test_forward_hooks_are_in_the_graph(self):
        for test, dynamo in self.each():
            with test:
                module = Call(lambda m, x: m.linear(x))
                module.linear.register_forward_hook(lambda inner, inputs, output: output * 3)
                module.register_forward_hook(lambda inner, inputs, output: output + 1)
                export(module, (X,), dynamo)


class Stops(Both):
    def check(self, f, wanted, **parts):
        for test, dynamo in self.each():
            with test:
                model, _ = export(Call(f, **parts), (X,), dynamo)
                found = marks(model, "stop_gradient")
                self.assertEqual(len(found), wanted, found)
                self.assertTrue(all(op == "Identity" and value == "1" for op, value, _ in found))

    def test_detach(self):
        self.check(lambda m, x: m.linear(x) * m.linear(x * 2).detach(), 1)
        self.check(lambda m, x: m.linear(x) * m.linear(x * 2).data, 1)

    def test_straight_through(self):
        self.check(lambda m, x: (lambda h: h + (torch.round(h) - h).detach())(m.linear(x)), 1)

    def test_region(self):
        def f(m, x):
            h = m.linear(x)
            with torch.no_grad():
                scale = h.abs().amax(-1, keepdim=True)
            return h / scale
        self.check(f, 1)

    def test_decorator_and_parameters(self):
        @torch.no_grad()
        def norm(w):
            return (w * w).sum()
        self.check(lambda m, x: m.linear(x) / norm(m.linear.weight), 1)

    def test_set_grad_enabled(self):
        def f(m, x):
            with torch.set_grad_enabled(False):
                with torch.enable_grad():
                    h = m.linear(x)
                g = h * 2
            return h + g
        self.check(f, 1)

    def test_properties_of_tensors_under_no_grad(self):
        def f(m, x):
            with torch.no_grad():
                g = m.linear.weight.T.sum()
            return m.linear(x) * g
        self.check(f, 1)

    def test_inputs_need_no_stop(self):
        self.check(lambda m, x: m.linear(x.detach()), 0)

    def test_in_place_on_own_values(self):
        def f(m, x):
            with torch.no_grad():
                g = m.linear(x).clone()
                g.mul_(2)
            return m.linear(x) + g
        self.check(f, 2)  # what enters the region: weight and bias

class Padding(Both):
    def test_rows(self):
        for test, dynamo in self.each():
            with test:
                module = Call(lambda m, i: m.linear(m.a(i) + m.b(i)) + F.embedding(i, m.b.weight, padding_idx=-1),
                              a=nn.Embedding(6, 4, padding_idx=-2), b=nn.Embedding(6, 4))
                model, _ = export(module, (IDS,), dynamo)
                found = {(value, reads[0]) for op, value, reads in marks(model, "padding_idx") if op == "Gather"}
                self.assertEqual(found, {("4", "a.weight"), ("5", "b.weight")})
                self.assertEqual(sum(node.op_type == "Gather" and node.input[0] == "b.weight"
                                     for node in model.graph.node), 2)


class Refused(Both):
    def check(self, words, module, inputs=(X,), **options):
        for test, dynamo in self.each():
            with test, tempfile.TemporaryDirectory() as folder:
                with self.assertRaises(xlc_export.ExportRefused) as raised, warnings.catch_warnings(action="ignore"):
                    xlc_export.export(module, inputs, pathlib.Path(folder) / "model.onnx", dynamo=dynamo, **options)
                self.assertIn(words, str(raised.exception))

    def test_function(self):
        self.check("the module itself (Call) uses the autograd.Function Square", Call(lambda m, x: Square.apply(m.linear(x))))

    def test_hooks(self):
        module = Call(lambda m, x: m.linear(x))
        handle = module.linear.register_full_backward_hook(lambda *_: None)
        self.check("module 'linear' (Linear) has a backward hook", module)
        handle.remove()
        handle = module.linear.weight.register_hook(lambda g: g * 2)
        self.check("parameter 'linear.weight' has a hook", module)
        handle.remove()
        module.linear.bias.register_post_accumulate_grad_hook(lambda p: None)
        self.check("parameter 'linear.bias' has a hook", module)

        def f(m, x):
            h = m.linear(x)
            h.register_hook(lambda g: g * 2)
            return h
        self.check("registers a hook on a tensor", Call(f))

        def g(m, x):
            h = m.linear(x)
            h.grad_fn.register_hook(lambda *_: None)
            return h
        self.check("reads grad_fn of a tensor", Call(g))

        def several(m, x):
            h = m.linear(x)
            torch.autograd.graph.register_multi_grad_hook((h,), lambda *_: None)
            return h
        self.check("reads grad_fn of a tensor", Call(several))

    def test_embeddings(self):
        for option, words in ((dict(max_norm=1.0), "max_norm = 1.0"), (dict(scale_grad_by_freq=True), "scale_grad_by_freq"),
                              (dict(sparse=True), "sparse gradients")):
            self.check(f"module 'table' (Embedding) has {words}",
                       Call(lambda m, i: m.table(i), table=nn.Embedding(6, 4, **option)), (IDS,))
            self.check(f"module 'table' (EmbeddingBag) has {words}",
                       Call(lambda m, i: m.table(i), table=nn.EmbeddingBag(6, 4, mode="sum", **option)), (IDS,))
            self.check(f"(Call) has {words}",
                       Call(lambda m, i: F.embedding(i, m.table, **option), table=nn.Parameter(torch.ones(6, 4))), (IDS,))

    def test_draws_that_are_folded(self):
        """The new exporter draws the mask of a constant itself; the old one leaves that to the file."""
        module = Call(lambda m, x: m.linear(x) * F.dropout(torch.ones(4), 0.5))
        with self.assertRaises(xlc_export.ExportRefused) as raised, warnings.catch_warnings(action="ignore"):
            xlc_export.export(module, (X,), tempfile.mkdtemp() + "/model.onnx", input_names=["input0"], verbose=False)
        self.assertIn("the module draws random numbers in 1 call, but 0 nodes of the file do", str(raised.exception))

    def test_numbers(self):
        self.check("converts a tensor that depends on parameters to a number (item)", Call(lambda m, x: m.linear(x) * m.linear.bias[0].item()))
        self.check("converts a tensor", Call(lambda m, x: m.linear(x) if m.linear(x).sum() > 0 else x))

    def test_in_place(self):
        def clamp(m, x):
            with torch.no_grad():
                m.linear.weight.clamp_(-1, 1)
            return m.linear(x)
        self.check("changes a tensor that has a gradient in place under no_grad (clamp_)", Call(clamp))

        def data(m, x):
            m.linear.weight.data.clamp_(-1, 1)
            return m.linear(x)
        self.check("shares memory with a detached tensor", Call(data))

        def original(m, x):
            h = m.linear(x)
            d = h.detach()
            h.mul_(2)
            return h + d
        self.check("shares memory with a detached tensor", Call(original))

    def test_buffers(self):
        def f(m, x):
            m.count.add_(1.0)
            return m.linear(x) * m.count
        module = Call(f)
        module.register_buffer("count", torch.zeros(()))
        self.check("the module itself (Call) changes its buffer 'count' in forward", module)
        self.assertEqual(module.count, 0)
        self.check("has momentum None", nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, momentum=None)))

    def test_names(self):
        class Same(nn.Module):
            def __init__(self):
                super().__init__()
                self.x = nn.Parameter(torch.ones(4))

            def forward(self, x):
                return x * self.x
        self.check("'x' is the name of an input and of a parameter", Same())
        for test, dynamo in self.each():
            with test:
                model, _ = export(Same(), (X,), dynamo)
                numpy.testing.assert_array_equal(initializers(model)["x"], numpy.ones(4))

    def test_own_gradients(self):
        def f(m, x):
            h = m.linear(x)
            return torch.autograd.grad(h.sum(), m.linear.weight, create_graph=True)[0]
        self.check("computes a gradient in forward", Call(f))
        self.check("calls gumbel_softmax, whose random numbers", Call(lambda m, x: F.gumbel_softmax(m.linear(x), hard=True)))

    def test_values(self):
        self.check("'linear.weight' has no values (device meta)", Call(lambda m, x: m.linear(x)).to("meta"))
        self.check("'1.weight' is not initialised", nn.Sequential(nn.Linear(4, 4), nn.LazyLinear(2)))
        module = Call(lambda m, x: m.linear(x) * m.other, other=nn.Parameter(torch.ones(4)))
        module.other.data = module.linear.bias.data
        self.check("parameters 'other' and 'linear.bias' share memory", module)

    def test_what_is_given(self):
        module = Call(lambda m, x: m.linear(x))
        self.check("needs a torch.nn.Module, not RecursiveScriptModule", torch.jit.script(nn.Linear(4, 4)))
        self.check("needs a torch.nn.Module, not ExportedProgram", torch.export.export(module, (X,)))
        self.check("export_params = False is not supported", module, export_params=False)
        self.check("is the name of an input and of a parameter", module, input_names=["linear.weight"])

    def test_opset(self):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
            with self.assertRaisesRegex(xlc_export.ExportRefused, "xlc reads opsets 13 to 21"):
                xlc_export.export(nn.Linear(4, 4), (X,), pathlib.Path(folder) / "model.onnx", opset_version=23, verbose=False)

    def test_nothing_stays_behind(self):
        module = Call(lambda m, x: Square.apply(m.linear(x)))
        apply = torch.autograd.Function.apply
        self.check("autograd.Function", module)
        self.assertNotIn("forward", vars(module))
        self.assertEqual(torch.autograd.Function.apply, apply)


if __name__ == "__main__":
    unittest.main()
