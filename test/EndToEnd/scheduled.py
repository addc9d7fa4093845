"""Learning rates that move, and gradients that are clipped element by element, in programs.

Rates are those of unittests/Spec/Inputs/rates.json, PyTorch's, transformers' and DeepSpeed's, in the log's nine digits. That
parameters move by them, in two groups, is a case of the matrix (`mlp/logits two-rates`), as clipping on CPUs is (`clip-value`).
"""

import json
import pathlib

import cases
import compare
import gpus
import program

RATES = pathlib.Path(__file__).resolve().parents[2] / "unittests" / "Spec" / "Inputs" / "rates.json"
MLP, CLIPPED = ("mlp", "logits", "sgd"), ("mlp", "logits", "clip-value")
# Of rates.json: a formula of each library, with a warm-up and without, one that goes down twice.
TYPES = ("wsd", "polynomial", "one_cycle", "warm_restarts", "WarmupCosineLR")
STEPS = 1100


def shown(rate):
    return float(f"{rate:.9g}")


def make(setting, name, case=MLP, **changes):
    case = cases.Case(*case) if isinstance(case, tuple) else case
    return program.Program.of_case(setting, case, program.read_trace(setting, case), name, **changes)


def rates_of(trained, *options, steps):
    trained.train(steps, *options)
    return [step["lr"] for step in trained.log()]


def rates_are_the_libraries(setting):
    known = json.loads(RATES.read_text())
    rows = {row["lr_schedule"]["type"]: row for row in known["schedules"]}
    for kind in TYPES:
        trained = make(setting, f"rates-{kind}", optimizer={"type": "sgd", "lr": known["base"]},
                       lr_schedule=rows[kind]["lr_schedule"])
        found = rates_of(trained, steps=STEPS)
        for step, expected in zip(known["at"], rows[kind]["lr"]):
            if step < STEPS and found[step] != shown(expected):
                yield f"{kind}: step {step + 1} has the rate {found[step]}, not {shown(expected)}"


def steps_of_the_run_end_a_cosine(setting):
    """Where the spec has none; and --lr scales all of it."""
    trained = make(setting, "cosine", optimizer={"type": "sgd", "lr": 0.5}, lr_schedule={"type": "cosine", "min_lr": 0.1})
    short, long = rates_of(trained, steps=4), rates_of(trained, steps=8)
    expected = [0.5, 0.3 + 0.2 * 0.5 ** 0.5, 0.3, 0.3 - 0.2 * 0.5 ** 0.5]
    if short != list(map(shown, expected)):
        yield f"over 4 steps the rates are {short}"
    if long[::2] != short:
        yield f"over 8 steps every other rate is {long[::2]}, not {short}"
    scaled = rates_of(trained, "--lr", "0.25", steps=4)
    if scaled != [shown(rate / 2) for rate in expected]:
        yield f"of half the rate the rates are {scaled}, not half of {short}"


def skipped_steps_do_not_count(setting):
    """Two steps overflow at scales of 2^(n + 1) and 2^n, the third is the schedule's first."""
    for exponent in range(16, 60):
        trained = make(setting, f"skipped-{exponent}", precision={"compute": "fp16", "loss_scale": {"initial": 2 ** exponent}},
                       optimizer={"type": "sgd", "lr": 0.125}, lr_schedule={"type": "linear", "steps": 8})
        trained.train(6)
        skipped = [step["skipped"] for step in trained.log()]
        if sum(skipped) == 2:
            break
    else:
        yield "no scale makes two steps overflow"
        return
    applied = 0
    for step, is_skipped in zip(trained.log(), skipped):
        if step["lr"] != 0.125 * (8 - applied) / 8:
            yield f"step {step['step']} has the rate {step['lr']}, with {applied} steps applied before: {skipped}"
        applied += not is_skipped


def clipping_is_the_same_everywhere(setting):
    """With masters of sixteen bits, whole or in shards, with a loss scale; on simulated GPUs; where ranks have columns of a weight."""
    trace = program.read_trace(setting, cases.Case(*CLIPPED))
    for precision in ({"compute": "bf16"}, {"compute": "fp16", "loss_scale": 1024}):
        runs = {}
        for stage in (0, 1, 3):
            case = cases.Case(*CLIPPED, dp=2, stage=stage)
            trained = make(setting, f"clipped-{precision['compute']}-{stage}", case, precision=precision)
            trained.train(trace["steps"])
            runs[stage] = trained.losses(), (trained.folder / "run.safetensors").read_bytes()
            worst = max(map(compare.relative, runs[stage][0], trace["loss"]))
            if not worst <= 0.01:
                yield f"{precision}, stage {stage}: losses are {worst} from PyTorch's in float64"
            if runs[stage] != runs[0]:
                yield f"{precision}, stage {stage}: other losses or parameters than stage 0"
    simulated = gpus.Simulated(setting, "clipped-gpu", CLIPPED, {"dp": 2, "stage": 2})
    simulated.train("early", XLC_SIMULATE_DEVICES=2)
    yield from gpus.far_from_pytorch(setting, CLIPPED, "fp32", simulated.log("early"), simulated.trace)
    whole = program.read_trace(setting, cases.Case("gpt2-tiny", "loss", "sgd"))
    optimizer, losses = {**whole["optimizer"], "clip_value": 1e-3}, {}
    for tp in (1, 2):
        trained = make(setting, f"clipped-tp-{tp}", cases.Case("gpt2-tiny", "loss", "sgd", tp=tp), optimizer=optimizer)
        trained.train(whole["steps"])
        losses[tp] = trained.losses()
    if not max(map(compare.relative, losses[2], losses[1])) <= compare.LOSS_TOLERANCE:
        yield f"tp 2: losses are {losses[2]}, not {losses[1]}"
    if not max(map(compare.relative, losses[1], whole["loss"])) > 1e-3:
        yield "the bound clips nothing that matters"


CHECKS = [(f"rates: {check.__name__.replace('_', ' ')}", check) for check in
          (rates_are_the_libraries, steps_of_the_run_end_a_cosine, skipped_steps_do_not_count, clipping_is_the_same_everywhere)]
