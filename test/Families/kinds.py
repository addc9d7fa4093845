"""Everyday code that exporters or compilers got wrong: what is read twice, stops, repeats, is masked, tied or frozen.

Each row is one function of a module's parts; none is a model that anyone has, and each is a line of many that are.
"""

import torch
from torch import nn
from torch.nn import functional as F

from family import ROWS, SGD, Family, floats, generator, tokens

BATCH_ROWS, WORDS = ("batch", None), 40
LOWEST = torch.finfo(torch.float32).min


class Parts(nn.Module):
    """Modules, parameters and buffers by name; `run` is the forward."""

    def __init__(self, run, parts):
        super().__init__()
        self.run = run
        for name, part in parts.items():
            if isinstance(part, (nn.Module, nn.Parameter)):
                setattr(self, name, part)
            else:
                self.register_buffer(name, part)

    def forward(self, *inputs):
        return self.run(self, *inputs)


def random(*shape, scale=0.3):
    return nn.Parameter(torch.randn(*shape) * scale)


def two(width=24, out=10):
    return {"a": nn.Linear(20, width), "head": nn.Linear(width, out)}


# --- codebooks and values that stop


def codebook(m, x, y):
    """VQ-VAE: a code is looked up, its loss and the commitment stop one side each, the gradient goes straight through."""
    h = m.a(x)
    code = m.codes[((h[:, None] - m.codes[None]) ** 2).sum(-1).argmin(1)]
    straight = h + (code - h).detach()
    return F.cross_entropy(m.head(straight), y) + F.mse_loss(code, h.detach()) + 0.25 * F.mse_loss(h, code.detach())


def teacher(m, x, y):
    """Distillation from a copy that is not trained."""
    with torch.no_grad():
        soft = F.softmax(m.frozen(x) / 2, -1)
    return F.cross_entropy(m.head(torch.tanh(m.a(x))), y) + F.kl_div(
        F.log_softmax(m.head(torch.tanh(m.a(x))) / 2, -1), soft, reduction="batchmean")


def siamese(m, x, y):
    """Each view predicts the other one, which stops."""
    a, b = torch.tanh(m.a(x)), torch.tanh(m.a(x.flip(-1)))
    return F.mse_loss(m.head(a), m.head(b).detach()) + F.mse_loss(m.head(b), m.head(a).detach()) + F.cross_entropy(m.head(a), y)


def binarised(m, x, y):
    """Weights are signs in forward, and themselves in backward."""
    weight = m.w + (torch.sign(m.w) * m.w.abs().mean() - m.w).detach()
    return F.cross_entropy(m.head(torch.tanh(F.linear(x, weight))), y)


# --- parameters that are read twice


def mix_gate(m, x, y):
    return F.cross_entropy(m.head(torch.tanh(m.a(x)) * m.mix + torch.relu(m.b(x)) * (1 - m.mix)), y)


def highway(m, x, y):
    gate = torch.sigmoid(m.gate(x))
    return F.cross_entropy(m.head(torch.tanh(m.a(x)) * gate + x * (1 - gate)), y)


def uncertainty(m, x, y):
    """Two tasks, weighed by exp(-s) and paid for by s."""
    h = torch.tanh(m.a(x))
    losses = torch.stack([F.cross_entropy(m.head(h), y), F.mse_loss(m.b(h), x)])
    return (torch.exp(-m.s) * losses + m.s).sum()


def standardised(m, x, y):
    """Weight standardisation, and a gain."""
    mean, variance = m.w.mean(1, keepdim=True), m.w.var(1, keepdim=True)
    return F.cross_entropy(m.head(torch.relu(F.linear(x, (m.w - mean) / torch.sqrt(variance + 1e-5) * m.gain))), y)


def weight_norm(m, x, y):
    return F.cross_entropy(m.head(torch.tanh(F.linear(x, m.g * m.v / m.v.norm(dim=1, keepdim=True)))), y)


def penalty(m, x, y):
    """The squares of weights and the sum of absolute values are in the loss."""
    decay = sum((p ** 2).sum() for p in (m.a.weight, m.head.weight)) * 1e-2 + m.a.weight.abs().sum() * 1e-3
    return F.cross_entropy(m.head(torch.tanh(m.a(x))), y) + decay


def anchored(m, x, y):
    """Elastic weights: parameters are held where they were, as a buffer tells."""
    return F.cross_entropy(m.head(torch.tanh(m.a(x))), y) + 0.5 * (m.importance * (m.a.weight - m.anchor) ** 2).sum()


def transposed(m, x, y):
    """An autoencoder whose decoder is the encoder's transpose."""
    h = torch.tanh(m.a(x))
    return F.mse_loss(F.linear(h, m.a.weight.t()) + m.b, x) + F.cross_entropy(m.head(h), y)


def prototypes(m, x, y):
    a, b = F.normalize(m.a(x), dim=-1), F.normalize(m.p, dim=-1)
    return F.cross_entropy(a @ b.t() * m.s.exp(), y) + 0.01 * ((b @ b.t()) ** 2).mean()


