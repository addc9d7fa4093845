"""Programs for NVIDIA's GPUs, run on the simulated one (lib/Simulate/Libraries): the program that a user has, with other
libraries behind the names that it opens.

Streams run early, late and in random orders, threads in random orders; the bits are the same in all of them. Losses are those of
PyTorch as far as those of CPUs are: in float32 to the tolerance of the matrix, in sixteen bits as `mixed` says.
"""

import dataclasses
import itertools
import json
import os
import re
import subprocess

import cases
import compare
import files
import mixed
import conditional_model
import program

PRECISIONS = ("fp32", "bf16", "fp16")
ORDERS = ("early", "late", "random:1", "random:2", "random:3")
STEPS = 3  # of a model whose threads are simulated
GRAPH_STEPS = 6  # of which two captured graphs are launched again
NO_GRAPH = "training continues without graphs"
LONG = 128  # positions, of which cuDNN's attention takes a multiple
SPLIT = (("2.weight", 0), ("4.weight", 1))  # of the second stage, whose ranks sum logits: by itself tp has no layers to split there
PARALLEL = {"dp": 2, "pp": 2, "tp": 2, "stage": 1, "micro_batches": 2, "layout": SPLIT}  # of the perceptron


class Simulated:
    """A program and the kernels of its image."""

    def __init__(self, setting, name, model, layout=None, **changes):
        """`layout`: of the case."""
        self.setting = setting
        case = cases.Case(*model, **mixed.cut_units(model[0], layout or {}))
        self.image = setting.scratch / f"{name}.so"
        self.trace = program.read_trace(setting, case)
        self.program = program.Program.of_case(setting, case, self.trace, name,
                                               ["--target", "cuda", "--simulator-image", self.image], **changes)

    def variables(self, order="random", **others):
        return {"XLC_CUDA_LIBRARIES": self.setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_IMAGE": self.image,
                "XLC_SIMULATE_ORDER": order, **others}

    def train(self, order, *options, steps=STEPS, expect=0, **others):
        return self.program.train(steps, *options, expect=expect, tag=order.replace(":", "-"),
                                  variables=self.variables(order, **others))

    def end(self, order, *options, steps, timeout=60, **others):
        """How a run ends: its exit code, and what it said."""
        words = [self.program.path, "--steps", str(steps), "--save", self.program.folder / "ended.safetensors", *options]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, check=False,
                              env={**os.environ, **{name: str(value) for name, value in self.variables(order, **others).items()}})
        return done.returncode, done.stdout + done.stderr

    def bits(self, order):
        return self.program.bits(order.replace(":", "-"))

    def log(self, order):
        return self.program.log(order.replace(":", "-"))


def a_row_each(model, changes):
    """The batch of a language model that is compared with itself or with the CPU's program: a row for each rank and micro-batch. A
    simulated GPU takes as long for a step as there are rows."""
    rows = changes.get("dp", 1) * changes.get("micro_batches", 1)
    return {"batch": {"global": rows, "micro": 1}} if "tiny" in model[0] else {}


def far_from_pytorch(setting, model, precision, log, trace):
    """Complaints about losses and gradient norms."""
    first = {key: trace[key][:STEPS] for key in ("loss", "grad_norm")}
    if precision == "fp32":
        yield from compare.compare_steps(log, {**trace, **first, "steps": STEPS})
        return
    path = setting.models / model[0] / f"trace-{model[2]}-{precision}.json"
    runs = json.loads(path.read_text())["runs_by_micro_batch"].values()
    for key in first:
        farthest = max(distance(run[key], trace[key]) for run in runs)
        ratio = distance([step[key] for step in log], first[key]) / farthest
        if not ratio <= mixed.ONE:
            yield f"{key} is {ratio:.2f} times as far from float64 as PyTorch's {precision}, {mixed.ONE} allowed"


def distance(found, expected):
    """As mixed.distance, of the steps that have a number: none is the norm of a step that is skipped."""
    pairs = [pair for pair in zip(found, expected) if None not in pair]
    return mixed.distance(*zip(*pairs)) if pairs else 0


def trains(setting, model, precision, orders):
    """The same bits in all orders of streams and threads, and PyTorch's losses."""
    simulated = Simulated(setting, f"gpu-{'-'.join(model)}-{precision}", model, precision=precision)
    for order in orders:
        simulated.train(order)
        if simulated.bits(order) != simulated.bits(orders[0]):
            yield f"{order}: other bits than {orders[0]}"
    yield from far_from_pytorch(setting, model, precision, simulated.log(orders[0]), simulated.trace)


