"""Models that drop and draw, exported in training mode. In PyTorch they draw the program's numbers (examples/gpt2/masks.py)."""

import torch
import transformers as t
from torch import nn
from torch.nn import functional as F
from torchvision.ops import StochasticDepth

from family import ROWS, Family, causal_lm, classify_images, classify_text, floats, tokens
from language import BERT, GPT2
from vision import VIT

DRAWS = {"is_training": True, "draws": True}
TENTHS = {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}


class Attend(nn.Module):
    """Self-attention of PyTorch's module, which asks for its probabilities or does not."""

    def __init__(self, need_weights):
        super().__init__()
        self.need_weights, self.e, self.n = need_weights, nn.Embedding(90, 32), nn.LayerNorm(32)
        self.a, self.o = nn.MultiheadAttention(32, 4, dropout=0.2, batch_first=True), nn.Linear(32, 5)

    def forward(self, ids):
        h = self.n(self.e(ids))
        return self.o((h + self.a(h, h, h, need_weights=self.need_weights)[0]).mean(1))


class Layer(nn.Module):
    """A layer of nn.TransformerEncoder, whose four dropouts are PyTorch's default."""

    def __init__(self):
        super().__init__()
        self.e, self.o = nn.Embedding(90, 32), nn.Linear(32, 5)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2, enable_nested_tensor=False)

    def forward(self, ids):
        return self.o(self.t(self.e(ids)).mean(1))


class Residual(nn.Module):
    """Convolutions, each with a norm over groups, that are left out of some rows."""

    def __init__(self, skip):
        super().__init__()
        self.i, self.o, self.skip = nn.Conv2d(3, 16, 3, padding=1), nn.Linear(16, 10), skip
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.SiLU()) for _ in range(2))

    def forward(self, x):
        h = self.i(x)
        for block in self.blocks:
            h = h + self.skip(block(h))
        return self.o(h.mean((2, 3)))


class DropPath(nn.Module):
    """The same as models write it themselves."""

    def forward(self, x):
        return x / 0.75 * (torch.rand_like(x[:, :1, :1, :1]) < 0.75)


def families():
    yield causal_lm("gpt2-dropout", t.GPT2LMHeadModel,
                    lambda: t.GPT2Config(**{**GPT2, "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1}), has_logits=True, **DRAWS)
    yield classify_text("bert-dropout", t.BertForSequenceClassification, lambda: t.BertConfig(**{**BERT, **TENTHS}), **DRAWS)
    yield classify_images("vit-dropout", lambda: t.ViTForImageClassification(t.ViTConfig(**{**VIT, **TENTHS})), size=16, **DRAWS)
    for name, skip in (("stochastic-depth", lambda: StochasticDepth(0.25, "row")), ("drop-path", DropPath)):
        yield classify_images(name, lambda skip=skip: Residual(skip()), size=8, **DRAWS)
    ids = tokens(ROWS, 16, 90)
    for name, model in (("mha-dropout", lambda: Attend(False)), ("mha-weights-dropout", lambda: Attend(True)),
                        ("encoder-dropout", Layer)):
        yield Family(name, model, lambda m, x, y: F.cross_entropy(m(x), y), {"input_ids": ids, "labels": ids.sum(1) % 5},
                     {"input_ids": ("batch", None), "labels": ("batch",)}, **DRAWS)
    x = floats(ROWS, 20, seed=5)
    yield Family("dropout", lambda: nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10)),
                 lambda m, x, y: F.cross_entropy(m(x), y), {"x": x, "y": (x @ floats(20, 10, seed=6)).argmax(1)},
                 {"x": ("batch", None), "y": ("batch",)}, **DRAWS)
