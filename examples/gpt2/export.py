"""Makes the files of this example: loss.onnx, logits.onnx, input_ids.npy, labels.npy, expected.json, expected-warm-up.json.

    python3 export.py FOLDER        needs xlc_export (pip install ../../python), transformers, onnxscript, NumPy

A small GPT-2 (4 layers, 64 wide, tied embedding) and rows of tokens that it can learn: next = permutation(previous),
with 10 % noise. Any GPT-2 of transformers is exported the same way. PyTorch trains the same model in float64; its losses
are what a compiled program is compared with.
"""

import json
import pathlib
import sys

import numpy
import torch
import transformers
import xlc_export

STEPS, BATCH, SEQUENCE, VOCABULARY = 20, 8, 32, 256
OPTIMIZER = {"type": "adamw", "lr": 3e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1}
SCHEDULE = {"type": "cosine", "warmup": 2, "min_lr": 3e-4}  # of warm-up.yaml


def make_model():
    torch.manual_seed(1)
    config = transformers.GPT2Config(n_layer=4, n_head=4, n_embd=64, vocab_size=VOCABULARY, n_positions=64,
                                     resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0,
                                     initializer_range=0.1)
    return transformers.GPT2LMHeadModel(config).eval()


def make_tokens():
    generator = numpy.random.default_rng(7)
    rows = BATCH * STEPS
    follows = generator.permutation(VOCABULARY)
    tokens = numpy.zeros((rows, SEQUENCE), numpy.int64)
    tokens[:, 0] = generator.integers(0, VOCABULARY, rows)
    for position in range(1, SEQUENCE):
        noise = generator.random(rows) < 0.1
        tokens[:, position] = numpy.where(noise, generator.integers(0, VOCABULARY, rows), follows[tokens[:, position - 1]])
    return torch.from_numpy(tokens)


class Pick(torch.nn.Module):
    """Fixes the order of the inputs and picks one output, so that the ONNX file has just these."""

    def __init__(self, model, names, output):
        super().__init__()
        self.model, self.names, self.output = model, names, output

    def forward(self, *inputs):
        return getattr(self.model(**dict(zip(self.names, inputs)), use_cache=False), self.output)


def export(folder, names, output, example):
    dynamic = ({0: "batch", 1: "sequence"},) * len(names)
    xlc_export.export(Pick(make_model(), names, output), (example,) * len(names), folder / f"{output}.onnx",
                      input_names=names, output_names=[output], dynamic_shapes=(dynamic,))


def train(tokens, schedule=None):
    model = make_model().double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=OPTIMIZER["lr"], betas=tuple(OPTIMIZER["betas"]),
                                  eps=OPTIMIZER["eps"], weight_decay=OPTIMIZER["weight_decay"])
    scheduler = schedule and transformers.get_cosine_with_min_lr_schedule_with_warmup(
        optimizer, num_warmup_steps=schedule["warmup"], num_training_steps=STEPS, min_lr=schedule["min_lr"])
    losses, norms = [], []
    for rows in tokens.split(BATCH):
        optimizer.zero_grad()
        loss = model(input_ids=rows, labels=rows, use_cache=False).loss
        loss.backward()
        norms.append(torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters())).item())
        optimizer.step()
        if scheduler:
            scheduler.step()
        losses.append(loss.item())
    return losses, norms


def main(folder):
    tokens = make_tokens()
    export(folder, ["input_ids", "labels"], "loss", tokens[:2])
    export(folder, ["input_ids"], "logits", tokens[:2])
    for name in ("input_ids", "labels"):
        numpy.save(folder / f"{name}.npy", tokens.numpy())
    for name, schedule in (("expected", None), ("expected-warm-up", SCHEDULE)):
        losses, norms = train(tokens, schedule)
        (folder / f"{name}.json").write_text(json.dumps(
            {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "loss": losses, "grad_norm": norms}, indent=1))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
