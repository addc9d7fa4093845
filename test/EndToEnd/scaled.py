"""Training in float16 with a loss scale: the skipped steps, and their effects.

A skipped step leaves no trace: parameters, masters, states and the count of steps keep their bits. So a run that skips
steps is the run of a data set without their rows. That is how it is compared: with itself, to the bit, where gradients
overflow because this was asked for (--inject-fault), and with the interpreter in float64, which replays the steps that
were applied, where they overflow of themselves. PyTorch's runs in float16 (trace-*-fp16.json) are compared so, too: how
far they are away says what is near.
"""

import array
import itertools
import json
import math
import random
import re
import shutil

import cases
import files
import mixed
import program

INJECTED = [("model.transformer.wte.weight", "inf"), ("model.transformer.wpe.weight", "nan"),
            ("model.transformer.h.0.ln_1.weight", "inf"), ("model.transformer.h.0.ln_1.bias", "nan"),
            ("model.transformer.h.0.attn.c_attn.weight", "inf"), ("model.transformer.h.0.mlp.c_fc.bias", "inf"),
            ("model.transformer.ln_f.weight", "nan")]
INJECTED_LAYOUTS = [dict(dp=4, stage=0), dict(dp=4, stage=3, micro_batches=2), dict(dp=2, stage=1, pp=2, tp=2, micro_batches=2)]
FLOAT64 = 2**-23  # relative: PyTorch rounds logits of causal models to float32, and we attention's scale (graph.attention), half of it each


def make(setting, model, name, precision, **layout):
    case = cases.Case(*model, **layout)
    return program.Program.of_case(setting, case, program.read_trace(setting, case), name, precision=precision)


def write_steps(source, folder, names, batch, steps):
    """The rows that these steps (from 0) of a run on `source` see, as a folder of data."""
    folder.mkdir()
    for name in names:
        descr, shape, values = files.read_npy(source / f"{name}.npy")
        width = math.prod(shape[1:])
        rows = [(step * batch + i) % shape[0] for step in steps for i in range(batch)]
        chosen = [value for row in rows for value in values[row * width:(row + 1) * width]]
        files.write_npy(folder / f"{name}.npy", descr, (len(rows), *shape[1:]), chosen)
    return folder


def skipped_steps_leave_no_trace(setting):
    """Infinity or NaN in a gradient of each kind, on each rank: all ranks skip the step, and nothing else happens."""
    source = setting.models / "gpt2-tiny"
    for number, layout in enumerate(INJECTED_LAYOUTS):
        trained = make(setting, ("gpt2-tiny", "loss", "adamw"), f"injected-{number}", {"compute": "fp16", "loss_scale": 1024}, **layout)
        others = write_steps(source, trained.folder / "others", ("input_ids", "labels"), 8, (0, 2))
        trained.train(2, "--data", others, tag="others")
        losses, learned = trained.losses("others"), (trained.folder / "others.safetensors").read_bytes()
        refused = 0
        for rank, (name, value) in itertools.product(range(layout.get("dp", 1) * layout.get("pp", 1) * layout.get("tp", 1)), INJECTED):
            fault = f"{rank}:2:{name}={value}"
            try:
                trained.train(3, "--inject-fault", fault)
            except program.CommandFailed as problem:  # of another pipeline stage
                refused += "there is no gradient of a parameter" in str(problem)
                continue
            log = trained.log()
            if [step["skipped"] for step in log] != [False, True, False] or log[1]["grad_norm"] is not None:
                yield f"{layout}, {fault}: {log}"
            if [log[0]["loss"], log[2]["loss"]] != losses or (trained.folder / "run.safetensors").read_bytes() != learned:
                yield f"{layout}, {fault}: the skipped step left something behind"
        asked = layout.get("pp", 1) > 1
        if bool(refused) != asked:
            yield f"{layout}: {refused} gradients were not found"


def end_with_7(setting):
    """Where each step overflows: at the smallest scale, or after fifty steps with a scale that stays."""
    model = ("gpt2-tiny", "loss", "sgd")
    for name, scale, words, steps in (
            ("smallest", {"initial": 2 ** 99, "window": 6, "min": 2 ** 97, "hysteresis": 2}, "the loss scale is at its minimum", 4),
            ("fixed", 1e30, "in the 50th skipped step in a row, with a loss scale of", 50)):
        trained = make(setting, model, f"overflow-{name}", {"compute": "fp16", "loss_scale": scale}, dp=2, stage=1)
        said = trained.train(100, expect=7)
        if words not in said or f"step {steps}:" not in said or len(trained.log()) != steps:
            yield f"'{words}' in step {steps} is expected, the program says: {said[-300:]}"


def name_rows_that_are_no_numbers(setting):
    """A NaN in the data is no overflow: it is named, at once, with a scale or without."""
    for precision in ("fp16", "fp32"):
        trained = make(setting, ("mlp", "logits", "sgd"), f"nan-{precision}", precision, dp=2)
        descr, shape, values = files.read_npy(setting.models / "mlp" / "x.npy")
        batch = json.loads((setting.models / "mlp" / "trace-sgd.json").read_text())["global_batch"]
        values[(batch + 1) * shape[1] + 2] = math.nan
        files.write_npy(trained.folder / "x.npy", descr, shape, values)
        said = trained.train(20, "--data", f"x={trained.folder / 'x.npy'}", expect=7)
        if f"step 2: the loss is not finite: nan; {trained.folder / 'x.npy'}: the element in row {batch + 1}, column 2 is NaN" not in said:
            yield f"{precision}: the program says: {said[-300:]}"


