"""Models with dropout, whose masks are known: losses, norms and parameters are PyTorch's with the same masks
(dropout-*), in every layout. A mask depends only on the sample, the place and the step, so that layouts differ only by
rounding.
"""

import dataclasses

import cases
import compare
import gpus
import program

SEED = 7  # of the masks in the traces
FILES = [("dropout-gpt2", "loss"), ("dropout-bert", "loss"), ("dropout-conv", "loss"), ("dropout-bert", "loss-torchscript"),
         ("dropout-bert", "loss-sdpa-torchscript")]
PERSISTENT = {"persistence_threshold": "0", "bucket_size": "4KiB"}


@dataclasses.dataclass(frozen=True)
class Layout:
    name: str
    keys: dict  # of the spec
    micro: int = 8
    options: tuple = ()
    only: str = ""  # folders, where not all have it


LAYOUTS = [
    Layout("one rank", {}),
    Layout("micro 4", {}, 4), Layout("micro 2", {}, 2), Layout("micro 1", {}, 1),
    Layout("dp 2 stage 1", {"dp": 2, "zero_stage": 1}, 4),
    Layout("dp 4 stage 3", {"dp": 4, "zero_stage": 3, "zero": PERSISTENT}, 2),
    Layout("dp 4 in groups of 2", {"dp": 4, "zero_stage": 3, "dp_shard": 2, "zero": PERSISTENT}, 1),
    Layout("tp 2", {"tp": 2}, 8, only="dropout-gpt2 dropout-bert"),
    Layout("tp 2 without sequence parallelism", {"tp": 2, "sequence_parallel": False}, 4, only="dropout-gpt2 dropout-bert"),
    *(Layout(f"pp 2 {schedule}", {"pp": 2, "pipeline": {"schedule": schedule}}, 2) for schedule in ("1f1b", "zb-h1")),
    Layout("pp 2 zb-v", {"pp": 2, "pipeline": {"schedule": "zb-v", "chunks": 2}}, 2),
    Layout("dp 2 pp 2 tp 2 stage 3", {"dp": 2, "pp": 2, "tp": 2, "zero_stage": 3, "zero": PERSISTENT}, 2,
           only="dropout-gpt2 dropout-bert"),
    Layout("loss by rows", {"loss": {"chunk": 8}}, 8, only="dropout-bert dropout-conv"),
    Layout("dp 2 stage 3 as processes", {"dp": 2, "zero_stage": 3, "zero": PERSISTENT}, 2, ("--processes",)),
]


def spec_of(setting, folder, model, trace, layout):
    case = cases.Case(folder, model, "adamw")
    spec = program.spec_of(setting, case, trace) | layout.keys
    if "torchscript" in model or folder == "dropout-conv":
        spec.pop("dims", None)
    return spec | {"batch": {"global": trace["global_batch"], "micro": layout.micro}, "init": {"from": "model", "seed": SEED}}


def name_of(folder, model, optimizer, layout):
    return f"masks of PyTorch: {folder}/{model} {optimizer} {layout.name}"


def trains(setting, folder, model, optimizer, layout):
    case = cases.Case(folder, model, optimizer)
    trace = program.read_trace(setting, case)
    trained = program.Program(setting, "train", setting.models / folder / f"{model}.onnx",
                              spec_of(setting, folder, model, trace, layout))
    trained.train(trace["steps"], *layout.options)
    yield from compare.compare_steps(trained.log(), trace)
    yield from compare.compare_parameters(trained.parameters(), trace, setting.models / folder / f"final-{optimizer}.json")


NARROW = {"bf16": "bf16", "fp16": {"compute": "fp16", "loss_scale": 1024}}
FAR = 1e-2  # of the float64 loss, in sixteen bits


def trains_narrow(setting, folder, name):
    """Sixteen bits have the same masks: losses stay near PyTorch's, and are equal for all stages of ZeRO."""
    trace = program.read_trace(setting, cases.Case(folder, "loss", "adamw"))
    seen = {}
    for layout in [Layout("one rank", {})] + [Layout(f"stage {stage}", {"dp": 2, "zero_stage": stage, "zero": PERSISTENT}, 4) for stage in (0, 1, 3)]:
        spec = spec_of(setting, folder, "loss", trace, layout) | {"precision": NARROW[name]}
        trained = program.Program(setting, layout.name, setting.models / folder / "loss.onnx", spec)
        trained.train(trace["steps"])
        seen[layout.name] = trained.losses()
    apart = max(compare.relative(found, expected) for found, expected in zip(seen["one rank"], trace["loss"], strict=True))
    if not apart <= FAR:
        yield f"losses are {apart:.1e} from float64's, {FAR:.0e} allowed"
    for stage in (1, 3):
        if seen[f"stage {stage}"] != seen["stage 0"]:
            yield f"stage {stage} has other losses than stage 0"


def trains_on_gpus(setting, folder, optimizer, everything):
    """Kernels of GPUs draw the same words, in steps that are graphs. One rank takes enough steps to launch a graph twice."""
    layouts = [{}, {"dp": 2, "zero_stage": 2}, {"pp": 2}] + [{"tp": 2}] * (folder != "dropout-conv")
    trace = program.read_trace(setting, cases.Case(folder, "loss", optimizer))
    for number, keys in enumerate(layouts):
        layout = Layout("gpu", keys, 8 // (keys.get("dp", 1) * keys.get("pp", 1)))
        steps = gpus.GRAPH_STEPS if everything or not keys else 2
        image = setting.scratch / f"image-{number}.so"
        trained = program.Program(setting, f"gpu-{number}", setting.models / folder / "loss.onnx",
                                  spec_of(setting, folder, "loss", trace, layout),
                                  ["--target", "cuda", "--simulator-image", image])
        trained.train(steps, "--threads", variables={
            "XLC_CUDA_LIBRARIES": setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_IMAGE": image, "XLC_SIMULATE_DEVICES": 2})
        few = trace | {"steps": steps, "loss": trace["loss"][:steps], "grad_norm": trace["grad_norm"][:steps]}
        for complaint in compare.compare_steps(trained.log(), few):
            yield f"{keys}: {complaint}"


def list_checks(everything):
    """All of them, or each layout once, with files and optimizers in turns."""
    chosen = []
    for at, layout in enumerate(LAYOUTS):
        files = [file for file in FILES if not layout.only or file[0] in layout.only.split()]
        pairs = [(file, optimizer) for file in files for optimizer in ("adamw", "sgd")]
        chosen += [(*pair, layout) for pair in (pairs if everything else [pairs[at % len(pairs)]])]
    checks = [(name_of(*file, optimizer, layout),
               lambda setting, file=file, optimizer=optimizer, layout=layout: trains(setting, *file, optimizer, layout))
              for file, optimizer, layout in chosen]
    folders = ("dropout-gpt2", "dropout-bert", "dropout-conv")
    narrow = [(folder, name) for folder in folders for name in NARROW]
    checks += [(f"masks of PyTorch: {folder} in {name}", lambda setting, folder=folder, name=name: trains_narrow(setting, folder, name))
               for folder, name in (narrow if everything else (narrow[0], narrow[3]))]
    return checks + [(f"masks of PyTorch: {folder} on simulated GPUs", lambda setting, folder=folder: trains_on_gpus(setting, folder, "adamw", everything))
                     for folder in folders[:3 if everything else 1]]
