"""Learning rates of PyTorch, transformers and DeepSpeed, step by step: Inputs/rates.json, which RateTests.cpp reads.

    python3 make_rates.py        needs PyTorch and transformers

Step t (from 0) is the t-th that is applied; `lr` is what the library's optimizer uses in it, for a group whose rate is
BASE. `exact`: the library evaluates a closed formula, whose doubles are met to the last bit with the same C library. The
others multiply from step to step, and a closed formula is within 1e-12 of them. DeepSpeed is not installed: its rows are
the formulas of its deepspeed/runtime/lr_schedules.py (commit 22779f2c), which stand below; its scheduler is stepped
behind the optimizer and begins at iteration -1, so step t has iteration t - 1.
"""

import json
import math
import pathlib
import warnings

import torch
import transformers.optimization as hf
from torch.optim import lr_scheduler as schedulers

warnings.filterwarnings("ignore")
STEPS, BASE, WARMUP, LEAST = 10000, 3e-4, 500, 3e-5
AT = [0, 1, 2, 3, 50, 119, 480, 499, 500, 501, 502, 529, 999, 1000, 1001, 1029,
      *range(1187, STEPS, 679), STEPS - 3, STEPS - 2, STEPS - 1]
KINDS = hf.SchedulerType


def run(make, steps=STEPS):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=BASE)
    scheduler, rates = make(optimizer), []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def run_hf(kind, **options):
    return run(lambda optimizer: hf.TYPE_TO_SCHEDULER_FUNCTION[kind](optimizer, **options))


def deepspeed_warmup(shape, i, warmup):
    return (1 / math.log(warmup)) * math.log(i + 1) if shape == "log" else i / warmup


def deepspeed(kind, shape, low, total=STEPS, floor=1e-4):
    def at(t):
        i = t - 1
        if kind == "WarmupCosineLR":
            if i < 0:
                return BASE * 0.0
            cosine = (1 + math.cos(math.pi * min(1.0, (i - WARMUP + 1) / max(1, total - WARMUP)))) / 2
            behind = max(0.0, floor + (1.0 - floor) * cosine)
            return BASE * (low + deepspeed_warmup(shape, i, WARMUP) * (1.0 - low) if i < WARMUP else behind)
        if i < 0:
            return low
        behind = 1.0 if kind == "WarmupLR" else max(0.0, float(total - i) / float(max(1.0, total - WARMUP)))
        return low + (BASE - low) * (deepspeed_warmup(shape, i, WARMUP) if i < WARMUP else behind)
    return [at(t) for t in range(STEPS)]


def list_transformers():
    warm, whole = {"num_warmup_steps": WARMUP}, {"num_warmup_steps": WARMUP, "num_training_steps": STEPS}
    spec = {"warmup": WARMUP, "steps": STEPS}
    yield {"type": "constant"}, run(lambda optimizer: hf.TYPE_TO_SCHEDULER_FUNCTION[KINDS.CONSTANT](optimizer))
    yield {"type": "constant", "warmup": WARMUP}, run_hf(KINDS.CONSTANT_WITH_WARMUP, **warm)
    yield {"type": "linear", **spec}, run_hf(KINDS.LINEAR, **whole)
    yield {"type": "cosine", **spec}, run_hf(KINDS.COSINE, **whole)
    yield {"type": "cosine", **spec, "min_lr": LEAST}, run_hf(KINDS.COSINE_WITH_MIN_LR, **whole, min_lr=LEAST)
    yield {"type": "cosine_with_restarts", **spec, "cycles": 3}, run_hf(KINDS.COSINE_WITH_RESTARTS, **whole, num_cycles=3)
    yield {"type": "polynomial", **spec, "power": 2, "min_lr": 1e-7}, run_hf(KINDS.POLYNOMIAL, **whole, power=2.0, lr_end=1e-7)
    yield {"type": "inverse_sqrt", "warmup": WARMUP}, run_hf(KINDS.INVERSE_SQRT, **warm)
    for decay in ("linear", "cosine", "1-sqrt"):
        yield ({"type": "wsd", **spec, "decay": 2000, "decay_shape": decay, "min_lr": LEAST},
               run_hf(KINDS.WARMUP_STABLE_DECAY, **whole, num_decay_steps=2000, decay_type=decay, min_lr_ratio=LEAST / BASE))


def list_torch():
    """The last number says whether it is exact."""
    yield {"type": "step", "size": 1000, "gamma": 0.5}, run(lambda o: schedulers.StepLR(o, 1000, 0.5)), False
    yield ({"type": "multistep", "milestones": [2000, 5000, 8000], "gamma": 0.1},
           run(lambda o: schedulers.MultiStepLR(o, [2000, 5000, 8000], 0.1)), False)
    yield {"type": "exponential", "gamma": 0.9995}, run(lambda o: schedulers.ExponentialLR(o, 0.9995)), False
    yield {"type": "cosine", "steps": STEPS, "min_lr": LEAST}, run(lambda o: schedulers.CosineAnnealingLR(o, STEPS, LEAST)), False
    yield ({"type": "warm_restarts", "period": 1000, "multiplier": 2, "min_lr": LEAST},
           run(lambda o: schedulers.CosineAnnealingWarmRestarts(o, 1000, 2, LEAST)), True)
    yield ({"type": "polynomial", "steps": STEPS, "power": 2, "min_lr": 0},
           run(lambda o: schedulers.PolynomialLR(o, STEPS, 2.0)), False)
    yield ({"type": "one_cycle", "steps": STEPS},
           run(lambda o: schedulers.OneCycleLR(o, BASE, total_steps=STEPS, cycle_momentum=False), STEPS - 1), True)
    yield ({"type": "cosine", "warmup": WARMUP, "warmup_from": 1e-3, "steps": STEPS, "min_lr": LEAST},
           run(lambda o: schedulers.SequentialLR(o, [schedulers.LinearLR(o, 1e-3, 1.0, WARMUP),
                                                     schedulers.CosineAnnealingLR(o, STEPS - WARMUP, LEAST)], [WARMUP])), False)


def list_deepspeed():
    for shape in ("log", "linear"):
        spec = {"warmup": WARMUP, "warmup_shape": shape}
        yield {"type": "WarmupLR", **spec, "min_lr": 1e-6}, deepspeed("WarmupLR", shape, 1e-6)
        yield {"type": "WarmupDecayLR", **spec, "steps": STEPS, "min_lr": 0}, deepspeed("WarmupDecayLR", shape, 0.0)
        yield ({"type": "WarmupCosineLR", **spec, "steps": STEPS, "warmup_from": 0.0, "min_ratio": 1e-4},
               deepspeed("WarmupCosineLR", shape, 0.0))


def main():
    rows = [(*row, True) for row in list_transformers()] + list(list_torch()) + [(*row, True) for row in list_deepspeed()]
    schedules = [{"lr_schedule": spec, "exact": exact, "lr": [rates[t] for t in AT if t < len(rates)]}
                 for spec, rates, exact in rows]
    head = f'{{"base": {BASE}, "at": {json.dumps(AT)},\n"schedules": [\n'
    text = head + ",\n".join(map(json.dumps, schedules)) + "\n]}\n"
    (pathlib.Path(__file__).parent / "Inputs" / "rates.json").write_text(text, encoding="utf-8")
    print(len(rows), "schedules,", len(AT), "steps each")


main()
