"""The best evaluation and the end of a run whose evaluations get no better: by the definition of transformers' Trainer and its
EarlyStoppingCallback, which is computed here from the losses in the log; and the same after a resume. And evaluations that a signal
stops.
"""

import json
import shutil
import signal
import subprocess
import time

import files
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
    if made.log()[-1]["step"] != last or max(losses) != last or f"the best value, from step {best_step}, is" not in said:
        yield f"ended behind step {made.log()[-1]['step']}, not {last}: {said[-300:]}"
    manifests = read_manifests(folder)
    if best_step not in manifests or len(manifests) > 2:
        yield f"there are checkpoints of steps {sorted(manifests)}, the best is {best_step}"
    known = judge({step: loss for step, loss in losses.items() if step <= max(manifests)})
    if manifests[max(manifests)]["evaluation"] != dict(zip(("best_step", "best", "not_better", "last_step"), known)):
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


def make_long(setting, copies):
    """The rows of the model, so many times over."""
    folder = setting.scratch / "long"
    folder.mkdir()
    for path in (setting.models / "mlp").glob("[xy].npy"):
        files.repeat_npy(path, folder / path.name, copies)
    return folder


def ends_at_a_signal(setting, layout):
    """SIGTERM stops an evaluation: the checkpoint is that of the step before, and a run that resumes there begins with the evaluation."""
    spec = spec_of(setting, **layout)
    spec["eval"] = {"every": 3}
    made = program.Program(setting, "train", setting.models / "mlp" / "logits.onnx", spec)
    made.train(6)
    expected, long = made.log(), make_long(setting, 1000)
    expected_values = {step: line["loss"] for step, line in made.evaluations().items()}
    shutil.rmtree(setting.scratch / "ck")
    log = made.folder / "stopped.jsonl"
    code, seconds = made.interrupt_when(lambda _: log.exists() and len(made.log("stopped")) == 3, "--validation", long,
                                        send=signal.SIGTERM, tag="stopped")
    steps = sorted(read_manifests(setting.scratch / "ck"))
    if code != -signal.SIGTERM or steps != [3] or made.evaluations("stopped"):
        yield f"SIGTERM during an evaluation: exit {code}, checkpoints of {steps}, evaluations {made.evaluations('stopped')}"
    made.train(6, "--resume", "auto", tag="stopped")
    values = {step: line["loss"] for step, line in made.evaluations("stopped").items()}
    if values != expected_values or [line["loss"] for line in made.log("stopped")] != [line["loss"] for line in expected]:
        yield f"resumed where an evaluation was stopped: evaluations {values}, an undisturbed run has {expected_values}"
    began = time.monotonic()
    made.evaluate("--resume", "auto", "--validation", long)
    if (whole := time.monotonic() - began) < 2 * seconds:
        yield f"the test is void: a whole evaluation takes {whole:.1f} s, the run ended {seconds:.1f} s after the signal"


def leaves_no_predictions(setting):
    """SIGTERM to --predict: no file is left. Until then another program cannot write there."""
    spec = spec_of(setting) | {"eval": {"outputs": ["logits"]}}
    made = program.Program(setting, "train", setting.models / "mlp" / "logits.onnx", spec)
    outputs = setting.scratch / "outputs"
    command = [str(word) for word in (made.path, "--predict", outputs, "--validation", make_long(setting, 1000))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while not (outputs / "logits.npy.part").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.1)
        other = program.run([made.path, "--predict", outputs], 1)
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
    if "another program is writing its predictions to it" not in other:
        yield f"a second program said {other}"
    if process.returncode != -signal.SIGTERM or list(outputs.iterdir()) or "stopped before all rows were evaluated; no predictions were written" not in said:
        yield f"SIGTERM to --predict: exit {process.returncode}, left {list(outputs.iterdir())}: {said}"


def list_checks(everything):
    layouts = [{}, {"dp": 2, "zero_stage": 3}, {"pp": 2, "batch": {"micro": 2}}]
    return [(f"evaluation: best and early stop, {' '.join(f'{k} {v}' for k, v in layout.items() if k != 'batch') or 'one rank'}",
             lambda setting, layout=layout: keeps_best_and_stops(setting, layout)) for layout in layouts[:3 if everything else 2]] + [
                (f"evaluation: stopped by a signal, {name}", lambda setting, layout=layout: ends_at_a_signal(setting, layout))
                for name, layout in (("one rank", {}), ("dp 2", {"dp": 2}))] + [
                    ("evaluation: --predict stopped by a signal", leaves_no_predictions)]
