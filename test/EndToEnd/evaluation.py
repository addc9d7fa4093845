"""Evaluation: losses are those of PyTorch's eval mode and counts are equal, in every layout; each row of the data comes
once, however many there are; and training is unaffected.
"""

import json
import math
import re

import cases
import compare
import dropout
import files
import program
from program import state_dict

FOLDERS = ("dropout-gpt2", "dropout-bert", "dropout-conv")
STEPS = 20  # of the traces, behind which eval.json has the same models again
NEAR = 2e-6  # of a loss
PERSISTENT = dropout.PERSISTENT
Layout = dropout.Layout
LAYOUTS = [
    Layout("one rank", {}, 4), Layout("one rank micro 1", {}, 1), Layout("one rank micro 2", {}, 2),
    Layout("dp 2 stage 0", {"dp": 2}, 4),
    Layout("dp 2 stage 1", {"dp": 2, "zero_stage": 1}, 2),
    Layout("dp 4 stage 2", {"dp": 4, "zero_stage": 2}, 1),
    Layout("dp 4 stage 3", {"dp": 4, "zero_stage": 3, "zero": PERSISTENT}, 2),
    Layout("dp 4 in groups of 2", {"dp": 4, "zero_stage": 3, "dp_shard": 2, "zero": PERSISTENT}, 1),
    Layout("tp 2", {"tp": 2}, 4, only="dropout-gpt2 dropout-bert"),
    Layout("tp 2 dp 2", {"dp": 2, "tp": 2, "zero_stage": 1}, 2, only="dropout-gpt2 dropout-bert"),
    Layout("pp 2", {"pp": 2}, 2),
    Layout("pp 2 interleaved", {"pp": 2, "pipeline": {"schedule": "interleaved", "chunks": 2}}, 2,
           only="dropout-gpt2 dropout-bert"),
    Layout("dp 2 pp 2 tp 2 stage 3 as processes", {"dp": 2, "pp": 2, "tp": 2, "zero_stage": 3, "zero": PERSISTENT}, 2,
           ("--processes",), only="dropout-gpt2 dropout-bert"),
]

PLAIN = {"gpt2-tiny": "loss", "bert-tiny": "loss", "cnn": "logits-torchscript-train"}  # models without dropout
PROVED = ("one rank micro 2", "dp 2 stage 1", "dp 4 stage 3", "tp 2 dp 2", "pp 2 interleaved", "dp 2 pp 2 tp 2 stage 3 as processes")


def spec_of(setting, folder, layout, **evaluation):
    trace = program.read_trace(setting, cases.Case(folder, "loss", "adamw"))
    spec = dropout.spec_of(setting, folder, "loss", trace, layout)
    metrics = ["loss", "perplexity", "accuracy", "top3"] + ["f1"] * (folder != "dropout-gpt2")
    spec["data"] = {"train": spec["data"]["train"], "validation": spec["data"]["train"]}
    return spec | {"eval": {"metrics": metrics, **evaluation}}


def rows_of(setting, folder, to, first, count):
    """A folder with some rows of a model's data."""
    to.mkdir(parents=True, exist_ok=True)
    for path in (setting.models / folder).glob("*.npy"):
        descr, shape, values = files.read_npy(path)
        width = len(values) // shape[0]
        files.write_npy(to / path.name, descr, (count, *shape[1:]), values[first * width:(first + count) * width])
    return to


def compare_evaluation(found, expected, what):
    expected = {"perplexity": math.exp(expected["loss"]), **expected}
    for name, near in (("loss", NEAR), ("perplexity", 4 * NEAR)):
        if not compare.relative(found[name], expected[name]) <= near:
            yield f"{what}: {name} is {found[name]}, PyTorch's {expected[name]}"
    counts = {"rows": "rows", "targets": "targets", "top_1": "correct", "top_3": "in_best_3"}
    for own, theirs in counts.items():
        if found[own] != expected[theirs]:
            yield f"{what}: {own} is {found[own]}, PyTorch's {expected[theirs]}"
    for name in ("true_positives", "false_positives", "false_negatives") if "per_class" in expected else ():
        if found[name] != [of_class[name] for of_class in expected["per_class"]]:
            yield f"{what}: {name} are {found[name]}, PyTorch's are others"


def with_initial_table(made):
    """eval.json's trained GPT-2 has the table of words with which it began: PyTorch loaded the trained one, and then, under its
    tied name, the initial one over it."""
    made.train(1, "--lr", 0, tag="start")
    tensors, start = made.parameters(), made.parameters("start")
    path = made.folder / "mixed.safetensors"
    table = ("wte.weight", "lm_head.weight")
    state_dict.write(path, {name: ("F32", *(start if name.endswith(table) else tensors)[name]) for name in tensors})
    return path


