"""A family: one PyTorch model with a loss, rows of data, and an optimizer, small enough to train in seconds.

The modules beside this one list families as rows; make.py exports each in every form and trains it in PyTorch, check.py
compiles and trains it with xlc. All random numbers have fixed seeds, so that two runs make the same files.
"""

import dataclasses
import typing

import torch

SGD = {"type": "sgd", "lr": 0.02, "momentum": 0.9, "weight_decay": 0.01}
ADAMW = {"type": "adamw", "lr": 2e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.01}

STEPS, BATCH = 6, 8
ROWS = STEPS * BATCH
DRAW_SEED = 7  # of the numbers that a program draws


@dataclasses.dataclass
class Logits:
    """Where the model of `family` ends in logits, and the spec makes the loss."""
    compute: typing.Callable  # (model, *inputs but the last, which are the labels) -> logits
    spec: dict  # the key `loss` of the spec


@dataclasses.dataclass
class Family:
    name: str
    model: typing.Callable  # () -> torch.nn.Module
    loss: typing.Callable  # (model, *inputs) -> scalar
    inputs: dict  # name -> tensor of ROWS rows, in the order of `loss`
    dims: dict  # name of an input -> name of each dimension, None where it is fixed
    optimizer: dict = dataclasses.field(default_factory=lambda: dict(SGD))
    is_training: bool = False  # exported and trained in training form (batch norm, dropout)
    draws: bool = False  # drops, or draws otherwise: PyTorch draws what the program does
    couples: bool = False  # rows meet in loss or norms: cut runs are judged against PyTorch with the same cut
    logits: Logits | None = None
    spec: dict = dataclasses.field(default_factory=dict)  # keys that every composition needs
    old_spec: dict = dataclasses.field(default_factory=dict)  # keys that replace what the old exporter does not write
    dtype: torch.dtype = torch.float32  # of the exported file


def generator(seed):
    return torch.Generator().manual_seed(seed)


def floats(*shape, seed=17):
    return torch.randn(*shape, generator=generator(seed))


def tokens(rows, length, vocabulary, seed=7, lowest=0):
    """Rows that a model can learn: next = permutation(previous), with 10 % noise."""
    source = generator(seed)
    count = vocabulary - lowest
    follows = torch.randperm(count, generator=source)
    noise = torch.randint(0, count, (rows, length), generator=source)
    is_noise = torch.rand(rows, length, generator=source) < 0.1
    result = noise.clone()
    for position in range(1, length):
        result[:, position] = torch.where(is_noise[:, position], noise[:, position], follows[result[:, position - 1]])
    return result + lowest


class WithLoss(torch.nn.Module):
    """forward(*inputs) gives the loss (or the logits): what is exported. Parameters are `model.NAME`."""

    def __init__(self, model, compute):
        super().__init__()
        self.model, self.compute = model, compute

    def forward(self, *inputs):
        return self.compute(self.model, *inputs)


def make_module(family, compute=None):
    """A fresh module with the family's initial weights."""
    torch.manual_seed(21)
    module = WithLoss(family.model(), compute or family.loss)
    return module.train() if family.is_training else module.eval()


# --- rows that many families share

BATCH_SEQUENCE = ("batch", "sequence")


def causal_lm(name, model_class, config, vocabulary=90, length=16, has_logits=False, lowest=0, **more):
    """A language model of transformers: labels are the ids, shifted inside; padding ids are among them."""
    rows = tokens(ROWS, length, vocabulary, lowest=lowest)
    logits = Logits(lambda model, ids: model(input_ids=ids, use_cache=False).logits,
                    {"type": "cross_entropy", "logits": "logits", "labels": "labels", "shift": True})
    return Family(name, lambda: model_class(config()),
                  lambda model, ids, labels: model(input_ids=ids, labels=labels, use_cache=False).loss,
                  {"input_ids": rows, "labels": rows.clone()},
                  {"input_ids": BATCH_SEQUENCE, "labels": BATCH_SEQUENCE},
                  logits=logits if has_logits else None, **more)


def classify_text(name, model_class, config, vocabulary=90, length=16, classes=3, has_logits=False, **more):
    """A classifier of transformers over ids with an attention mask."""
    ids = tokens(ROWS, length, vocabulary, lowest=4)
    lengths = torch.randint(length // 2, length + 1, (ROWS,), generator=generator(5))
    mask = (torch.arange(length)[None] < lengths[:, None]).long()
    labels = ids.sum(1) % classes

    def score(model, ids, mask):
        return model(input_ids=ids, attention_mask=mask).logits

    return Family(name, lambda: model_class(config()),
                  lambda model, ids, mask, labels: torch.nn.functional.cross_entropy(score(model, ids, mask), labels),
                  {"input_ids": torch.where(mask == 1, ids, 0), "attention_mask": mask, "labels": labels},
                  {"input_ids": BATCH_SEQUENCE, "attention_mask": BATCH_SEQUENCE, "labels": ("batch",)},
                  logits=Logits(score, {"type": "cross_entropy", "logits": "logits", "labels": "labels"})
                  if has_logits else None, **more)


def translate(name, model_class, config, vocabulary=90, has_logits=False, **more):
    """An encoder-decoder of transformers; the decoder begins with id 1."""
    source = tokens(ROWS, 12, vocabulary, lowest=4)
    labels = source.flip(1)[:, :10].clone()
    decoder = torch.cat([torch.ones(ROWS, 1, dtype=torch.int64), labels[:, :-1]], 1)
    mask = torch.ones_like(source)
    mask[::3, -3:] = 0

    def score(model, ids, mask, decoder):
        return model(input_ids=ids, attention_mask=mask, decoder_input_ids=decoder, use_cache=False).logits

    def loss(model, ids, mask, decoder, labels):
        logits = score(model, ids, mask, decoder)
        return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

    return Family(name, lambda: model_class(config()), loss,
                  {"input_ids": source, "attention_mask": mask, "decoder_input_ids": decoder, "labels": labels},
                  {"input_ids": ("batch", "source"), "attention_mask": ("batch", "source"),
                   "decoder_input_ids": ("batch", "target"), "labels": ("batch", "target")},
                  logits=Logits(score, {"type": "cross_entropy", "logits": "logits", "labels": "labels"})
                  if has_logits else None, **more)


def classify_images(name, model, size=32, classes=10, labels=None, loss=None, has_logits=False, **more):
    """Images of three channels; `model` is a function that makes the module, whose result is logits or has them."""
    images = floats(ROWS, 3, size, size)
    if labels is None:
        labels = (images.mean((2, 3)) @ floats(3, classes, seed=1)).argmax(1)

    def score(model, x):
        result = model(x)
        return result.logits if hasattr(result, "logits") else result

    def cross_entropy(model, x, y):
        return torch.nn.functional.cross_entropy(score(model, x), y)

    return Family(name, model, loss or cross_entropy, {"x": images, "y": labels},
                  {"x": ("batch", None, None, None), "y": ("batch",) + (None,) * (labels.dim() - 1)},
                  logits=Logits(score, {"type": "cross_entropy", "logits": "logits", "labels": "y"})
                  if has_logits else None, **more)
