"""Training in bfloat16, compared with PyTorch's.

Two correct runs in sixteen bits differ: the order of a sum decides how it is rounded. So a program is not compared with
a run, but with the distance of PyTorch's own runs in bfloat16 from its float64 run: trace-*-bf16.json holds four of
them, with sums in other orders. The distance of a program is the mean over the steps; of five layouts, each may be at
most three times as far as the farthest of the four, and all together one and a half times for losses, twice for
gradient norms.
"""

import json
import re

import cases
import files
import program

LAYOUTS = [dict(), dict(dp=4, stage=3), dict(tp=2), dict(pp=2, micro_batches=2), dict(dp=2, pp=2, tp=2, stage=1, micro_batches=2)]
MODELS = [("gpt2-tiny", "loss", "adamw"), ("gpt2-tiny", "loss", "sgd"), ("llama-tiny", "loss", "adamw"),
          ("llama-tiny", "loss", "sgd"), ("bert-tiny", "loss", "adamw"), ("bert-tiny", "loss", "sgd"),
          ("blenderbot-tiny", "loss", "adamw"), ("blenderbot-tiny", "loss", "sgd"), ("deberta-v2-tiny", "loss", "adamw"),
          ("deberta-v2-tiny", "loss", "sgd"), ("gpt2-tiny-odd", "loss", "sgd"), ("gpt2-tiny-ragged", "loss", "adamw-clip"),
          ("mlp", "logits", "sgd")]
LOCKSTEP = [MODELS[0], MODELS[3], MODELS[7], MODELS[12]]  # of the sample: a call at a time, each op of each of them is compared
SAMPLE = [MODELS[0], MODELS[7], MODELS[12]]  # and these are trained

MEAN = {"loss": 1.5, "grad_norm": 2}
ONE = 3

# Of the elements that calls round to sixteen bits, so many per cent may have other bits than the interpreter's, and so many be further
# off than a neighbour, which only sums do that cancel (docs/rationale/Verify.md).
OTHER_BITS = {"products": (0.1, 0.01), "generated kernels": (0.02, 0.005)}


def cut_units(folder, layout):
    """The layout, with a cut where a pipeline's stages have none between units: mlp is one."""
    return dict(layout, cuts=("node_relu",)) if folder == "mlp" and "pp" in layout else layout


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
        case = cases.Case(*model, **cut_units(folder, layout))
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


def round_as_the_interpreter(setting, model, compute):
    """Complaints about one model in lockstep with the interpreter: call by call, on the same bytes."""
    case = cases.Case(*model)
    spec = program.spec_of(setting, case, program.read_trace(setting, case)) | {"precision": compute}
    spec["batch"] = {"global": 2, "micro": 2}
    path = setting.scratch / f"lockstep-{case.folder}-{case.trace}-{compute}.yaml"
    path.write_text("".join(f"{key}: {program.to_yaml(value)}\n" for key, value in spec.items()))
    said = program.run([setting.xlc, "verify", setting.models / case.folder / f"{case.model}.onnx", "--spec", path, "--steps", "1"])
    for whose, allowed in OTHER_BITS.items():
        found = re.search(rf"([0-9 ]+) sixteen-bit elements of {whose}: "
                          r"(?:all rounded as|([0-9]+) rounded differently [^,]*, [0-9.]+ %(?:, ([0-9]+) of them)?)", said)
        if not found:
            yield f"nothing is said of {whose}: {said[-800:]}"
            continue
        elements = int(found[1].replace(" ", ""))
        for count, limit, what in zip(found.groups()[1:], allowed, ("differ", "differ by more than one ulp")):
            if not int(count or 0) <= limit / 100 * elements + 1:
                yield f"{whose}: {count} of {elements} elements {what}, {limit} % allowed"


def without_a_master(setting, layouts):
    """One step from the same parameters and gradients: without a master they are what the master is, rounded; what `keep` names
    stays float32, to the bit."""
    model, keep = ("gpt2-tiny", "loss", "adamw"), ['"*.bias"', '"*wpe*"']
    for number, layout in enumerate(layouts):
        runs = []
        for master in ("fp32", "none"):
            case = cases.Case(*model, **layout)
            precision = {"compute": "bf16", "keep": keep, "master": master} | ({"rounding": "nearest"} if master == "none" else {})
            trained = program.Program.of_case(setting, case, program.read_trace(setting, case), f"master-{master}-{number}",
                                              precision=precision)
            initial = trained.folder / "initial.safetensors"
            trained.train(1, "--lr", "0")
            program.state_dict.write(initial, {name: ("F32", shape, [files.round_to_bf16(value) for value in values])
                                               for name, (shape, values) in trained.parameters().items()})
            trained.train(1, "--init", initial, "--check")
            runs.append(trained)
        exact, rounded = (run.parameters() for run in runs)
        if len({str([(step["loss"], step["grad_norm"]) for step in run.log()]) for run in runs}) > 1:
            yield f"{layout}: losses or norms differ"
        moved = 0
        for name, (_, values) in exact.items():
            is_kept = name.endswith(".bias") or "wpe" in name
            wanted = values if is_kept else [files.round_to_bf16(value) for value in values]
            if list(wanted) != list(rounded[name][1]):
                yield f"{layout}: {name} is not what its master is, {'kept' if is_kept else 'rounded'}"
            moved += wanted != values
        if not moved:
            yield f"{layout}: nothing was rounded"


def save_what_is_frozen(setting):
    """A frozen parameter is saved as it was read, though ranks hold nothing but a rounded copy: from a file, and from a seed."""
    frozen = ["model.transformer.wpe.weight", "model.transformer.h.0.mlp.c_fc.weight", "model.transformer.h.1.ln_1.weight"]
    for number, (layout, sources) in enumerate(((LAYOUTS[1], ("model", "random")), (LAYOUTS[4], ("random",)))):
        case = cases.Case("gpt2-tiny", "loss", "adamw", **layout)
        for source in sources:
            trained = program.Program.of_case(setting, case, program.read_trace(setting, case), f"frozen-{source}-{number}",
                                              precision="bf16", init={"from": source},
                                              trainable=['"*"'] + [f'"!{name}"' for name in frozen])
            exact = program.Program.of_case(setting, case, program.read_trace(setting, case), f"frozen-{source}-{number}-exact",
                                            precision="fp32", init={"from": source})
            exact.train(1, "--lr", "0")
            trained.train(2, "--check", tag="first")
            trained.train(2, "--init", trained.folder / "first.safetensors", "--check")
            began, saved = exact.parameters(), trained.parameters()
            yield from (f"{layout}, from {source}: {name} is saved rounded" for name in frozen if saved[name] != began[name])
            same = sorted(name for name in began if saved[name] == began[name])
            if same != sorted(frozen):
                yield f"{layout}, from {source}: unchanged are {same}"


def list_checks(everything):
    trained, compared = (MODELS, MODELS) if everything else (SAMPLE, LOCKSTEP)
    layouts = LAYOUTS if everything else LAYOUTS[1::3]
    checks = [("bf16 without a master", lambda setting: without_a_master(setting, layouts)),
              ("bf16 saves what is frozen", save_what_is_frozen)]
    checks += [(f"bf16 {folder}/{model} {trace}", lambda setting, entry=(folder, model, trace): follow_pytorch(setting, entry))
               for folder, model, trace in trained]
    return checks + [(f"{compute} in lockstep {folder}/{model} {trace}",
                      lambda setting, entry=(folder, model, trace), compute=compute: round_as_the_interpreter(setting, entry, compute))
                     for folder, model, trace in compared for compute in ("bf16", "fp16")]
