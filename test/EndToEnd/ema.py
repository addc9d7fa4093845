"""The average of the parameters: its values after each step, on every layout, across skipped steps and a resume; and
its bytes in the plan."""

import json

import cases
import evaluation
import files
import program

DECAY, START, STEPS = 0.9, 3, 50
NEAR = 2e-6  # of the largest parameter
CASE = cases.Case("mlp", "logits", "sgd")
ZERO = [{}, {"dp": 2}, {"dp": 2, "zero_stage": 1}, {"dp": 2, "zero_stage": 3, "zero": evaluation.PERSISTENT}]


def spec_of(setting, keys=None, **changes):
    """One micro-batch a rank."""
    spec = program.spec_of(setting, CASE, program.read_trace(setting, CASE)) | (keys or {})
    spec["batch"] = {"global": 8, "micro": 8 // spec["dp"]}
    return spec | {"ema": {"decay": DECAY, "start": START}} | changes


def make(setting, name, spec):
    return program.Program(setting, name, setting.models / "mlp" / "logits.onnx", spec)


def train(made, steps, *options, tag="run", expect=0):
    """The averages at the end."""
    path = made.folder / f"{tag}-ema.safetensors"
    made.train(steps, "--save-ema", path, *options, tag=tag, expect=expect)
    return files.read_safetensors(path)


def follows_its_definition(setting):
    """Behind each of 50 steps a checkpoint: e = p until behind step START, then e = D e + (1 - D) p, in float64."""
    spec = spec_of(setting, checkpoint={"dir": "checkpoints", "every": 1, "keep": 0})
    made = make(setting, "train", spec)
    train(made, STEPS)
    expected = None
    for step in range(1, STEPS + 1):
        path = setting.scratch / "step.safetensors"
        program.run([setting.xlc, "checkpoint", "export", made.folder / "checkpoints" / f"step-{step:08}", "--states", "-o", path])
        tensors = files.read_safetensors(path)
        states = {name.removeprefix("ema/"): values for name, (_, values) in tensors.items() if name.startswith("ema/")}
        parameters = {name: tensors[name][1] for name in states}
        if step <= START:
            expected = {name: list(values) for name, values in parameters.items()}
        else:
            expected = {name: [DECAY * e + (1 - DECAY) * p for e, p in zip(expected[name], parameters[name])] for name in expected}
        for name, values in states.items():
            apart = max(abs(own - wanted) for own, wanted in zip(values, expected[name]))
            if apart > NEAR * max(1, max(map(abs, expected[name]))) or (step <= START and apart > 0):
                yield f"step {step}: {name} is {apart} from its definition"
        path.unlink()
    if {name: list(values) for name, (_, values) in files.read_safetensors(made.folder / "run-ema.safetensors").items()} != \
            {name: list(values) for name, values in states.items()}:
        yield "--save-ema wrote other averages than those of the last checkpoint"


def is_equal_in_all_stages(setting):
    """Bits of dp 2 with ZeRO 0, 1 and 3, and of a run that is stopped and goes on."""
    seen = {}
    for at, keys in enumerate(ZERO[1:]):
        made = make(setting, f"stage-{at}", spec_of(setting, keys, checkpoint={"dir": "checkpoints"}))
        seen[str(keys)] = train(made, 12)
        train(made, 5, tag="first")
        seen[f"{keys} resumed"] = train(made, 12, "--resume", "auto", tag="second")
    first = next(iter(seen.values()))
    for name, averages in seen.items():
        if averages != first:
            yield f"{name}: other averages than {ZERO[1]}"


def stays_in_skipped_steps(setting):
    spec = spec_of(setting, {"dp": 2, "zero_stage": 1}, ema={"decay": DECAY}, precision="fp16")
    made = make(setting, "train", spec)
    before = train(made, 4)
    if train(made, 5, "--inject-fault", "1:5:2.weight=inf", tag="skipped") != before:
        yield "a step that is skipped moves the average"
    if train(made, 5, tag="applied") == before:
        yield "a step that is applied leaves the average"


def is_in_the_plan(setting):
    """Four bytes a parameter, in shards where the optimizer's states are; in float32 also beside narrow states."""
    narrow = {"precision": {"compute": "bf16", "states": "compute", "master": "none"}}
    for keys, shards, element in ((ZERO[0], 1, 4), (ZERO[2], 2, 4), (narrow, 1, 2)):
        path, sizes = setting.scratch / "spec.yaml", []
        for spec in (spec_of(setting, keys), {key: value for key, value in spec_of(setting, keys).items() if key != "ema"}):
            path.write_text(program.to_text(spec))
            said = program.run([setting.xlc, "plan", setting.models / "mlp" / "logits.onnx", "--spec", path, "--json"])
            plan = json.JSONDecoder().raw_decode(said)[0]
            sizes.append(plan["groups"][0]["memory"]["by_cause"]["optimizer"])
            parameters = plan["groups"][0]["memory"]["by_cause"]["parameters"] // element
        if sizes[0] - sizes[1] != parameters * 4 // shards:
            yield f"{keys}: the average takes {sizes[0] - sizes[1]} bytes, {parameters} parameters"


def list_checks(_):
    return [("ema: follows its definition", follows_its_definition), ("ema: is equal in all stages", is_equal_in_all_stages),
            ("ema: stays in skipped steps", stays_in_skipped_steps), ("ema: is in the plan", is_in_the_plan)]
