"""Small modules, each with one thing that trips a compiler: losses, PyTorch's own layers, graphs, and what a gradient may do."""

import torch
from torch import nn
from torch.nn import functional as F

from family import ADAMW, ROWS, SGD, Family, floats, generator, tokens

BATCH_ROWS = ("batch", None)


def mlp(out=10):
    return nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.LayerNorm(48), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, out))


def focal(model, x, y):
    hit = F.softmax(model(x), -1).gather(1, y[:, None])[:, 0]
    return ((1 - hit) ** 2 * F.cross_entropy(model(x), y, reduction="none")).mean()


def masked_mean(model, x, y):
    return (((model(x) - y) ** 2) * (y > 0)).sum() / (y > 0).sum()


def weight_decay_by_hand(model, x, y):
    return F.cross_entropy(model(x), y) + 1e-3 * sum((p ** 2).sum() for p in model.parameters())


def two_counts(model, x, y):
    """Two terms, each the mean over rows of its own: as masked words and next sentence."""
    hidden = model(x)
    return (((hidden - y) ** 2) * (y > 0)).sum() / (y > 0).sum() + (hidden.abs() * (x[:, :10] < 0.5)).sum() / (x[:, :10] < 0.5).sum()


REAL, CLASS = "real", "class"
LOSSES = {  # name: (loss, what the targets are, whether rows meet)
    "mse": (lambda m, x, y: F.mse_loss(m(x), y), REAL, False),
    "rmse": (lambda m, x, y: F.mse_loss(m(x), y).sqrt(), REAL, True),
    "l1": (lambda m, x, y: F.l1_loss(m(x), y), REAL, False),
    "huber": (lambda m, x, y: F.smooth_l1_loss(m(x), y), REAL, False),
    "bce": (lambda m, x, y: F.binary_cross_entropy_with_logits(m(x), torch.sigmoid(y)), REAL, False),
    "sum": (lambda m, x, y: F.mse_loss(m(x), y, reduction="sum"), REAL, False),
    "gauss": (lambda m, x, y: F.gaussian_nll_loss(m(x), y, torch.ones_like(y) * 0.5), REAL, False),
    "smooth": (lambda m, x, y: F.cross_entropy(m(x), y, label_smoothing=0.1), CLASS, False),
    "class-weight": (lambda m, x, y: F.cross_entropy(m(x), y, weight=torch.linspace(0.5, 2, 10, dtype=x.dtype)), CLASS, False),
    "focal": (focal, CLASS, False),
    "hinge": (lambda m, x, y: (1 - m(x).gather(1, y[:, None]) + m(x)).clamp(min=0).mean(), CLASS, False),
    "kl": (lambda m, x, y: F.kl_div(F.log_softmax(m(x), -1), F.softmax(y, -1), reduction="batchmean"), REAL, False),
    "soft": (lambda m, x, y: F.cross_entropy(m(x), F.softmax(y, -1)), REAL, False),
    "sum-of-means": (lambda m, x, y: F.cross_entropy(m(x), y) + 0.1 * (m(x) ** 2).mean(), CLASS, False),
    "l2": (weight_decay_by_hand, CLASS, False),
    "variance": (lambda m, x, y: F.mse_loss(m(x), y) + 0.1 * m(x).var(0).mean(), REAL, True),
    "masked-mean": (masked_mean, REAL, False),
    "two-counts": (two_counts, REAL, False),
    "nll": (lambda m, x, y: F.nll_loss(F.log_softmax(m(x), -1), y), CLASS, False),
    "multilabel": (lambda m, x, y: F.multilabel_soft_margin_loss(m(x), (y > 0).to(x.dtype)), REAL, False),
    "cosine": (lambda m, x, y: (1 - F.cosine_similarity(m(x), y)).mean(), REAL, False),
    "exp-mean": (lambda m, x, y: torch.log1p((m(x) - y) ** 2).mean().exp(), REAL, True),
}


def losses():
    x = floats(ROWS, 20, seed=5)
    y = x @ floats(20, 10, seed=6) * 0.5
    for name, (loss, kind, couples) in LOSSES.items():
        targets = y if kind == REAL else y.argmax(1)
        rate = 1e-4 if name == "sum" else 0.02
        yield Family(f"loss-{name}", mlp, loss, {"x": x, "y": targets},
                     {"x": BATCH_ROWS, "y": BATCH_ROWS if kind == REAL else ("batch",)},
                     optimizer=dict(SGD, lr=rate), couples=couples)


