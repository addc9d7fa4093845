"""Makes trace-sgd.json and final-sgd.json of bert-tiny: what PyTorch does with it under SGD.

    python3 make_bert_trace.py ../Inputs/models/bert-tiny        needs PyTorch 2.15, transformers 5.23, NumPy

The trace that came with the model is of AdamW, which turns gradients near its epsilon into steps. SGD does not: float32
alone stays within 1.2e-6 of float64 (losses 9e-7, norms 5e-6 relative), so what is compared is the program, not the noise.
"""

import json
import pathlib
import sys

import numpy
import torch
import transformers

import finals

INPUTS = ["input_ids", "attention_mask", "token_type_ids", "labels"]
OPTIMIZER = {"type": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.0}
STEPS, BATCH = 20, 8


def make_model():
    """The model of loss.onnx, with its initial weights; `main` checks that by the first loss."""
    torch.manual_seed(2)
    config = transformers.BertConfig(num_hidden_layers=3, num_attention_heads=4, hidden_size=64, intermediate_size=128,
                                     vocab_size=200, max_position_embeddings=64, hidden_dropout_prob=0.0,
                                     attention_probs_dropout_prob=0.0, num_labels=2, initializer_range=0.1)
    return transformers.BertForSequenceClassification(config).eval()


def train(data, dtype):
    """Losses, gradient norms and final parameters."""
    model = make_model().to(dtype)
    parameters = dict(model.named_parameters())
    optimizer = torch.optim.SGD(parameters.values(), lr=OPTIMIZER["lr"], momentum=OPTIMIZER["momentum"])
    losses, norms = [], []
    for step in range(STEPS):
        *inputs, labels = (rows[step * BATCH:(step + 1) * BATCH] for rows in data)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(**dict(zip(INPUTS, inputs))).logits, labels)
        loss.backward()
        losses.append(loss.item())
        norms.append(torch.sqrt(sum((parameter.grad.double() ** 2).sum() for parameter in parameters.values())).item())
        optimizer.step()
    return losses, norms, {f"model.{name}": parameter.detach() for name, parameter in parameters.items()}


def main():
    torch.set_num_threads(1)  # the same digits again
    folder = pathlib.Path(sys.argv[1])
    data = [torch.from_numpy(numpy.load(folder / f"{name}.npy")) for name in INPUTS]
    exact, rounded = train(data, torch.float64), train(data, torch.float32)
    expected = json.loads((folder / "trace-adamw.json").read_text())["loss"][0]
    assert abs(exact[0][0] - expected) < 1e-12, f"another model: its first loss is {exact[0][0]}, not {expected}"
    trace = {"steps": STEPS, "global_batch": BATCH, "optimizer": OPTIMIZER, "clip_norm": None, "inputs": INPUTS,
             "loss": exact[0], "grad_norm": exact[1], "loss_float32": rounded[0], "grad_norm_float32": rounded[1],
             "parameter_difference_float32_to_float64": {
                 name: (rounded[2][name].double() - value).abs().max().item() for name, value in exact[2].items()}}
    (folder / "trace-sgd.json").write_text(json.dumps(trace, indent=1) + "\n")
    finals.write(folder / "final-sgd.json", finals.of_tensors(exact[2]))


if __name__ == "__main__":
    main()