GPT = ("gpt2-tiny", "loss", "adamw")
SEVERAL = [(GPT, {"dp": 2, "pp": 2, "tp": 2, "stage": 1, "micro_batches": 2}, "fp32"),
           (("mlp", "logits", "sgd"), {"dp": 4, "stage": 3}, "bf16"),
           (("mlp", "logits", "sgd"), {"dp": 2, "stage": 2, "micro_batches": 2}, "fp32"),
           (("mlp", "logits", "sgd"), {"dp": 4, "stage": 1}, "crossing"),
           (("mlp", "logits", "sgd"), {"pp": 2, "stage": 1, "micro_batches": 4}, "fp32"),
           (GPT, {"tp": 4, "sequence_parallel": True, "layout": cases.TURNED[0].layout}, "bf16")]  # an all_to_all
# With --all, every two of these meet.
TINY = [("mlp", "logits", "sgd"), GPT] + [(f"{name}-tiny", "loss", "sgd") for name in ("llama", "bert", "blenderbot", "deberta-v2")]
COMPOSITIONS = [{"dp": 2, "stage": 0}, {"dp": 2, "stage": 2, "micro_batches": 2}, {"dp": 4, "stage": 1}, {"dp": 4, "stage": 3},
                {"tp": 2}, {"dp": 2, "tp": 2, "stage": 3, "sequence_parallel": True}, {"tp": 4, "sequence_parallel": True},
                {"pp": 2, "micro_batches": 2}, {"dp": 2, "pp": 2, "stage": 1, "micro_batches": 2},
                {"dp": 2, "pp": 2, "tp": 2, "stage": 2, "micro_batches": 2}]

# No attention whose queries would be the sequence.
IMPOSSIBLE = {"mlp": {"sequence_parallel"}, "deberta-v2-tiny": {"sequence_parallel"}}


def list_several(everything):
    """Model, composition and precision of the programs that are trained."""
    array = [(model, changes, PRECISIONS[(i + j) % 3]) for i, model in enumerate(TINY) for j, changes in enumerate(COMPOSITIONS)
             if not IMPOSSIBLE.get(model[0], set()) & changes.keys()]
    return SEVERAL + array * everything


def compile_several(setting, model, changes, name, **spec):
    """A program of several GPUs, with its image for simulated ones."""
    case = cases.Case(*model, **mixed.cut_units(model[0], changes))
    image, trace = setting.scratch / f"{name}.so", program.read_trace(setting, case)
    gpus = program.Program.of_case(setting, case, trace, name, ["--target", "cuda", "--simulator-image", image], **spec)
    return gpus, image, program.Program.of_case(setting, case, trace, f"{name}-cpu", **spec)


def train_several(setting, gpus, image, order, *options):
    """In an order of the streams, which is the run's tag."""
    tag = "".join((order.replace(":", "-"), *options))
    gpus.train(STEPS, *options, tag=tag, variables={
        "XLC_CUDA_LIBRARIES": setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_IMAGE": image,
        "XLC_SIMULATE_ORDER": order, "XLC_SIMULATE_DEVICES": 8})
    return tag


def meets_others(setting, model, changes, precision, orders, ways):
    """Ranks with one GPU each, over NCCL: the same bits in all orders, as threads and in further ways, and the losses of CPUs."""
    gpus, image, cpu = compile_several(setting, model, changes, "gpus-" + "-".join((*model, *name_of(changes).split(), precision)),
                                       precision=cases.PRECISIONS[precision], **a_row_each(model, changes))
    cpu.train(STEPS)
    tags = [train_several(setting, gpus, image, order, "--threads") for order in orders]
    tags += [train_several(setting, gpus, image, orders[-1], *options) for options in ways]
    for tag in tags:
        if gpus.bits(tag) != gpus.bits(tags[0]):
            yield f"{tag}: other bits than {tags[0]}"
    most = compare.NORM_TOLERANCE if precision == "fp32" else 5e-3
    for found, wanted in zip(gpus.log(tags[0]), cpu.log(), strict=True):
        if not compare.relative(found["loss"], wanted["loss"]) <= most:
            yield f"step {found['step']}: loss is {found['loss']}, {wanted['loss']} on CPUs"