class Small(nn.Module):
    """A residual block, and by `kind`: two equal gradients, a gradient made of pieces, one that another one reads, a
    scalar parameter, a position, values whose gradient stops."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.n = kind, nn.LayerNorm(20)
        self.a, self.b, self.o = nn.Linear(20, 32), nn.Linear(32, 20), nn.Linear(20, 10)

        def random(*shape):
            return nn.Parameter(torch.randn(*shape) * 0.3)

        if kind == "parallel":
            self.c, self.d = nn.Linear(20, 24), nn.Linear(24, 20)
        elif kind == "split":
            self.w, self.v = random(40, 20), random(40)
        elif kind == "lora":
            self.w, self.u, self.v = random(20, 20), random(20, 4), random(4, 20)
        elif kind == "scalar":
            self.s, self.t = nn.Parameter(torch.tensor(0.4)), nn.Parameter(torch.tensor(0.7))
        elif kind == "position":
            self.p = random(1, 20)
        elif kind == "frozen":
            self.w = random(20, 20).requires_grad_(False)

    def forward(self, x):
        if self.kind == "position":
            x = x + self.p
        h = self.n(x)
        y = x + self.b(torch.tanh(self.a(h)))
        if self.kind == "parallel":
            y = y + self.d(torch.relu(self.c(h)))
        elif self.kind == "split":
            y = y + torch.tanh(F.linear(h, self.w[:20], self.v[:20])) * torch.relu(F.linear(h * 2, self.w[20:], self.v[20:]))
        elif self.kind == "lora":
            y = y + torch.tanh(F.linear(h, self.w + self.u @ self.v))
        elif self.kind == "scalar":
            y = y * self.s.exp() + torch.tanh(x * self.t)
        elif self.kind == "frozen":
            y = y + torch.tanh(h @ self.w)
        elif self.kind == "straight-through":
            y = y + (torch.round(y) - y).detach()
        elif self.kind == "detach":
            y = y * torch.sigmoid(y.detach())
        elif self.kind == "no-grad":
            with torch.no_grad():
                scale = y.abs().mean(-1, keepdim=True)
            y = y / (1 + scale)
        return self.o(y)


def blocks():
    x = floats(ROWS, 20, seed=5)
    y = (x @ floats(20, 10, seed=6)).argmax(1)
    for kind in ("parallel", "split", "lora", "scalar", "position", "frozen", "straight-through", "detach", "no-grad"):
        yield Family(f"small-{kind}", lambda kind=kind: Small(kind), lambda m, x, y: F.cross_entropy(m(x), y),
                     {"x": x, "y": y}, {"x": BATCH_ROWS, "y": ("batch",)}, optimizer=dict(SGD, lr=0.05))
    yield Family("dropout0", lambda: nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.0), nn.Linear(64, 10)),
                 lambda m, x, y: F.cross_entropy(m(x), y), {"x": x, "y": y}, {"x": BATCH_ROWS, "y": ("batch",)}, is_training=True)


class Encoder(nn.Module):
    """nn.TransformerEncoder, its positions learned, its result averaged over the sequence."""

    def __init__(self, **layer):
        super().__init__()
        self.e, self.p = nn.Embedding(90, 48), nn.Parameter(torch.randn(1, 16, 48) * 0.1)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(48, 4, 96, dropout=0.0, batch_first=True, **layer), 3,
                                       enable_nested_tensor=False)
        self.o = nn.Linear(48, 5)

    def forward(self, ids):
        return self.o(self.t(self.e(ids) + self.p).mean(1))


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.t = nn.Embedding(90, 48), nn.Transformer(48, 4, 2, 2, 96, dropout=0.0, batch_first=True)
        self.o = nn.Linear(48, 90)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=self.o.weight.dtype)
        return self.o(self.t(self.e(source), self.e(target), tgt_mask=mask))


class Tagger(nn.Module):
    def __init__(self, kind, is_double=False):
        super().__init__()
        self.e = nn.Embedding(60, 24)
        self.r = getattr(nn, kind)(24, 32, num_layers=2, batch_first=True, bidirectional=is_double)
        self.o = nn.Linear(64 if is_double else 32, 60)

    def forward(self, ids):
        return self.o(self.r(self.e(ids))[0])


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.o = nn.EmbeddingBag(60, 16, mode="sum"), nn.Linear(16, 4)

    def forward(self, ids):
        return self.o(self.e(ids))


def layers():
    ids = tokens(ROWS, 16, 90)
    labels = ids.sum(1) % 5
    for name, layer, more in (("encoder", {}, {}), ("encoder-pre", {"norm_first": True, "activation": "gelu"}, {}),
                              ("encoder-train", {}, {"is_training": True})):
        yield Family(name, lambda layer=layer: Encoder(**layer), lambda m, x, y: F.cross_entropy(m(x), y),
                     {"input_ids": ids, "labels": labels}, {"input_ids": BATCH_ROWS, "labels": ("batch",)}, **more)
    target = ids.flip(1)[:, :12].clone()
    shifted = torch.cat([torch.zeros(ROWS, 1, dtype=torch.int64), target[:, :-1]], 1)
    yield Family("torch-transformer", Translator,
                 lambda m, s, d, y: F.cross_entropy(m(s, d).reshape(-1, 90), y.reshape(-1)),
                 {"src": ids, "tgt": shifted, "labels": target}, {name: BATCH_ROWS for name in ("src", "tgt", "labels")})
    words = tokens(ROWS, 12, 60)
    for kind, is_double in (("LSTM", False), ("GRU", False), ("RNN", False), ("LSTM", True)):
        yield Family(kind.lower() + ("-bi" if is_double else ""), lambda kind=kind, is_double=is_double: Tagger(kind, is_double),
                     lambda m, x, y: F.cross_entropy(m(x)[:, :-1].reshape(-1, 60), y[:, 1:].reshape(-1)),
                     {"input_ids": words, "labels": words.clone()}, {"input_ids": BATCH_ROWS, "labels": BATCH_ROWS})
    yield Family("embedding-bag", Bag, lambda m, x, y: F.cross_entropy(m(x), y),
                 {"x": words, "y": words.sum(1) % 4}, {"x": BATCH_ROWS, "y": ("batch",)})


class Graph(nn.Module):
    """Messages along edges; a batch of graphs (gather, scatter_add)."""

    def __init__(self):
        super().__init__()
        self.i, self.m1, self.m2, self.o = nn.Linear(6, 32), nn.Linear(64, 32), nn.Linear(64, 32), nn.Linear(32, 3)

    def forward(self, x, source, target):
        h = self.i(x)
        for layer in (self.m1, self.m2):
            source32, target32 = source[:, :, None].expand(-1, -1, 32), target[:, :, None].expand(-1, -1, 32)
            message = torch.relu(layer(torch.cat([h.gather(1, source32), h.gather(1, target32)], -1)))
            h = h + torch.zeros_like(h).scatter_add(1, target32, message)
        return self.o(h.mean(1))


class FlatGraph(nn.Module):
    """One graph: dimension 0 is nodes, not a batch; rows meet along edges."""

    def __init__(self):
        super().__init__()
        self.i, self.m, self.o = nn.Linear(6, 32), nn.Linear(64, 32), nn.Linear(32, 3)

    def forward(self, x, source, target):
        h = torch.relu(self.i(x))
        message = torch.relu(self.m(torch.cat([h[source], h[target]], -1)))
        return self.o(h + torch.zeros_like(h).index_add(0, target, message))


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.s = mlp(16), mlp(16), nn.Parameter(torch.tensor(1.5))

    def forward(self, x, y):
        a, b = F.normalize(self.a(x), dim=-1), F.normalize(self.b(y), dim=-1)
        return a @ b.T * self.s.exp()


def info_nce(model, x, y):
    scores = model(x, y)
    own = torch.arange(scores.shape[0])
    return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2


def others():
    edges = [torch.randint(0, 12, (ROWS, 30), generator=generator(seed)) for seed in (2, 3)]
    kinds = torch.randint(0, 3, (ROWS,), generator=generator(4))

    def classify(model, x, source, target, y):
        return F.cross_entropy(model(x, source, target), y)

    yield Family("graph", Graph, classify, {"x": floats(ROWS, 12, 6), "s": edges[0], "d": edges[1], "y": kinds},
                 {"x": ("batch", None, None), "s": BATCH_ROWS, "d": BATCH_ROWS, "y": ("batch",)})
    yield Family("graph-flat", FlatGraph, classify,
                 {"x": floats(ROWS, 6), "s": edges[0][:, 0] % 8, "d": edges[1][:, 0] % 8, "y": kinds},
                 {"x": ("nodes", None), "s": ("nodes",), "d": ("nodes",), "y": ("nodes",)}, couples=True)
    x = floats(ROWS, 20, seed=5)
    yield Family("contrastive", Contrast, info_nce, {"x": x, "y": x @ floats(20, 20, seed=6) * 0.3},
                 {"x": BATCH_ROWS, "y": BATCH_ROWS}, couples=True, optimizer=dict(ADAMW))


def families():
    for rows in (blocks, layers, others, losses):
        yield from rows()