def equals_pytorch(setting, folder, layout, flags=(), variables=None, steps=STEPS):
    """Of all rows and of the first 37, at the initial parameters and at those behind the trace's steps."""
    expected = json.loads((setting.models / folder / "eval.json").read_text())
    made = program.Program(setting, "train", setting.models / folder / "loss.onnx",
                           spec_of(setting, folder, layout, every=STEPS), flags)
    few = rows_of(setting, folder, setting.scratch / "few", 0, 37)
    found = made.evaluate(*layout.options, variables=variables)
    yield from compare_evaluation(found, expected["initial"][0], "at the beginning, 160 rows")
    found = made.evaluate("--validation", few, *layout.options, variables=variables)
    yield from compare_evaluation(found, expected["initial"][1], "at the beginning, 37 rows")
    if steps < STEPS:
        return
    made.train(STEPS, *layout.options, variables=variables)
    trained = made.folder / "run.safetensors"
    if folder == "dropout-gpt2":
        trained = with_initial_table(made)
        found = made.evaluate("--init", trained, *layout.options, variables=variables)
    else:
        found = made.evaluations()[STEPS]
    yield from compare_evaluation(found, expected["final-adamw"][0], "at the end, 160 rows")
    found = made.evaluate("--init", trained, "--validation", few, *layout.options, variables=variables)
    yield from compare_evaluation(found, expected["final-adamw"][1], "at the end, 37 rows")


def equals_pytorch_on_gpus(setting, folder):
    image = setting.scratch / "image.so"
    variables = {"XLC_CUDA_LIBRARIES": setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_IMAGE": image,
                 "XLC_SIMULATE_DEVICES": 2}
    layout = Layout("gpus", {"dp": 2, "zero_stage": 1}, 4, ("--threads",))
    yield from equals_pytorch(setting, folder, layout, ["--target", "cuda", "--simulator-image", image], variables, steps=0)


def normalises_by_averages(setting):
    """Batch norms evaluate with the running averages of 20 steps: in the program that trained, and from its file in others."""
    case = cases.Case("cnn", "logits-torchscript-train", "sgd")
    expected = json.loads((setting.models / "cnn" / "eval.json").read_text())
    spec = program.spec_of(setting, case, program.read_trace(setting, case))
    spec["data"]["validation"] = spec["data"]["train"]
    spec["eval"] = {"metrics": ["loss", "perplexity", "accuracy", "top3"], "every": STEPS}
    made = program.Program(setting, "train", setting.models / "cnn" / f"{case.model}.onnx", spec)
    few = rows_of(setting, "cnn", setting.scratch / "few", 0, 30)
    yield from compare_evaluation(made.evaluate("--validation", few), expected["initial"][0], "at the beginning, 30 rows")
    made.train(STEPS)
    yield from compare_evaluation(made.evaluations()[STEPS], expected["final-sgd"][1], "at the end, 160 rows")
    trained = made.folder / "run.safetensors"
    for layout in ({}, {"dp": 2, "zero_stage": 3, "zero": PERSISTENT, "batch": {"global": 8, "micro": 2}},
                   {"pp": 2, "batch": {"global": 8, "micro": 4}}):
        other = program.Program(setting, "other", setting.models / "cnn" / f"{case.model}.onnx", spec | layout)
        yield from compare_evaluation(other.evaluate("--init", trained, "--validation", few), expected["final-sgd"][0],
                                      f"at the end, 30 rows, {layout}")


def is_proved(setting, folder, layout):
    """In the field, and each call of its kernels."""
    path = setting.scratch / "spec.yaml"
    path.write_text(program.to_text(spec_of(setting, folder, layout)))
    said = program.run([setting.xlc, "verify", setting.models / folder / "loss.onnx", "--spec", path])
    ran = re.search(r"ran (\d+) of (\d+) kernels and library calls: .* in 2 steps and 2 evaluations of", said)
    if said.count("all equal") < 1 or "all within the bounds" not in said or not ran or ran[1] != ran[2]:
        yield said[-600:]