def name_of(changes):
    return " ".join(f"{key} {'pinned' if key == 'layout' else value}" for key, value in changes.items())


def sums_in_order(setting, everything):
    """`runtime.deterministic`: the same bits for all ZeRO stages, in all orders of streams and threads."""
    first = {}
    for precision, stage in itertools.product(("bf16", "fp32") if everything else ("bf16",), range(4)):
        gpus, image, _ = compile_several(setting, ("mlp", "logits", "sgd"), {"dp": 4, "stage": stage}, f"ordered-{precision}-{stage}",
                                         precision=cases.PRECISIONS[precision], runtime={"deterministic": True})
        for order in ORDERS if everything else ORDERS[1:2]:
            bits = gpus.bits(train_several(setting, gpus, image, order, "--threads"))
            if bits != first.setdefault(precision, bits):
                yield f"{precision}: stage {stage}, {order} has other bits than stage 0"


def windows_and_micro_batches(setting, everything):
    """Convolutions and pools, whose gradients are added up over two micro-batches; --check looks at every byte of every operand."""
    model, changes = ("cnn", "logits-torchscript-train", "sgd"), {"micro_batches": 2}
    for precision in PRECISIONS if everything else PRECISIONS[:2]:
        simulated = Simulated(setting, f"gpu-windows-{precision}", model, changes, precision=precision)
        simulated.train("random:1")
        simulated.train("late", "--check")
        if simulated.bits("late") != simulated.bits("random:1"):
            yield f"{precision}: other bits with --check"
        cpu = program.Program.of_case(setting, cases.Case(*model, **changes), simulated.trace, f"cpu-windows-{precision}",
                                      precision=cases.PRECISIONS[precision])
        cpu.train(STEPS)
        most = compare.NORM_TOLERANCE if precision == "fp32" else 5e-3
        for found, wanted in zip(simulated.log("late"), cpu.log(), strict=True):
            for key in ("loss", "grad_norm"):
                if not compare.relative(found[key], wanted[key]) <= most:
                    yield f"{precision}, step {found['step']}: {key} is {found[key]}, {wanted[key]} on a CPU"


