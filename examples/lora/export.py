"""Makes the files of this example: loss.onnx, adapter_config.json, expected.json.

    python3 export.py FOLDER        needs xlc_export (pip install ../../python), transformers, peft, onnxscript, NumPy

A small GPT-2 (2 layers, 32 wide, tied embedding) with adapters of PEFT on three of the four matrices of each layer: `c_attn`, and both
that are named `c_proj`. Any model of PEFT is exported the same way: its frozen base has requires_grad=False, which the file records.
PyTorch trains the same adapters in float64; its losses are what a compiled program is compared with.
"""

import json
import pathlib
import sys

import numpy
import peft
import torch
import transformers
import xlc_export

STEPS, BATCH = 30, 8
OPTIMIZER = {"type": "adamw", "lr": 1e-2, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1}
TOKENS = pathlib.Path(__file__).parent.parent / "gpt2" / "input_ids.npy"


def make_base():
    torch.manual_seed(1)
    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=256, n_positions=32, resid_pdrop=0, embd_pdrop=0,
                                     attn_pdrop=0, bos_token_id=0, eos_token_id=0, initializer_range=0.1)
    return transformers.GPT2LMHeadModel(config).eval()


def make_model():
    """The base with adapters as PEFT makes them: lora_A random, lora_B zero."""
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True, task_type="CAUSAL_LM")
    base = make_base()
    torch.manual_seed(2)
    return peft.get_peft_model(base, config)


class WithLoss(torch.nn.Module):
    """Fixes the order of the inputs and picks the loss, so that the ONNX file has just these. Its parameters are those of PEFT's model
    with `model.` before them."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, labels):
        return self.model(input_ids=input_ids, labels=labels, use_cache=False).loss


def read_batches():
    """The rows of the steps: 20 steps are once through, and then the first ones come again."""
    rows = torch.from_numpy(numpy.load(TOKENS)).split(BATCH)
    return [rows[step % len(rows)] for step in range(STEPS)]


def train():
    """PEFT's model after the steps, in float64, and what each step had."""
    model = make_model().double()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=OPTIMIZER["lr"], betas=tuple(OPTIMIZER["betas"]), eps=OPTIMIZER["eps"],
                                  weight_decay=OPTIMIZER["weight_decay"])
    losses, norms = [], []
    for rows in read_batches():
        optimizer.zero_grad()
        loss = model(input_ids=rows, labels=rows, use_cache=False).loss
        loss.backward()
        norms.append(torch.sqrt(sum((parameter.grad ** 2).sum() for parameter in trained)).item())
        optimizer.step()
        losses.append(loss.item())
    return model, losses, norms


def main(folder):
    example = read_batches()[0][:2]
    dynamic = ({0: "batch", 1: "sequence"},) * 2
    module = WithLoss(make_model())
    xlc_export.export(module, (example, example), folder / "loss.onnx", input_names=["input_ids", "labels"], output_names=["loss"],
                      dynamic_shapes=dynamic, reference=False)
    module.model.peft_config["default"].save_pretrained(folder)
    _, losses, norms = train()
    (folder / "expected.json").write_text(json.dumps(
        {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "loss": losses, "grad_norm": norms}, indent=1))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
