"""GPT-2 124M with random weights: losses and gradient norms of several ranks are those of one rank.

The graph is one of the optional big ones: XLC_MODELS names a folder with gpt2/gpt2.onnx. Its vocabulary of 50257 is split
unevenly, its twelve heads go to two and four ranks, and the tied table lies on the first and the last stage.
"""

import os
import pathlib
import random
import shutil

import compare
import files
import program
import promises

ROWS, SEQUENCE, VOCABULARY, STEPS = 4, 64, 50257, 3
LAYOUTS = {
    "tp 2": {"tp": 2},
    "tp 4": {"tp": 4},
    "pp 3, zb-h1": {"pp": 3, "pipeline": {"schedule": "zb-h1"}},
    "dp 2, pp 2, tp 2, stage 3": {"dp": 2, "pp": 2, "tp": 2, "zero_stage": 3},
}


def train(setting, model, name, layout):
    spec = layout | {"batch": {"global": ROWS, "micro": 1}, "dims": {"sequence": SEQUENCE}, "init": {"from": "random"},
                     "optimizer": {"type": "sgd", "lr": 1e-3}, "runtime": {"threads_per_rank": 1},
                     "data": {"train": setting.scratch / "gpt2-124M"}}
    trained = program.Program(setting, f"gpt2-124M/{name.replace(' ', '-')}", model, spec)
    program.run([trained.path, "--steps", STEPS, "--log", trained.folder / "run.jsonl"])
    log = trained.log()
    shutil.rmtree(trained.folder)
    return log


def composed_ranks_learn_what_one_learns(setting):
    root = pathlib.Path(__file__).resolve().parents[2]
    model = pathlib.Path(os.environ.get("XLC_MODELS", root.parent / "shared" / "models")) / "gpt2" / "gpt2.onnx"
    if not model.exists():
        raise promises.Skipped("XLC_MODELS names no folder with gpt2/gpt2.onnx")
    draw = random.Random(0)
    (setting.scratch / "gpt2-124M").mkdir()
    for name in ("input_ids", "labels"):
        tokens = [draw.randrange(VOCABULARY) for _ in range(ROWS * SEQUENCE)]
        files.write_npy(setting.scratch / "gpt2-124M" / f"{name}.npy", "<i8", (ROWS, SEQUENCE), tokens)
    one = train(setting, model, "one", {"dp": 1})
    expected = {"steps": STEPS} | {key: [step[key] for step in one] for key in ("loss", "grad_norm")}
    for name, layout in LAYOUTS.items():
        log = train(setting, model, name, layout)
        yield from (f"{name}: {complaint}" for complaint in compare.compare_steps(log, expected))


CHECKS = [("GPT-2 124M, composed ranks learn what one learns", composed_ranks_learn_what_one_learns)]