def snake(m, x, y):
    h = m.a(x)
    return F.cross_entropy(m.head(h + torch.sin(h * m.alpha) ** 2 / m.alpha), y)


# --- norms that are chosen, and trees


def switch_norm(m, x, y):
    """Means of a row and of a group, weighed by a softmax of parameters."""
    h = m.a(x).view(-1, 4, 6)
    kinds = [h.mean(-1, keepdim=True), h.mean((1, 2), keepdim=True)]
    squares = [h.var(-1, keepdim=True, unbiased=False), h.var((1, 2), keepdim=True, unbiased=False)]
    weights, shares = F.softmax(m.weights, 0), F.softmax(m.shares, 0)
    mean, variance = (sum(w * k for w, k in zip(s, v)) for s, v in ((weights, kinds), (shares, squares)))
    return F.cross_entropy(m.head(((h - mean) / torch.sqrt(variance + 1e-5)).flatten(1) * m.gain), y)


def soft_tree(m, x, y):
    """Three levels of decisions; a leaf's share is the product of those on its way."""
    right = torch.sigmoid(m.decide(x))
    shares, first = torch.ones_like(right[:, :1]), 0
    for level in range(3):
        here = right[:, first:first + 2 ** level]
        shares = torch.stack([shares * (1 - here), shares * here], -1).flatten(1)
        first += 2 ** level
    return F.nll_loss(torch.log(shares @ F.softmax(m.leaves, -1) + 1e-8), y)


# --- places


def multi_hot(m, ids, y):
    """Ids that repeat are marked once."""
    return F.cross_entropy(m.head(torch.relu(m.a(torch.zeros(ids.shape[0], WORDS, dtype=m.head.weight.dtype).scatter(1, ids, 1.0)))), y)


def counted(m, ids, y):
    """Ids that repeat are counted."""
    ones = torch.ones_like(ids).to(m.head.weight.dtype)
    return F.cross_entropy(m.head(torch.relu(m.a(torch.zeros_like(ones[:, :1]).repeat(1, WORDS).scatter_add(1, ids, ones)))), y)


def padded_left(attend):
    """Causal attention over rows that begin with padding: some see no key, and are in the loss."""
    def forward(m, ids, mask, y):
        batch, length = ids.shape
        q, k, v = m.qkv(m.table(ids)).view(batch, length, 3, 2, 12).permute(2, 0, 3, 1, 4)
        seen = torch.ones(length, length, dtype=torch.bool).tril() & (mask[:, None, None] > 0)
        return F.cross_entropy(m.head(attend(q, k, v, seen).transpose(1, 2).flatten(2)).mean(1), y)
    return forward


def call_attention(q, k, v, seen):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def add_lowest(q, k, v, seen):
    """Eager attention: the lowest number is added, so scores have gradients where no key is seen, too."""
    return torch.softmax(q @ k.transpose(2, 3) / 12 ** 0.5 + torch.where(seen, 0.0, LOWEST), -1) @ v


def select_lowest(q, k, v, seen):
    """The lowest number replaces masked scores: no gradient reaches q and k through them."""
    return torch.softmax((q @ k.transpose(2, 3) / 12 ** 0.5).masked_fill(~seen, LOWEST), -1) @ v


def hidden_words(m, ids, noise, y):
    """Words that a mask of noise hides are a parameter, as masked models have it."""
    h = torch.where(noise[..., None] > 0, m.hidden, m.table(ids))
    h = torch.tanh(m.a(h))
    scores = F.cross_entropy(m.words(h).flatten(0, 1), ids.flatten(), reduction="none") * noise.flatten()
    return scores.sum() / noise.sum() + F.cross_entropy(m.head(h.mean(1)), y)


# --- adapters, ties, equal inputs


def low_rank(m, x, y):
    """LoRA over a base that is frozen."""
    return F.cross_entropy(m.head(torch.tanh(m.base(x) + (x @ m.down) @ m.up * 2)), y)


def magnitude(m, x, y):
    """DoRA: a direction that is the frozen base and an update, a norm of its own."""
    weight = m.base.weight + m.up.t() @ m.down.t()
    return F.cross_entropy(m.head(torch.tanh(F.linear(x, m.size * weight / weight.norm(dim=1, keepdim=True).detach()))), y)


def scaled(m, x, y):
    """(IA)^3: vectors of ones scale what frozen layers give."""
    return F.cross_entropy(m.head(torch.tanh(m.base(x) * m.one) * m.other), y)


def prompts(m, ids, y):
    """Vectors before a sequence whose table is frozen."""
    h = torch.cat([m.prompt.expand(ids.shape[0], -1, -1), m.table(ids)], 1)
    return F.cross_entropy(m.head(torch.tanh(m.a(h)).mean(1)), y)


def base(**more):
    return {"base": nn.Linear(20, 24).requires_grad_(False), "head": nn.Linear(24, 10), **more}


def table():
    return {"table": nn.Embedding(WORDS, 24), "head": nn.Linear(24, 5)}


