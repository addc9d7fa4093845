"""The nine small models that have a reference run, as PyTorch modules with their initial values.

The runs and their data are in a folder of models (XLC_MODELS; beside the checkout by default): NAME/trace-*.json,
NAME/INPUT.npy. Their initial values come from seeds, so that nothing but the code below is needed to have the module.
"""

import os
import pathlib

import numpy
import torch
from torch import nn

ROOT = pathlib.Path(os.environ.get("XLC_MODELS", pathlib.Path(__file__).resolve().parents[3] / "shared" / "models"))


class Wrap(nn.Module):
    """Fixes the argument names and picks one output, as people do before exporting."""

    def __init__(self, model, names, pick, **extra):
        super().__init__()
        self.model, self.names, self.pick, self.extra = model, names, pick, extra

    def forward(self, *args):
        return getattr(self.model(**dict(zip(self.names, args)), **self.extra), self.pick)


class LogitsLoss(nn.Module):
    """Cross-entropy over a classifier's logits, where the model's own loss cannot be exported."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *args):
        logits = self.model(**dict(zip(self.names, args[:-1]))).logits
        return nn.functional.cross_entropy(logits, args[-1])


def _seeded(seed, make):
    torch.manual_seed(seed)
    return make()


def _gpt2(**changes):
    import transformers as tf
    config = dict(n_layer=4, n_head=4, n_embd=64, vocab_size=256, n_positions=64, resid_pdrop=0., embd_pdrop=0.,
                  attn_pdrop=0., bos_token_id=0, eos_token_id=0, initializer_range=0.1)
    return lambda: tf.GPT2LMHeadModel(tf.GPT2Config(**{**config, **changes}))


def _llama():
    import transformers as tf
    return tf.LlamaForCausalLM(tf.LlamaConfig(
        num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, hidden_size=64, intermediate_size=160,
        vocab_size=256, max_position_embeddings=128, bos_token_id=0, eos_token_id=0, initializer_range=0.1))


def _bert():
    import transformers as tf
    return tf.BertForSequenceClassification(tf.BertConfig(
        num_hidden_layers=3, num_attention_heads=4, hidden_size=64, intermediate_size=128, vocab_size=200,
        max_position_embeddings=64, hidden_dropout_prob=0., attention_probs_dropout_prob=0., num_labels=2,
        initializer_range=0.1))


def _deberta():
    import transformers as tf
    return tf.DebertaV2ForSequenceClassification(tf.DebertaV2Config(
        num_hidden_layers=3, num_attention_heads=4, hidden_size=64, intermediate_size=128, vocab_size=200,
        max_position_embeddings=64, hidden_dropout_prob=0., attention_probs_dropout_prob=0., pooler_dropout=0.,
        num_labels=2, relative_attention=True, position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type="p2c|c2p", position_biased_input=False, conv_kernel_size=3, conv_act="gelu", type_vocab_size=0,
        initializer_range=0.1, pooler_hidden_size=64, cls_dropout=0.))


def _blenderbot():
    import transformers as tf
    return tf.BlenderbotForConditionalGeneration(tf.BlenderbotConfig(
        encoder_layers=2, decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4, d_model=64,
        encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=200, max_position_embeddings=64, dropout=0.,
        attention_dropout=0., activation_dropout=0., bos_token_id=1, eos_token_id=2, pad_token_id=0,
        decoder_start_token_id=1, init_std=0.1))


def _mlp():
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))


def _cnn():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


class Model:
    """A module, its inputs and how they vary in size; `loss`: what a spec says about its loss."""

    def __init__(self, name, make, inputs, dynamic, loss):
        self.name, self.make, self.inputs, self.dynamic, self.loss = name, make, inputs, dynamic, loss
        self.folder = ROOT / name

    def example(self):
        return tuple(torch.from_numpy(numpy.load(self.folder / f"{name}.npy")[:2]) for name in self.inputs)

    def options(self, dynamo):
        """What torch.onnx.export takes for either exporter."""
        names = dict(input_names=self.inputs, output_names=["output"])
        if dynamo:
            shapes = tuple({i: axis for i, axis in enumerate(axes) if axis} for axes in self.dynamic)
            takes_list = isinstance(self.make(), (Wrap, LogitsLoss))  # forward(*args)
            return dict(names, dynamo=True, verbose=False, dynamic_shapes=(shapes,) if takes_list else shapes)
        axes = {name: {i: axis for i, axis in enumerate(axes) if axis} for name, axes in zip(self.inputs, self.dynamic)}
        return dict(names, dynamo=False, opset_version=17, dynamic_axes=axes)


def _language(name, make):
    names = ["input_ids", "labels"]
    return Model(name, lambda: Wrap(_seeded(1, make).eval(), names, "loss", use_cache=False), names,
                 [("batch", "sequence")] * 2, {"output": "output"})


def _classifier(name, make, names):
    dynamic = [("batch", "sequence")] * (len(names) - 1) + [("batch",)]
    return Model(name, lambda: LogitsLoss(_seeded(2, make).eval(), names[:-1]), names, dynamic, {"output": "output"})


def _seq2seq(name, make):
    names = ["input_ids", "attention_mask", "decoder_input_ids", "labels"]
    return Model(name, lambda: Wrap(_seeded(3, make).eval(), names, "loss", use_cache=False), names,
                 [("batch", "source")] * 2 + [("batch", "target")] * 2, {"output": "output"})


def _plain(name, make, dynamic):
    return Model(name, lambda: _seeded(4, make), ["x"], [dynamic],
                 {"type": "cross_entropy", "logits": "output", "labels": "y"})


MODELS = [
    _plain("mlp", _mlp, ("batch", None)),
    _plain("cnn", _cnn, ("batch", None, None, None)),
    _language("gpt2-tiny", _gpt2()),
    _language("gpt2-tiny-odd", _gpt2(n_layer=2, vocab_size=257)),
    _language("gpt2-tiny-ragged", _gpt2(n_layer=2)),
    _language("llama-tiny", _llama),
    _classifier("bert-tiny", _bert, ["input_ids", "attention_mask", "token_type_ids", "labels"]),
    _classifier("deberta-v2-tiny", _deberta, ["input_ids", "attention_mask", "labels"]),
    _seq2seq("blenderbot-tiny", _blenderbot),
]
