"""The best evaluation and the end of a run whose evaluations get no better: by the definition of transformers' Trainer and its
EarlyStoppingCallback, which is computed here from the losses in the log; and the same after a resume.
"""

import json
import shutil

import program

EVERY, PATIENCE, MIN_DELTA, STEPS = 2, 3, 0.02, 200


def spec_of(setting, **layout):
    data = setting.models / "mlp"
    rows = {"x": data / "x.npy", "y": data / "y.npy"}
    return {"batch": {"micro": 4}, "loss": {"type": "cross_entropy", "logits": "logits", "labels": "y"},
            "optimizer": {"type": "sgd", "lr": 0.4}, "data": {"train": rows, "validation": rows},
            "eval": {"every": EVERY, "best": {"metric": "loss"}, "stop": {"patience": PATIENCE, "min_delta": MIN_DELTA}},
            "checkpoint": {"dir": setting.scratch / "ck", "every": 5, "keep": 1}, **layout}


def judge(losses):
    """(best step, best value, evaluations in a row that are not better, last step) of {step: loss}."""
    best_step, best, others = None, None, 0
    for step, loss in sorted(losses.items()):
        others = 0 if best is None or best - loss > MIN_DELTA else others + 1
        if best is None or loss < best:
            best_step, best = step, loss
        if others == PATIENCE:
            break
    return best_step, best, others, step


def read_manifests(folder):
    return {int(path.parent.name.split("-")[1]): json.loads(path.read_text()) for path in folder.glob("step-*/checkpoint.json")}


def keeps_best_and_stops(setting, layout):
    made = program.Program(setting, "train", setting.models / "mlp" / "logits.onnx", spec_of(setting, **layout))
    folder = setting.scratch / "ck"
    said = made.train(STEPS)
    losses = {step: line["loss"] for step, line in made.evaluations().items()}
    best_step, best, others, last = judge(losses)
    if not EVERY < best_step < last < STEPS or others != PATIENCE:
        yield f"the test is void: best of step {best_step}, end at {last}"
    if made.log()[-1]["step"] != last or max(losses) != last or f"the best is that of step {best_step}" not in said:
        yield f"ended behind step {made.log()[-1]['step']}, not {last}: {said[-300:]}"
    manifests = read_manifests(folder)
    if best_step not in manifests or len(manifests) > 2:
        yield f"there are checkpoints of steps {sorted(manifests)}, the best is {best_step}"
    known = judge({step: loss for step, loss in losses.items() if step <= max(manifests)})
    if manifests[max(manifests)]["evaluation"] != dict(zip(("best_step", "best", "not_better"), known)):
        yield f"the newest manifest has {manifests[max(manifests)]['evaluation']}, not {known}"
    bits = made.bits()
    # Each run of a few steps goes on where the one before was; the last one stops where a single run does.
    shutil.rmtree(folder)
    for begin in range(7, last, 7):
        made.train(begin, "--resume", "auto", tag="pieces")
    made.train(STEPS, "--resume", "auto", tag="pieces")
    resumed = {step: line["loss"] for step, line in made.evaluations("pieces").items()}
    if resumed != losses:
        yield f"after resumes evaluations are those of steps {sorted(resumed)}, not {sorted(losses)}, or others"
    if made.bits("pieces")[1] != bits[1]:
        yield "after resumes the parameters are others"
    if best_step not in read_manifests(folder):
        yield f"after resumes the best checkpoint, of step {best_step}, is not there"


def list_checks(everything):
    layouts = [{}, {"dp": 2, "zero_stage": 3}, {"pp": 2, "batch": {"micro": 2}}]
    return [(f"evaluation: best and early stop, {' '.join(f'{k} {v}' for k, v in layout.items() if k != 'batch') or 'one rank'}",
             lambda setting, layout=layout: keeps_best_and_stops(setting, layout)) for layout in layouts[:3 if everything else 2]]
