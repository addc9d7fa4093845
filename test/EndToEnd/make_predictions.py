"""Makes predictions.json of gpt2-tiny, bert-tiny and cnn: logits of PyTorch's eval mode for the first 37 rows, at the values of the file.

    python3 make_predictions.py ../Inputs/models        needs PyTorch 2.15, transformers 5.24, onnx, NumPy

Of each row the sum, the sum of squares, and the elements at a few places, all of float64: the files stay small, and no row can stand in
the place of another.
"""

import json
import pathlib
import sys

import make_batch_norm_eval
import make_bert_trace
import numpy
import onnx
import torch
import transformers

ROWS, SAMPLES = 37, 6


def make_gpt2(folder):
    """Values that the file does not have are those with which every GPT-2 begins."""
    config = transformers.GPT2Config(vocab_size=256, n_positions=64, n_embd=64, n_layer=4, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    model = transformers.GPT2LMHeadModel(config).double().eval()
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in onnx.load(folder / "logits.onnx").graph.initializer}
    values = {name: torch.tensor(tensors[f"model.{name}"]) for name in model.state_dict() if f"model.{name}" in tensors}
    missing = set(model.state_dict()) - set(values)
    assert all(name.endswith(".bias") or ".ln_" in name or name == "transformer.wte.weight" for name in missing), missing
    model.load_state_dict(values, strict=False)
    return model


def describe(logits):
    rows = logits.detach().reshape(ROWS, -1)
    places = [7919 * (k + 1) % rows.shape[1] for k in range(SAMPLES)]
    return {"shape": list(logits.shape), "sums": rows.sum(1).tolist(), "squares": (rows * rows).sum(1).tolist(), "places": places,
            "elements": rows[:, places].tolist()}


def main():
    models = pathlib.Path(sys.argv[1])

    def rows_of(folder, name):
        return torch.tensor(numpy.load(models / folder / f"{name}.npy"))[:ROWS]

    gpt2, bert = make_gpt2(models / "gpt2-tiny"), make_bert_trace.make_model().double()
    cnn = make_batch_norm_eval.make_model(models / "cnn" / "logits-torchscript-train.onnx").eval()
    ids, labels = (rows_of("gpt2-tiny", name) for name in ("input_ids", "labels"))
    first = json.loads((models / "gpt2-tiny" / "trace-adamw.json").read_text())["loss"][0]
    found = gpt2(ids[:8], labels=labels[:8]).loss.item()
    assert abs(found - first) < 1e-9, f"another model: its first loss is {found}, not {first}"
    made = {"gpt2-tiny": gpt2(ids).logits,
            "bert-tiny": bert(**{name: rows_of("bert-tiny", name) for name in make_bert_trace.INPUTS[:-1]}).logits,
            "cnn": cnn(rows_of("cnn", "x").double())}
    for folder, logits in made.items():
        (models / folder / "predictions.json").write_text(json.dumps(describe(logits)) + "\n")


if __name__ == "__main__":
    main()