def fits_into_training(setting, folder, layout):
    """With an evaluation the arena grows by a hundredth at most, and the plan has both heights."""
    case = cases.Case(folder, PLAIN[folder], "sgd")
    spec = program.spec_of(setting, case, program.read_trace(setting, case)) | layout.keys
    spec["batch"] = {"micro": layout.micro, "global": 2 * layout.micro * layout.keys.get("dp", 1)}
    path, memories = setting.scratch / "spec.yaml", []
    for evaluation in ({}, {"eval": {"metrics": ["loss", "accuracy"] + ["f1"] * (folder != "gpt2-tiny")}}):
        path.write_text(program.to_text(spec | evaluation))
        said = program.run([setting.xlc, "plan", setting.models / folder / f"{case.model}.onnx", "--spec", path, "--json"])
        memories.append([group["memory"] for group in json.JSONDecoder().raw_decode(said)[0]["groups"]])
    for without, with_it in zip(*memories):
        if with_it["arena"] > 1.01 * without["arena"]:
            yield f"the arena has {with_it['arena']} bytes, without an evaluation {without['arena']}"
        if without["evaluation"] is not None or not 0 < with_it["evaluation"] <= with_it["arena"]:
            yield f"an evaluation has {with_it['evaluation']} bytes, and where there is none {without['evaluation']}"


def leaves_training_alone(setting, folder, layout):
    """An evaluation every three steps changes no bit of losses, norms and parameters."""
    seen = []
    for name, evaluation in (("with", {"every": 3}), ("without", None)):
        spec = spec_of(setting, folder, layout, **(evaluation or {}))
        if not evaluation:
            del spec["eval"]
        made = program.Program(setting, name, setting.models / folder / "loss.onnx", spec)
        made.train(10, *layout.options)
        seen.append(made.bits())
        if sorted(made.evaluations()) != ([3, 6, 9] if evaluation else []):
            yield f"{name}: evaluated behind steps {sorted(made.evaluations())}"
    if seen[0] != seen[1]:
        yield "losses, norms or parameters are others than without evaluation"


def counts_each_row(setting, folder, sizes):
    """Validation data of any number of rows, on dp 4 with two micro-batches of 2: what one rank counts row by row, whose last batch
    is always full."""
    made = []
    for layout, batch in ((Layout("dp 4", {"dp": 4, "zero_stage": 1}, 2), 16), (Layout("one rank", {}, 1), 1)):
        spec = spec_of(setting, folder, layout, every=1000) | {"batch": {"micro": layout.micro, "global": batch}}
        made.append(program.Program(setting, layout.name, setting.models / folder / "loss.onnx", spec))
    for size in sizes:
        data = rows_of(setting, folder, setting.scratch / f"rows-{size}", 7, size)
        found, expected = (each.evaluate("--validation", data) for each in made)
        for name in found:
            if name not in ("seconds", "loss", "perplexity") and found[name] != expected[name]:
                yield f"{size} rows: {name} is {found[name]}, on one rank {expected[name]}"
        if found["rows"] != size or not compare.relative(found["loss"], expected["loss"]) <= 1e-6:
            yield f"{size} rows: {found['rows']} rows of loss {found['loss']}, on one rank {expected['loss']}"


def list_checks(everything):
    """All of them, or each layout once, with models in turns."""
    chosen = []
    for at, layout in enumerate(LAYOUTS):
        folders = [folder for folder in FOLDERS if not layout.only or folder in layout.only.split()]
        chosen += [(folder, layout) for folder in (folders if everything else [folders[at % len(folders)]])]
    checks = [(f"evaluation: {folder} {layout.name}", lambda setting, folder=folder, layout=layout: equals_pytorch(setting, folder, layout))
              for folder, layout in chosen]
    checks += [(f"evaluation: {folder} on simulated GPUs", lambda setting, folder=folder: equals_pytorch_on_gpus(setting, folder))
               for folder in FOLDERS[:3 if everything else 1]]
    proved = [(folder, layout) for folder, layout in chosen if layout.name in PROVED]
    checks += [(f"evaluation: proof of {folder} {layout.name}", lambda setting, folder=folder, layout=layout: is_proved(setting, folder, layout))
               for folder, layout in (proved if everything else proved[::2])]
    plain = list(PLAIN)
    for at, layout in enumerate(LAYOUTS):
        fitting = plain[:2] if layout.only else plain
        checks += [(f"evaluation: memory of {folder} {layout.name}", lambda setting, folder=folder, layout=layout: fits_into_training(setting, folder, layout))
                   for folder in (fitting if everything else [fitting[at % len(fitting)]])]
    checks.append(("evaluation: batch norms by their averages", normalises_by_averages))
    checks += [(f"evaluation: training of {folder} {layout.name} is unchanged",
                lambda setting, folder=folder, layout=layout: leaves_training_alone(setting, folder, layout))
               for folder, layout in (chosen if everything else chosen[5::4])]
    sizes = range(1, 41) if everything else (1, 9, 16, 37)
    return checks + [(f"evaluation: {folder} counts each row", lambda setting, folder=folder: counts_each_row(setting, folder, sizes))
                     for folder in (FOLDERS if everything else FOLDERS[1:2])]
