"""Modules that draw random numbers: each dropout of PyTorch, that of attention too, is one of the file, by both exporters.

What is left of a file without its dropouts computes what the module computes in eval mode.
"""

import pathlib
import tempfile
import unittest
import warnings

import numpy
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
import transformers
import xlc_export
from torch import nn

from call import Call

IDS = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
WIDTH = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8, "intermediate_size": 16}
DROPS = {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.2}


def gpt2():
    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=8, vocab_size=11, n_positions=8, resid_pdrop=0.1, embd_pdrop=0.1,
                                     attn_pdrop=0.2, bos_token_id=0, eos_token_id=0, attn_implementation="sdpa")
    model = transformers.GPT2LMHeadModel(config)
    return Call(lambda m, ids: m.model(input_ids=ids, use_cache=False).logits, model=model), (IDS,)


def bert():
    config = transformers.BertConfig(**WIDTH, **DROPS, vocab_size=11, max_position_embeddings=8, attn_implementation="sdpa")
    model = transformers.BertForSequenceClassification(config)
    return Call(lambda m, ids, mask: m.model(input_ids=ids, attention_mask=mask).logits, model=model), (IDS, MASK)


def vit():
    config = transformers.ViTConfig(**WIDTH, **DROPS, image_size=8, patch_size=4, attn_implementation="sdpa")
    model = transformers.ViTForImageClassification(config)
    return Call(lambda m, x: m.model(pixel_values=x).logits, model=model), (torch.randn(2, 3, 8, 8),)


def multi_head(**options):
    attention = nn.MultiheadAttention(8, 2, dropout=0.2, batch_first=True)
    return Call(lambda m, x: m.attention(x, x, x, **options)[0], attention=attention), (torch.randn(2, 6, 8),)


def layer():
    part = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    return Call(lambda m, x: m.part(x), part=part), (torch.randn(2, 6, 8),)


def function(call, *inputs):
    return lambda: (Call(call, linear=nn.Linear(4, 4)), inputs or (torch.randn(2, 3, 5, 4),))


def attend(**options):
    def call(m, q):
        keys = m.linear(q)
        own = {name: value() if callable(value) else value for name, value in options.items()}
        return F.scaled_dot_product_attention(q, keys, keys, **own) if m.training else F.scaled_dot_product_attention(
            q, keys, keys, **{**own, "dropout_p": 0.0})
    return function(call)


def seen():
    """The third query sees no key."""
    return torch.tensor([[1, 0, 1, 1, 0], [1, 1, 1, 0, 1], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 0, 0, 0, 1]]) > 0


# Ratios of the dropouts of a file, by module.
MODULES = {
    "gpt2": (gpt2, [0.1] + 2 * [0.2, 0.1, 0.1]),
    "bert": (bert, [0.1] + 2 * [0.2, 0.1, 0.1] + [0.1]),
    "vit": (vit, [0.1] + 2 * [0.2, 0.1, 0.1]),
    "multi-head": (lambda: multi_head(need_weights=False), [0.2]),
    "multi-head-weights": (multi_head, [0.2]),
    "layer": (layer, 4 * [0.1]),
    "function": (function(lambda m, x: F.dropout(m.linear(x), 0.3, m.training)), [0.3]),
    "attend": (attend(dropout_p=0.25), [0.25]),
    "attend-causal": (attend(dropout_p=0.25, is_causal=True), [0.25]),
    "attend-scaled": (attend(dropout_p=0.25, scale=0.5), [0.25]),
    "attend-masked": (attend(dropout_p=0.25, attn_mask=seen), [0.25]),
    "attend-added": (attend(dropout_p=0.25, attn_mask=lambda: torch.linspace(-1, 1, 25).view(5, 5)), [0.25]),
}


def export(module, inputs, dynamo):
    path = pathlib.Path(tempfile.mkdtemp()) / "model.onnx"
    names = [f"input{i}" for i in range(len(inputs))]
    with warnings.catch_warnings(action="ignore"):
        xlc_export.export(module, inputs, path, input_names=names, dynamo=dynamo, **({"verbose": False} if dynamo else {}))
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    return model


def dropouts(model):
    """(node, ratio) of those that drop."""
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    constants |= {node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t) for node in model.graph.node
                  if node.op_type == "Constant" and node.attribute[0].name == "value"}
    return [(node, float(constants[node.input[1]])) for node in model.graph.node
            if node.op_type == "Dropout" and len(node.input) > 2 and constants[node.input[2]]]


class Dropouts(unittest.TestCase):
    def test_all(self):
        for name, (make, ratios) in MODULES.items():
            for dynamo in (True, False):
                with self.subTest(module=name, dynamo=dynamo):
                    torch.manual_seed(0)
                    module, inputs = make()
                    model = export(module.train(), inputs, dynamo)
                    found = dropouts(model)
                    self.assertEqual([round(ratio, 6) for _, ratio in found], ratios)
                    for node, _ in found:
                        del node.input[2:]
                    self.compare(model, module.eval(), inputs)

    def compare(self, model, module, inputs):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        got = session.run(None, {x.name: value.numpy() for x, value in zip(session.get_inputs(), inputs)})[0]
        with torch.no_grad():
            numpy.testing.assert_allclose(got, module(*inputs).numpy(), rtol=1e-4, atol=1e-5)

    def test_drawn_like_a_value(self):
        """As stochastic depth does."""
        def call(m, x):
            return m.linear(x) * (torch.rand_like(x[:, :1]) < 0.5) / 0.5
        for dynamo in (True, False):
            module = Call(call, linear=nn.Linear(4, 4))
            kinds = [node.op_type for node in export(module, (torch.randn(2, 4),), dynamo).graph.node]
            self.assertEqual(kinds.count("RandomUniformLike"), 1)

    def test_eval_draws_nothing(self):
        for make in (gpt2, bert, multi_head):
            for dynamo in (True, False):
                module, inputs = make()
                self.assertEqual(dropouts(export(module.eval(), inputs, dynamo)), [])


if __name__ == "__main__":
    unittest.main()
