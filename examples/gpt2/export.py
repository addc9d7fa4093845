"""Makes the files of this example: loss.onnx, logits.onnx, loss-dropout.onnx, input_ids.npy, labels.npy, expected*.json.

    python3 export.py FOLDER        needs xlc_export (pip install ../../python), transformers, onnxscript, NumPy

A small GPT-2 (4 layers, 64 wide, tied embedding) and rows of tokens that it can learn: next = permutation(previous),
with 10 % noise. Any GPT-2 of transformers is exported the same way. PyTorch trains the same model in float64; its losses
are what a compiled program is compared with.
"""

import json
import pathlib
import sys

import masks
import numpy
import torch
import transformers
import xlc_export

STEPS, BATCH, SEQUENCE, VOCABULARY = 20, 8, 32, 256
OPTIMIZER = {"type": "adamw", "lr": 3e-3, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1}
SCHEDULE = {"type": "cosine", "warmup": 2, "min_lr": 3e-4}  # of warm-up.yaml and dropout.yaml
DROPOUT, SEED = 0.1, 7  # of dropout.yaml


def make_model(dropout=0.0):
    torch.manual_seed(1)
    config = transformers.GPT2Config(n_layer=4, n_head=4, n_embd=64, vocab_size=VOCABULARY, n_positions=64,
                                     resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout, bos_token_id=0, eos_token_id=0,
                                     initializer_range=0.1)
    return transformers.GPT2LMHeadModel(config).train(dropout > 0)


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


def export(path, names, output, example, dropout=0.0):
    dynamic = ({0: "batch", 1: "sequence"},) * len(names)
    module = Pick(make_model(dropout), names, output).train(dropout > 0)
    xlc_export.export(module, (example,) * len(names), path,
                      input_names=names, output_names=[output], dynamic_shapes=(dynamic,))


def train(tokens, schedule=None, dropout=0.0):
    model = make_model(dropout).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=OPTIMIZER["lr"], betas=tuple(OPTIMIZER["betas"]),
                                  eps=OPTIMIZER["eps"], weight_decay=OPTIMIZER["weight_decay"])
    scheduler = schedule and transformers.get_cosine_with_min_lr_schedule_with_warmup(
        optimizer, num_warmup_steps=schedule["warmup"], num_training_steps=STEPS, min_lr=schedule["min_lr"])
    losses, norms = [], []
    for step, rows in enumerate(tokens.split(BATCH), 1):
        optimizer.zero_grad()
        with masks.drawn(SEED, step):
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
    export(folder / "loss.onnx", ["input_ids", "labels"], "loss", tokens[:2])
    export(folder / "loss-dropout.onnx", ["input_ids", "labels"], "loss", tokens[:2], DROPOUT)
    export(folder / "logits.onnx", ["input_ids"], "logits", tokens[:2])
    for name in ("input_ids", "labels"):
        numpy.save(folder / f"{name}.npy", tokens.numpy())
    for name, schedule, dropout in (("expected", None, 0), ("expected-warm-up", SCHEDULE, 0), ("expected-dropout", SCHEDULE, DROPOUT)):
        losses, norms = train(tokens, schedule, dropout)
        (folder / f"{name}.json").write_text(json.dumps(
            {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "loss": losses, "grad_norm": norms}, indent=1))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