def fused_attention(setting, everything):
    """Attention of sixteen bits by cuDNN: the same bits in all orders, and the losses of attention by products. A cuDNN that is too old, or
    has no kernel, is named before the first step."""
    ids = [(i // LONG * 37 + i % LONG * (i % LONG)) % 250 for i in range(2 * LONG)]
    data = {"train": {name: setting.scratch / f"long-{name}.npy" for name in ("input_ids", "labels")}}
    for path in data["train"].values():
        files.write_npy(path, "<i8", (2, LONG), ids)
    for precision in PRECISIONS[1:] if everything else ("bf16",):
        losses = []
        for how, orders in (("products", ORDERS[:1]), ("fused", ORDERS[:1] + ORDERS[2:3])):
            simulated = Simulated(setting, f"gpu-{how}-{precision}", ("llama-tiny", "loss", "adamw"), precision=precision,
                                  batch={"global": 1}, dims={"sequence": LONG}, data=data, runtime={"attention": how, "threads_per_rank": 1})
            for order in orders:
                simulated.train(order, steps=2)
                if simulated.bits(order) != simulated.bits(orders[0]):
                    yield f"{how} in {precision}, {order}: other bits than {orders[0]}"
            losses.append([step["loss"] for step in simulated.log(orders[0])])
        if losses[0] == losses[1] or not mixed.distance(*losses) <= 5e-3:
            yield f"{precision}: losses {losses[1]} with cuDNN, {losses[0]} without"
        for variable, value, words in (("XLC_SIMULATE_CUDNN", 90500, r"error: cuDNN has version 9.5.0 \(.*\), but programs need 9.6"),
                                       ("XLC_SIMULATE_CUDNN", 91001, r"error: cuDNN has version 9.10.1 \(.*\), which computes attention incorrectly"),
                                       ("XLC_SIMULATE_CUDNN_WORKSPACE", 1 << 40, "error: cuDNN 9.* has no usable kernel for .* compile with runtime: {attention: products}")):
            code, said = simulated.end("early", steps=1, **{variable: value})
            if code != 1 or not re.search(words, said):
                yield f"{variable} {value}: {code}: {said}"


def conditional_attention(setting, everything, causal):
    """A condition beside the scores, which leaves some queries no key: the same bits in all orders, and the losses and gradients of
    attention by products."""
    conditional_model.write(setting.scratch / "conditional", LONG, causal)
    setting = dataclasses.replace(setting, models=setting.scratch)
    for precision in PRECISIONS[1:] if everything else ("bf16",):
        logs = []
        for how, orders in (("products", ORDERS[:1]), ("fused", ORDERS[:1] + ORDERS[2:3])):
            simulated = Simulated(setting, f"gpu-conditional-{how}-{precision}", ("conditional", "loss", "sgd"), {"micro_batches": 1},
                                  precision=precision, runtime={"attention": how, "threads_per_rank": 1})
            for order in orders:
                simulated.train(order)
                if simulated.bits(order) != simulated.bits(orders[0]):
                    yield f"{how} in {precision}, {order}: other bits than {orders[0]}"
            logs.append(simulated.log(orders[0]))
        for key in ("loss", "grad_norm"):
            apart = mixed.distance(*([step[key] for step in log] for log in logs))
            if not 0 < apart <= 1e-3:
                yield f"{precision}: {key} is {apart} from that of attention by products"


def same_bits_under_all_seeds(setting, everything):
    """Of streams and threads."""
    simulated = Simulated(setting, "gpu-seeds", ("mlp", "logits", "sgd"))
    for seed in range(20 if everything else 5):
        simulated.train(f"random:{seed}")
        if simulated.bits(f"random:{seed}") != simulated.bits("random:0"):
            yield f"seed {seed}: other bits than seed 0"


def a_step_is_one_graph(setting, everything):
    """The same bits as action by action, in all orders of streams; also of ranks that meet over NCCL, or sum in their order."""
    programs = [(GPT, {}, "bf16", {}), (("mlp", "logits", "sgd"), PARALLEL, "fp32", {}), (*SEVERAL[1], {}),
                (("mlp", "logits", "sgd"), {"dp": 4, "stage": 2}, "bf16", {"runtime": {"deterministic": True}})]
    for number, (model, changes, precision, spec) in enumerate(programs + [(*SEVERAL[0], {})] * everything):
        simulated = Simulated(setting, f"gpu-graphs-{number}", model, changes, precision=cases.PRECISIONS[precision], **spec,
                              **a_row_each(model, changes))
        simulated.train("early", "--threads", "--graph", "off", steps=GRAPH_STEPS, XLC_SIMULATE_DEVICES=8)
        for order in ORDERS[1:] if everything else ORDERS[2:3]:
            said = simulated.train(order, "--threads", "--graph", "on", steps=GRAPH_STEPS, XLC_SIMULATE_DEVICES=8)
            if simulated.bits(order) != simulated.bits("early") or NO_GRAPH in said:
                yield f"{simulated.program.path.name}, {order}: other bits than action by action, or no graph: {said}"


def rounds_stochastically(setting):
    """Random bits are those of CPUs, for all stages of ZeRO and where ranks have columns of a weight, in steps that are graphs and in
    steps that are not. Lion moves each parameter by the sign of its gradient, which no order of sums changes: parameters are equal bit
    by bit. Rounded to nearest they are others."""
    model, spec = ("mlp", "logits", "sgd"), {"optimizer": {"type": "lion", "lr": 1e-4, "weight_decay": 0.1}}
    random = cases.PRECISIONS["stochastic"]
    for changes in [{"dp": 2, "stage": stage} for stage in range(4)] + [{"dp": 2, "tp": 2, "stage": 1, "layout": SPLIT}]:
        name = "-".join(name_of(changes).split())
        simulated = Simulated(setting, f"gpu-stochastic-{name}", model, changes, precision=random, **spec)
        case, trained = cases.Case(*model, **mixed.cut_units(model[0], changes)), {}
        for rounding in ("stochastic", "nearest")[:2 if changes.get("stage") == 0 else 1]:
            cpu = program.Program.of_case(setting, case, simulated.trace, f"cpu-{rounding}-{name}", **spec,
                                          precision={**random, "rounding": rounding})
            cpu.train(GRAPH_STEPS)
            trained[rounding] = cpu.parameters()
        for option in ("off", "on"):
            said = simulated.train("random:1", "--threads", "--graph", option, steps=GRAPH_STEPS, XLC_SIMULATE_DEVICES=4)
            if simulated.program.parameters("random-1") != trained["stochastic"] or NO_GRAPH in said:
                yield f"{name_of(changes)}, --graph {option}: other parameters than a CPU's, or no graph: {said}"
        if trained["stochastic"] == trained.get("nearest"):
            yield f"{name_of(changes)}: rounding to nearest gives the same parameters"


# A layer's products, and those of the loss's head; convolutions; operands that are transposed views; sums of four ranks, whose order is NCCL's;
# ranks that exchange something within functions; W that is the schedule's.
BESIDE = [(GPT, {}, "bf16"), (("cnn", "logits-torchscript-train", "sgd"), {"micro_batches": 2}, "bf16"),
          (("small-pooled", "loss-unoptimized", "sgd"), {}, "fp32"), SEVERAL[1], SEVERAL[0], (GPT, {"dp": 4, "stage": 2, "micro_batches": 2}, "fp32"),
          (TINY[2], {"dp": 2, "tp": 2, "stage": 3, "sequence_parallel": True}, "bf16"),
          (TINY[3], {"pp": 2, "micro_batches": 4, "schedule": "zb-h1"}, "fp16")]


def weight_gradients_beside(setting, everything):
    """The bits of a program that computes them in its order, in all orders of streams; as graphs, and where --check looks at every operand."""
    runs = [("in_order", "early", "--graph=off"), ("beside", "late", "--graph=on"), ("beside", "random:1", "--graph=off")]
    runs += [("beside", order, "--graph=on") for order in ORDERS if everything] + [("beside", "late", "--check")] * everything
    for number, (model, changes, precision) in enumerate(BESIDE if everything else BESIDE[:4]):
        programs = {how: Simulated(setting, f"gpu-{how}-{number}", model, changes, precision=cases.PRECISIONS[precision],
                                   cluster={"device": "h100"}, runtime={"weight_gradients": how, "threads_per_rank": 1},
                                   **a_row_each(model, changes)) for how in ("in_order", "beside")}
        bits = []
        for how, order, option in runs if everything or number % 3 == 0 else runs[:2]:
            programs[how].train(order, "--threads", option, steps=GRAPH_STEPS if everything else STEPS, XLC_SIMULATE_DEVICES=8)
            bits.append(programs[how].bits(order))
            if bits[-1] != bits[0]:
                yield f"{model[0]} {name_of(changes)}, {how}, {order}, {option}: other bits than in order"


def list_checks(everything):
    models = mixed.MODELS if everything else [mixed.MODELS[0], mixed.MODELS[12]]
    # Orders do not depend on the type: other checks run sixteen bits in several.
    orders = {precision: ORDERS if everything else ORDERS[1:3] if precision == "fp32" else ORDERS[1:2] for precision in PRECISIONS}
    checks = [(f"gpu {'/'.join(model)} in {precision}",
               lambda setting, model=model, precision=precision: trains(setting, model, precision, orders[precision]))
              for model, precision in itertools.product(models, PRECISIONS)]
    # Processes, which are the default, and memory that is registered with NCCL: neither depends on the model.
    ways = {model: ((), ("--register-buffers",)) if everything or model != GPT else () for model in TINY}
    checks += [(f"gpu over NCCL: {'/'.join(model)} {name_of(changes)} in {precision}",
                lambda setting, entry=(model, changes, precision), ways=ways[model]:
                meets_others(setting, *entry, ORDERS if everything else ORDERS[2:3], ways))
               for model, changes, precision in list_several(everything)]
    return checks + [("gpu: sums in the order of the ranks", lambda setting: sums_in_order(setting, everything)),
                     ("gpu: windows and micro-batches", lambda setting: windows_and_micro_batches(setting, everything)),
                     ("gpu: fused attention", lambda setting: fused_attention(setting, everything)),
                     ("gpu: fused attention with a condition", lambda setting: conditional_attention(setting, everything, False)),
                     ("gpu: fused causal attention with a condition", lambda setting: conditional_attention(setting, everything, True)),
                     ("gpu: stochastic rounding by the random bits of CPUs", rounds_stochastically),
                     ("gpu: a step is one graph", lambda setting: a_step_is_one_graph(setting, everything)),
                     ("gpu: weight gradients beside other computations", lambda setting: weight_gradients_beside(setting, everything)),
                     ("gpu: the same bits under all seeds", lambda setting: same_bits_under_all_seeds(setting, everything))]
