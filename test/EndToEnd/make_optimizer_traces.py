"""Trains the model of test/Inputs/models/mlp with an optimizer of PyTorch, and writes the trace and the final parameters.

    python3 make_optimizer_traces.py NAME...        needs PyTorch, transformers, onnx, NumPy

NAME is that of a row of lib/Dialect/Graph/Optimizers.cpp and, in any case of letters, of a class of torch.optim:
`adagrad` is torch.optim.Adagrad. Two are not there: `nesterov` is torch.optim.SGD with nesterov=True, and `lion` is
Algorithm 2 of Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023), written out below. And what stands around a
rule: `clip-value` and `clip-value-adamw` clip each element of the gradients, `two-rates` has two groups whose rates follow one
schedule.
"""

import json
import pathlib
import sys

import numpy
import onnx
import torch
import transformers

import finals

FOLDER = pathlib.Path(__file__).parent.parent / "Inputs" / "models" / "mlp"
STEPS, BATCH, DECAY = 20, 16, 1e-2
RATES = {"lion": 1e-3, "nesterov": 0.05, "clip-value": 0.5}  # others: 1e-2
CLIPPED = {"clip-value": ("sgd", 5e-3), "clip-value-adamw": ("adamw", 5e-3)}  # less than half of the first gradients' elements
SECOND = "4."  # the parameters of the second group of `two-rates`
SCHEDULE = {"type": "cosine", "warmup": 4, "steps": 20, "min_lr": 0.01}


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
    if name in CLIPPED:
        rule, bound = CLIPPED[name]
        return settings | {"type": rule, "clip_value": bound}, known[rule](parameters, **settings)
    return settings, known[name](parameters, **settings)


def make_scheduled(parameters):
    settings = {"type": "sgd", "lr": 0.1, "weight_decay": DECAY, "momentum": 0.9}
    own = {"lr": 0.02}
    groups = [{"params": [value for key, value in parameters.items() if not key.startswith(SECOND)]},
              {"params": [value for key, value in parameters.items() if key.startswith(SECOND)], **own}]
    optimizer = torch.optim.SGD(groups, **{key: value for key, value in settings.items() if key != "type"})
    scheduler = transformers.get_cosine_with_min_lr_schedule_with_warmup(
        optimizer, num_warmup_steps=SCHEDULE["warmup"], num_training_steps=SCHEDULE["steps"], min_lr=SCHEDULE["min_lr"])
    return settings | {"groups": [{"match": [f"{SECOND}*"], **own}]}, optimizer, scheduler


def train(name, dtype):
    relu, tanh, linear = torch.nn.ReLU, torch.nn.Tanh, torch.nn.Linear
    network = torch.nn.Sequential(linear(20, 64), relu(), linear(64, 64), tanh(), linear(64, 10))
    model = onnx.load(FOLDER / "logits.onnx")
    first = {tensor.name: torch.tensor(onnx.numpy_helper.to_array(tensor)) for tensor in model.graph.initializer}
    network.load_state_dict({key: first[key] for key in network.state_dict()})
    network.to(dtype)
    parameters = dict(network.named_parameters())
    is_scheduled = name == "two-rates"
    settings, optimizer, scheduler = make_scheduled(parameters) if is_scheduled else (*make(name, parameters.values()), None)
    x, y = (torch.tensor(numpy.load(FOLDER / f"{part}.npy")) for part in "xy")
    losses, norms = [], []
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x[rows].to(dtype)), y[rows])
        loss.backward()
        losses.append(loss.item())
        norms.append(torch.sqrt(sum((parameter.grad.double() ** 2).sum() for parameter in parameters.values())).item())
        if name in CLIPPED:
            torch.nn.utils.clip_grad_value_(parameters.values(), CLIPPED[name][1])
        optimizer.step()
        if scheduler:
            scheduler.step()
    return losses, norms, {key: parameter.detach() for key, parameter in parameters.items()}, settings


for name in sys.argv[1:]:
    exact, rounded = train(name, torch.float64), train(name, torch.float32)
    differences = {key: (rounded[2][key].double() - value).abs().max().item() for key, value in exact[2].items()}
    trace = {"steps": STEPS, "global_batch": BATCH, "optimizer": {"type": name, **exact[3]}, "clip_norm": None,
             **({"lr_schedule": SCHEDULE} if name == "two-rates" else {}),
             "inputs": ["x", "y"], "loss": exact[0], "grad_norm": exact[1], "loss_float32": rounded[0],
             "grad_norm_float32": rounded[1], "parameter_difference_float32_to_float64": differences}
    (FOLDER / f"trace-{name}.json").write_text(json.dumps(trace, indent=1) + "\n")
    finals.write(FOLDER / f"final-{name}.json", finals.of_tensors(exact[2]))
    print(name, exact[0][0], exact[0][-1], max(differences.values()))
