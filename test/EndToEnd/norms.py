"""--log-norms: squares of the parameters' norms add up to the norm of the step, each is that of one rank, in every
layout; and a step in which they are read has the same bits as without.
"""

import json
import math

import cases
import compare
import evaluation
import program

EVERY, STEPS = 3, 7
Layout = evaluation.Layout
LAYOUTS = [Layout("dp 2 stage 1", {"dp": 2, "zero_stage": 1}, 2), Layout("dp 4 stage 3", {"dp": 4, "zero_stage": 3, "zero": evaluation.PERSISTENT}, 1),
           Layout("dp 4 in groups of 2", {"dp": 4, "zero_stage": 3, "dp_shard": 2, "zero": evaluation.PERSISTENT}, 1),
           Layout("tp 2 dp 2", {"dp": 2, "tp": 2}, 2), Layout("pp 2 as processes", {"pp": 2}, 2, ("--processes",)),
           Layout("dp 2 pp 2 tp 2 stage 3", {"dp": 2, "pp": 2, "tp": 2, "zero_stage": 3, "zero": evaluation.PERSISTENT}, 2)]


def spec_of(setting, keys, micro):
    """Gradients are clipped; what is told is before that."""
    case = cases.Case("gpt2-tiny", "loss", "sgd")
    spec = program.spec_of(setting, case, program.read_trace(setting, case)) | keys
    spec["batch"] = {"global": 8, "micro": micro}
    return spec | {"optimizer": {"type": "sgd", "lr": 0.1, "momentum": 0.9, "clip_norm": 0.5}}


def norms_of(made, tag="run"):
    lines = map(json.loads, (made.folder / f"{tag}.jsonl").read_text().splitlines())
    return {line["step"]: line["norms"] for line in lines if "norms" in line}


def train(setting, name, layout, flags=(), variables=None):
    """The norms, the norm of each step, and whether the bits are those of a run without them."""
    made = program.Program(setting, name, setting.models / "gpt2-tiny" / "loss.onnx", spec_of(setting, layout.keys, layout.micro), flags)
    made.train(STEPS, *layout.options, tag="without", variables=variables)
    made.train(STEPS, "--log-norms", EVERY, *layout.options, variables=variables)
    norms = norms_of(made)
    lines = [json.loads(line) for line in (made.folder / "run.jsonl").read_text().splitlines()]
    steps = [line for line in lines if "loss" in line]
    return norms, {step["step"]: step["grad_norm"] for step in steps}, made.bits("without"), \
        ([(step["loss"], step["grad_norm"]) for step in steps], (made.folder / "run.safetensors").read_bytes())


def are_told(setting, layout, flags=(), variables=None):
    expected, *_ = train(setting, "one", Layout("one rank", {}, 2))
    norms, whole, without, with_them = train(setting, "train", layout, flags, variables)
    if sorted(norms) != [3, 6]:
        yield f"norms are told behind steps {sorted(norms)}"
    if without != with_them:
        yield "losses, norms or parameters are others where norms of parameters are read"
    for step, all_of_step in norms.items():
        total = math.sqrt(math.fsum(one["gradient"] ** 2 for one in all_of_step.values()))
        if not compare.relative(total, whole[step]) <= 1e-6:
            yield f"step {step}: squares of norms add up to {total}, the norm is {whole[step]}"
        if all_of_step.keys() != expected[step].keys():
            yield f"step {step}: other parameters than on one rank"
            continue
        for name, one in all_of_step.items():
            for what, value in one.items():
                if not abs(value - expected[step][name][what]) <= 1e-5 * max(expected[step][name][what], whole[step] * 1e-2):
                    yield f"step {step}: {what} of {name} is {value}, on one rank {expected[step][name][what]}"


def are_told_on_gpus(setting):
    image = setting.scratch / "image.so"
    variables = {"XLC_CUDA_LIBRARIES": setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_IMAGE": image, "XLC_SIMULATE_DEVICES": 1}
    yield from are_told(setting, Layout("gpu", {}, 2), ["--target", "cuda", "--simulator-image", image], variables)


def list_checks(everything):
    return [(f"norms: {layout.name}", lambda setting, layout=layout: are_told(setting, layout))
            for layout in (LAYOUTS if everything else LAYOUTS[1::4])] + [("norms: simulated GPU with graphs", are_told_on_gpus)] * everything
