"""Trains the model of test/Inputs/models/mlp with an optimizer of PyTorch, and writes the trace and the final parameters.

    python3 make_optimizer_traces.py NAME...        needs PyTorch, onnx, NumPy

NAME is that of a row of lib/Dialect/Graph/Optimizers.cpp and, in any case of letters, of a class of torch.optim:
`adagrad` is torch.optim.Adagrad. Two are not there: `nesterov` is torch.optim.SGD with nesterov=True, and `lion` is
Algorithm 2 of Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023), written out below.
"""

import json
import pathlib
import sys

import numpy
import onnx
import torch

import finals

FOLDER = pathlib.Path(__file__).parent.parent / "Inputs" / "models" / "mlp"
STEPS, BATCH, DECAY = 20, 16, 1e-2
RATES = {"lion": 1e-3, "nesterov": 0.05}  # others: 1e-2


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr, weight_decay, betas=(0.9, 0.99)):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay, "betas": betas})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                c = beta1 * m + (1 - beta1) * p.grad
                p -= group["lr"] * (c.sign() + group["weight_decay"] * p)
                m.copy_(beta2 * m + (1 - beta2) * p.grad)


def make(name, parameters):
    settings = {"lr": RATES.get(name, 1e-2), "weight_decay": DECAY}
    if name == "lion":
        return settings, Lion(parameters, **settings)
    if name == "nesterov":
        settings["momentum"] = 0.9
        return settings, torch.optim.SGD(parameters, nesterov=True, **settings)
    known = {key.lower(): value for key, value in vars(torch.optim).items() if isinstance(value, type)}
    return settings, known[name](parameters, **settings)


def train(name, dtype):
    relu, tanh, linear = torch.nn.ReLU, torch.nn.Tanh, torch.nn.Linear
    network = torch.nn.Sequential(linear(20, 64), relu(), linear(64, 64), tanh(), linear(64, 10))
    model = onnx.load(FOLDER / "logits.onnx")
    first = {tensor.name: torch.tensor(onnx.numpy_helper.to_array(tensor)) for tensor in model.graph.initializer}
    network.load_state_dict({key: first[key] for key in network.state_dict()})
    network.to(dtype)
    parameters = dict(network.named_parameters())
    settings, optimizer = make(name, parameters.values())
    x, y = (torch.tensor(numpy.load(FOLDER / f"{part}.npy")) for part in "xy")
    losses, norms = [], []
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x[rows].to(dtype)), y[rows])
        loss.backward()
        losses.append(loss.item())
        norms.append(torch.sqrt(sum((parameter.grad.double() ** 2).sum() for parameter in parameters.values())).item())
        optimizer.step()
    return losses, norms, {key: parameter.detach() for key, parameter in parameters.items()}, settings


for name in sys.argv[1:]:
    exact, rounded = train(name, torch.float64), train(name, torch.float32)
    differences = {key: (rounded[2][key].double() - value).abs().max().item() for key, value in exact[2].items()}
    trace = {"steps": STEPS, "global_batch": BATCH, "optimizer": {"type": name, **exact[3]}, "clip_norm": None,
             "inputs": ["x", "y"], "loss": exact[0], "grad_norm": exact[1], "loss_float32": rounded[0],
             "grad_norm_float32": rounded[1], "parameter_difference_float32_to_float64": differences}
    (FOLDER / f"trace-{name}.json").write_text(json.dumps(trace, indent=1) + "\n")
    finals.write(FOLDER / f"final-{name}.json", finals.of_tensors(exact[2]))
    print(name, exact[0][0], exact[0][-1], max(differences.values()))