class Replay:
    """The model in float64, without the rows of the steps that a run skipped."""

    def __init__(self, setting, model):
        self.case, self.opt = cases.Case(*model), setting.xlc.parent / "xlc-opt"
        self.trace = program.read_trace(setting, self.case)
        self.source = setting.models / model[0]
        self.float32 = make(setting, model, f"replay-{'-'.join(model)}", "fp32")
        self.folder, self.known = self.float32.folder, {}
        self.float32.train(1, "--lr", "0", tag="initial")
        program.run([setting.xlc, "plan", self.source / f"{self.case.model}.onnx", "--spec", self.folder / "spec.yaml",
                     "--dump-phases", self.folder / "ir"])
        self.perturbed = []
        for seed in range(4):
            draw = random.Random(seed)
            path = self.folder / f"initial-{seed}.safetensors"
            program.state_dict.write(path, {name: ("F32", shape, [value * (1 + draw.uniform(-1, 1) * 2 ** -11) for value in values])
                                            for name, (shape, values) in self.float32.parameters("initial").items()})
            self.perturbed.append(path)

    def write_rows(self, steps):
        return write_steps(self.source, self.folder / "applied", self.trace["inputs"], self.trace["global_batch"], steps)

    def losses(self, rows, steps):
        """Of the interpreter, on the rows of a folder."""
        data = self.folder / "given"
        data.mkdir()
        for name, (_, values) in self.float32.parameters("initial").items():
            (data / name).write_bytes(array.array("d", values).tobytes())
        for name in self.trace["inputs"]:
            _, _, values = files.read_npy(rows / f"{name}.npy")
            (data / name).write_bytes(array.array("q" if values.typecode in "iq" else "d", values).tobytes())
        said = program.run([self.opt, self.folder / "ir" / "02-Differentiate.mlir", "-o", "/dev/null",
                            f"--xlc-replay=data={data} steps={steps} batch={self.trace['global_batch']}"])
        shutil.rmtree(data)
        return [float(value) for value in re.findall(r"step [0-9]+ loss (\S+)", said)]

    def distances(self, losses, skipped):
        """How far these losses are from float64's, and the farthest of float32 runs that begin half an ulp of float16 away: the rows
        of some steps lie at a kink."""
        applied = [step for step, is_skipped in enumerate(skipped) if not is_skipped]
        if tuple(applied) not in self.known:
            rows = self.write_rows(applied)
            expected, others = self.losses(rows, len(applied)), []
            for path in self.perturbed:
                self.float32.train(len(applied), "--data", rows, "--init", path, tag="perturbed")
                others.append(mixed.distance(self.float32.losses("perturbed"), expected))
            shutil.rmtree(rows)
            self.known[tuple(applied)] = expected, max(others)
        expected, inherent = self.known[tuple(applied)]
        return mixed.distance([losses[step] for step in applied], expected), inherent

    def complaints(self):
        """Of a run that skips nothing, the interpreter's losses are PyTorch's in float64."""
        steps = self.trace["steps"]
        rows = self.write_rows(range(steps))
        found = mixed.distance(self.losses(rows, steps), self.trace["loss"])
        shutil.rmtree(rows)
        if not found <= FLOAT64:
            yield f"the interpreter in float64 is {found} away from PyTorch's run in float64, {FLOAT64} allowed"


def follow_pytorch(setting, model):
    """The losses of a run that skips steps are those of float64 without their rows, as far as float16 tells numbers apart: as
    mixed.py compares bfloat16, but with PyTorch's runs and their own skips, and with what these rows make of a half ulp."""
    folder, _, name = model
    reference = json.loads((setting.models / folder / f"trace-{name}-fp16.json").read_text())
    replay = Replay(setting, model)
    yield from replay.complaints()
    farthest = max(replay.distances(run["loss"], run["skipped"])[0] for run in reference["runs_by_micro_batch"].values())
    ratios = []
    for number, layout in enumerate(mixed.LAYOUTS):
        layout = mixed.cut_units(folder, layout)
        scale = {key: reference["loss_scale"][key] for key in ("initial", "window", "min", "hysteresis")}
        trained = make(setting, model, f"fp16-{folder}-{name}-{number}", {"compute": "fp16", "loss_scale": scale}, **layout)
        trained.train(reference["steps"], "--check")
        skipped = [step["skipped"] for step in trained.log()]
        if sum(skipped) in (0, len(skipped)):
            yield f"{layout}: {sum(skipped)} of {len(skipped)} steps are skipped, where the scale begins with {scale['initial']}"
            continue
        found, inherent = replay.distances(trained.losses(), skipped)
        ratios.append(found / max(farthest, inherent))
        if not ratios[-1] <= mixed.ONE:
            yield f"{layout}: losses are {ratios[-1]:.2f} times as far from float64's as PyTorch's float16, {mixed.ONE} allowed"
    if not sum(ratios) <= mixed.MEAN["loss"] * len(ratios):
        yield f"losses are {ratios} times as far from float64's as PyTorch's float16, {mixed.MEAN['loss']} on average allowed"


def list_checks(everything):
    checks = (skipped_steps_leave_no_trace, end_with_7, name_rows_that_are_no_numbers)
    return ([(f"fp16 {check.__name__.replace('_', ' ')}", check) for check in checks] +
            [(f"fp16 {folder}/{model} {trace}", lambda setting, entry=(folder, model, trace): follow_pytorch(setting, entry))
             for folder, model, trace in (mixed.MODELS if everything else mixed.SAMPLE)])
