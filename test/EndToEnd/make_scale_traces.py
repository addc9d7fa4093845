"""Runs PyTorch's GradScaler over random overflows, and writes what became of its scale: unittests/Runtime/Inputs/grad_scaler.txt.

    python3 make_scale_traces.py        needs PyTorch

Each line is a run: the power of two that the scale begins with, the number of good steps after which it grows, and a letter a step,
of which LossScaleTest.cpp has its names.
"""

import pathlib
import random

import torch

PATH = pathlib.Path(__file__).parents[2] / "unittests" / "Runtime" / "Inputs" / "grad_scaler.txt"
RUNS, STEPS = 1000, 60
APPLIED, GROWN, HALVED = ".+-"  # applied; applied, and the scale is doubled; skipped, and the scale is halved


def step(scaler, parameter, optimizer, overflows):
    """One step as a training loop does it, with a gradient that is infinite or no number where it `overflows`."""
    before, value = scaler.get_scale(), parameter.item()
    optimizer.zero_grad()
    factor = random.choice((float("inf"), float("nan"))) if overflows else 1.0
    scaler.scale(parameter * factor).sum().backward()
    scaler.step(optimizer)
    scaler.update()
    ratio, is_applied = scaler.get_scale() / before, parameter.item() != value
    return {(True, 1): APPLIED, (True, 2): GROWN, (False, 0.5): HALVED}[is_applied, ratio]


def run(draw):
    power, interval, odds = draw.randrange(-20, 100), draw.randrange(1, 7), draw.randrange(8)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** power, growth_interval=interval)
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    return f"{power} {interval} " + "".join(step(scaler, parameter, optimizer, draw.randrange(8) < odds) for _ in range(STEPS))


random.seed(1)
pattern = random.Random(1)
lines = [f"# torch.amp.GradScaler of PyTorch {torch.__version__.split('+')[0]}, by test/EndToEnd/make_scale_traces.py"]
lines += [run(pattern) for _ in range(RUNS)]
PATH.parent.mkdir(exist_ok=True)
PATH.write_text("\n".join(lines) + "\n")
print(RUNS, "runs,", PATH.stat().st_size, "bytes")
