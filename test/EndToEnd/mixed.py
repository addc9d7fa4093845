"""Training in bfloat16, compared with PyTorch's.

Two correct runs in sixteen bits differ: the order of a sum decides how it is rounded. So a program is not compared with a run,
but with how far PyTorch's own runs in bfloat16 are from its float64 run: trace-*-bf16.json holds four of them, with sums in
other orders. The distance of a program is the mean over the steps; of five layouts, each may be at most three times as far as the
farthest of the four, and all together one and a half times for losses, twice for gradient norms.
"""

import json

import cases
import program

CUTS = ("node_relu",)  # of mlp, which has one unit
LAYOUTS = [dict(), dict(dp=4, stage=3), dict(tp=2), dict(pp=2, micro_batches=2), dict(dp=2, pp=2, tp=2, stage=1, micro_batches=2)]
MODELS = [("gpt2-tiny", "loss", "adamw"), ("gpt2-tiny", "loss", "sgd"), ("llama-tiny", "loss", "adamw"),
          ("llama-tiny", "loss", "sgd"), ("bert-tiny", "loss", "adamw"), ("bert-tiny", "loss", "sgd"),
          ("blenderbot-tiny", "loss", "adamw"), ("blenderbot-tiny", "loss", "sgd"), ("deberta-v2-tiny", "loss", "adamw"),
          ("deberta-v2-tiny", "loss", "sgd"), ("gpt2-tiny-odd", "loss", "sgd"), ("gpt2-tiny-ragged", "loss", "adamw-clip"),
          ("mlp", "logits", "sgd")]
SAMPLE = [MODELS[0], MODELS[3], MODELS[7], MODELS[12]]

MEAN = {"loss": 1.5, "grad_norm": 2}
ONE = 3


def distance(found, expected):
    """Mean over the steps of the relative difference."""
    return sum(abs(one - other) / abs(other) for one, other in zip(found, expected)) / len(expected)


def follow_pytorch(setting, model):
    """Complaints about one model under one optimizer, in five layouts."""
    folder, _, name = model
    exact = program.read_trace(setting, cases.Case(*model))
    runs = json.loads((setting.models / folder / f"trace-{name}-bf16.json").read_text())["runs_by_micro_batch"].values()
    farthest = {key: max(distance(run[key], exact[key]) for run in runs) for key in MEAN}
    ratios = {key: [] for key in MEAN}
    for layout in LAYOUTS:
        cuts = dict(cuts=CUTS) if folder == "mlp" and "pp" in layout else {}
        case = cases.Case(*model, **layout, **cuts)
        trained = program.Program.of_case(setting, case, exact, f"mixed {case}".replace("/", "-"), precision="bf16")
        trained.train(exact["steps"], "--check")
        for key in MEAN:
            ratios[key].append(distance([step[key] for step in trained.log()], exact[key]) / farthest[key])
            if not ratios[key][-1] <= ONE:
                yield f"{case}: {key} is {ratios[key][-1]:.2f} times as far from float64 as PyTorch's bfloat16, {ONE} allowed"
    for key, allowed in MEAN.items():
        mean = sum(ratios[key]) / len(ratios[key])
        if not mean <= allowed:
            yield f"{key} is {mean:.2f} times as far from float64 as PyTorch's bfloat16, {allowed} allowed: {ratios[key]}"


def list_checks(everything):
    return [(f"bf16 {folder}/{model} {trace}", lambda setting, entry=(folder, model, trace): follow_pytorch(setting, entry))
            for folder, model, trace in (MODELS if everything else SAMPLE)]
