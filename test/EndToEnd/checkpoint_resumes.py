"""A run that stops and resumes has the same bits as an uninterrupted one: with every feature, in every way of running
it."""

import itertools

import cases
import checkpoint_pairs
import checkpoint_runs

MLP = ("mlp", "logits", "sgd")
SHARDED = {"dp": 2, "stage": 3, **checkpoint_pairs.BIG}
OPTIMIZERS = {"adam": {"type": "adam", "lr": 0.001}, "lion": {"type": "lion", "lr": 0.0001}, "adagrad": {"type": "adagrad", "lr": 0.01}}
OFTEN = {"checkpoint": {"every": 3}}  # so that steps which write stand between others
# What takes part beside the layout: keys of the case and of the spec; `model` and `way` are the run's, of `stops` the last is its end.
RESUMED = {
    "fp16, a scale that moves": {"precision": {"compute": "fp16", "loss_scale": {"initial": 2 ** 30, "window": 3}}},
    "bf16 without masters": {"precision": {"compute": "bf16", "master": "none"}, "dp": 2, "stage": 1},
    "states in sixteen bits": {"precision": {"compute": "bf16", "states": "compute"}, "dp": 2, "stage": 3},
    "sgd": {"optimizer": {"type": "sgd", "lr": 0.01}},
    "nesterov": {"optimizer": {"type": "nesterov", "lr": 0.01, "momentum": 0.9}, "dp": 2, "stage": 2},
    "two groups": {"optimizer": {"type": "adamw", "lr": 0.001, "groups": [{"match": ['"*weight"'], "lr": 0.0001}]}, "tp": 2},
    "a frozen part": {"trainable": ['"*"', '"!*wte*"'], "dp": 2, "stage": 3},
    "a shuffle and a cosine": {"shuffle": True, "lr_schedule": {"type": "cosine", "warmup": 4, "steps": 20}, "dp": 2},
    "rows that wrap around": {"model": MLP, "dp": 2, "batch": {"global": 24}, "stops": (9, 31, 45)},
    "a shuffle whose rows wrap around": {"model": MLP, "dp": 2, "batch": {"global": 24}, "shuffle": True, "stops": (9, 31, 45)},
    "batch norms": {"model": ("cnn", "logits-torchscript-train", "sgd"), "dp": 2, "stage": 3, **checkpoint_pairs.BIG, **OFTEN},
    "batch norms, micro-batches, simulated GPUs": {"model": ("cnn", "logits-torchscript-train", "sgd"), "micro_batches": 2,
                                                   "way": "simulated GPUs", "stops": (3, 5, 8), **OFTEN},
    "tied embeddings over two stages": {"pp": 2, "stage": 1, "dp": 2, "micro_batches": 2, **OFTEN},
    "dropout": {"model": ("dropout-gpt2", "loss", "adamw"), **SHARDED, **OFTEN},
    "dropout, processes": {"model": ("dropout-gpt2", "loss", "adamw"), "tp": 2, "dp": 2, "way": "processes"},
    "dropout, simulated GPUs": {"model": ("dropout-conv", "loss", "adamw"), "dp": 2, "way": "simulated GPUs", "stops": (3, 5, 8), **OFTEN},
    "stochastic rounding": {"model": MLP, **SHARDED, "precision": cases.PRECISIONS["stochastic"], **OFTEN},
    "stochastic rounding, simulated GPUs": {"model": MLP, **SHARDED, "precision": cases.PRECISIONS["stochastic"], "way": "simulated GPUs", **OFTEN},
    "what has left no step to capture, simulated GPUs": {"model": MLP, "way": "simulated GPUs", "checkpoint": {"every": 1}},
    **{f"{name}, {way}": {"model": MLP, **SHARDED, "optimizer": optimizer, "way": way, **OFTEN}
       for (name, optimizer), way in itertools.product(OPTIMIZERS.items(), checkpoint_runs.WAYS)},
}
SAMPLE = ("fp16, a scale that moves", "a shuffle and a cosine", "a frozen part", "batch norms", "a shuffle whose rows wrap around",
          "lion, streams on threads", "adam, simulated GPUs", "adagrad, mpirun", "stochastic rounding")


def resumes(changes):
    def check(setting):
        model, way, stops = (changes.get(key, default) for key, default in (("model", checkpoint_runs.GPT), ("way", "threads"), ("stops", (7, 13, 20))))
        own = {key: value for key, value in changes.items() if key not in ("model", "way", "stops")}
        layout = {key: own.pop(key) for key in list(own) if key in checkpoint_runs.LAYOUT}
        yield from checkpoint_runs.goes_on(checkpoint_runs.Run(setting, "resumed", model, layout, way, **own), stops[:-1], stops[-1])
    return check


def goes_on_in(model, name):
    def check(setting):
        yield from checkpoint_runs.goes_on(checkpoint_pairs.run_of(setting, "resumed", model, name), (7, 13))
    return check


def list_checks(all_of_them):
    checks = [(f"checkpoints: {model[0]} goes on, {name}", goes_on_in(model, name)) for model in checkpoint_pairs.MODELS
              for name in checkpoint_pairs.LAYOUTS if all_of_them or (model == checkpoint_runs.GPT and "stage 3, processes" in name)]
    return checks + [(f"checkpoints: resumes {name}", resumes(changes)) for name, changes in RESUMED.items() if all_of_them or name in SAMPLE]