IMAGES = {  # name: (forward, parts) over floats and classes
    "codebook": (codebook, lambda: {**two(), "codes": random(8, 24)}),
    "teacher": (teacher, lambda: {**two(), "frozen": nn.Linear(20, 10).requires_grad_(False)}),
    "siamese": (siamese, two),
    "binarised": (binarised, lambda: {"w": random(24, 20), "head": nn.Linear(24, 10)}),
    "mix-gate": (mix_gate, lambda: {**two(), "b": nn.Linear(20, 24), "mix": nn.Parameter(torch.rand(24))}),
    "highway": (highway, lambda: {"a": nn.Linear(20, 20), "gate": nn.Linear(20, 20), "head": nn.Linear(20, 10)}),
    "uncertainty": (uncertainty, lambda: {**two(), "b": nn.Linear(24, 20), "s": random(2)}),
    "standardised": (standardised, lambda: {"w": random(24, 20), "gain": nn.Parameter(torch.ones(24, 1)), "head": nn.Linear(24, 10)}),
    "weight-norm": (weight_norm, lambda: {"v": random(24, 20), "g": nn.Parameter(torch.ones(24, 1)), "head": nn.Linear(24, 10)}),
    "penalty": (penalty, two),
    "anchored": (anchored, lambda: {**two(), "anchor": torch.randn(24, 20) * 0.1, "importance": torch.rand(24, 20)}),
    "transposed": (transposed, lambda: {**two(), "b": random(20)}),
    "prototypes": (prototypes, lambda: {"a": nn.Linear(20, 24), "p": random(10, 24), "s": nn.Parameter(torch.tensor(1.0))}),
    "snake": (snake, lambda: {**two(), "alpha": nn.Parameter(torch.ones(24))}),
    "switch-norm": (switch_norm, lambda: {**two(), "weights": nn.Parameter(torch.ones(2)), "shares": nn.Parameter(torch.ones(2)),
                                          "gain": nn.Parameter(torch.ones(24))}),
    "soft-tree": (soft_tree, lambda: {"decide": nn.Linear(20, 7), "leaves": random(8, 10)}),
    "low-rank": (low_rank, lambda: base(down=random(20, 4), up=nn.Parameter(torch.zeros(4, 24)))),
    "magnitude": (magnitude, lambda: base(down=random(20, 4), up=random(4, 24), size=nn.Parameter(torch.ones(24, 1)))),
    "scaled": (scaled, lambda: base(one=nn.Parameter(torch.ones(24)), other=nn.Parameter(torch.ones(24)))),
}


def loss_of(model, *inputs):
    return model(*inputs)


def families():
    x = floats(ROWS, 20, seed=5)
    y = (x @ floats(20, 10, seed=6)).argmax(1)
    for name, (forward, parts) in IMAGES.items():
        yield Family(f"kind-{name}", lambda forward=forward, parts=parts: Parts(forward, parts()), loss_of, {"x": x, "y": y},
                     {"x": BATCH_ROWS, "y": ("batch",)}, optimizer=dict(SGD, lr=0.05))
    ids = tokens(ROWS, 12, WORDS)
    labels = ids.sum(1) % 5
    bag = lambda: {"a": nn.Linear(WORDS, 24), "head": nn.Linear(24, 5)}  # noqa: E731
    frozen = lambda: {**table(), "table": nn.Embedding(WORDS, 24).requires_grad_(False), "a": nn.Linear(24, 24),  # noqa: E731
                      "prompt": random(1, 3, 24)}
    for name, forward, parts in (("multi-hot", multi_hot, bag), ("counted", counted, bag), ("prompts", prompts, frozen)):
        yield Family(f"kind-{name}", lambda forward=forward, parts=parts: Parts(forward, parts()), loss_of,
                     {"ids": ids, "labels": labels}, {"ids": BATCH_ROWS, "labels": ("batch",)})
    missing = torch.randint(0, 5, (ROWS, 1), generator=generator(8))
    mask = (torch.arange(12)[None] >= missing).long()
    for name, attend in (("padded-left", call_attention), ("eager-padding", add_lowest), ("replaced-padding", select_lowest)):
        yield Family(f"kind-{name}", lambda attend=attend: Parts(padded_left(attend), {**table(), "qkv": nn.Linear(24, 72)}), loss_of,
                     {"ids": ids, "mask": mask, "labels": labels}, {"ids": BATCH_ROWS, "mask": BATCH_ROWS, "labels": ("batch",)})
    noise = (torch.rand(ROWS, 12, generator=generator(9)) < 0.3).float()
    noise[:, 0] = 1
    yield Family("kind-hidden-words",
                 lambda: Parts(hidden_words, {**table(), "a": nn.Linear(24, 24), "hidden": random(24), "words": nn.Linear(24, WORDS)}),
                 loss_of, {"ids": ids, "noise": noise, "labels": labels},
                 {"ids": BATCH_ROWS, "noise": BATCH_ROWS, "labels": ("batch",)})
