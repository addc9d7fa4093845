"""The programs that are compiled and run: every model with a trace, in every layout.

    mlp/logits, gpt2-tiny/{loss,logits} under AdamW and SGD, gpt2-tiny-ragged/{loss,logits} with clipping
  x dp 1, 2, 4 with one and two micro-batches; dp 8 with one; dp 4 in shard groups of 2
  x ZeRO stages 0 to 3; and at dp 1 without raising

Other exports of these models, and further models (FURTHER): dp 1 and 4 x stages 0 and 3; Llama also without raising.

A file of each kind of loss and export on one rank with gradients that are sums over micro-batches: two of them, and one
for each sample, which is the default of `batch.micro`. Losses and optimizers by a covering array. And small models
(SMALL) that each have a property that the large ones lack.

Tensor and pipeline parallelism (`list_composed_cases`): a covering array in which every two of these meet that can:
model file, (dp, pp, tp) with up to eight ranks, ZeRO stage, sequence parallelism, schedule, micro-batches, balanced or
given cuts.

Stages 2 and 3 shard everything in small buckets: by default these models would stay resident, in one bucket.
"""

import dataclasses
import functools
import itertools
import pathlib

import covering

SMALL_BUCKETS = {"persistence_threshold": "0", "bucket_size": "64KiB"}

# (folder, model file, trace); the data files are named after the model's inputs and labels.
MODELS = [
    ("mlp", "logits", "sgd"),
    ("gpt2-tiny", "loss", "adamw"),
    ("gpt2-tiny", "loss", "sgd"),
    ("gpt2-tiny", "logits", "adamw"),
    ("gpt2-tiny", "logits", "sgd"),
    ("gpt2-tiny-ragged", "loss", "adamw-clip"),
    ("gpt2-tiny-ragged", "logits", "adamw-clip"),
]

FURTHER = [
    ("gpt2-tiny", "loss-torchscript", "adamw"),
    ("gpt2-tiny", "loss-torchscript", "sgd"),
    ("gpt2-tiny", "loss-unoptimized", "adamw"),
    ("gpt2-tiny", "loss-unoptimized", "sgd"),
    ("gpt2-tiny-odd", "logits", "sgd"),
    ("gpt2-tiny-odd", "loss", "sgd"),
    ("llama-tiny", "logits", "adamw"),
    ("llama-tiny", "loss", "adamw"),
    ("llama-tiny", "loss-torchscript", "adamw"),
    ("bert-tiny", "logits", "adamw"),
    ("bert-tiny", "loss", "adamw"),
    ("bert-tiny", "loss-torchscript", "adamw"),
    ("blenderbot-tiny", "logits", "adamw"),
    ("blenderbot-tiny", "loss", "adamw"),
    ("blenderbot-tiny", "loss-torchscript", "adamw"),
    ("deberta-v2-tiny", "logits", "adamw"),
    ("deberta-v2-tiny", "loss", "adamw"),
    ("deberta-v2-tiny", "loss", "sgd"),
    ("deberta-v2-tiny", "loss-torchscript", "adamw"),
]

# What each has: columns picked by places that come with the data, and by places of its own; a loss whose derivative
# reads it (a square root); two convolutions side by side; a weight that is a product (LoRA); two branches on one
# input; an encoder that averages over its sequence; a learned position; one weight used in slices.
SMALL = [
    ("gather-data", "loss-torchscript", "sgd"),
    ("gather-model", "loss-torchscript", "sgd"),
    ("loss-rmse", "loss-torchscript", "sgd"),
    ("small-concat", "loss-torchscript", "sgd"),
    ("small-lora", "loss-torchscript", "sgd"),
    ("small-parallel", "loss-torchscript", "sgd"),
    ("small-pooled", "loss-unoptimized", "sgd"),
    ("small-position", "loss-torchscript", "sgd"),
    ("small-split", "loss-unoptimized", "sgd"),
]


@dataclasses.dataclass(frozen=True)
class Case:
    folder: str
    model: str
    trace: str
    dp: int = 1
    stage: int = 0
    micro_batches: int = 1  # 0: one for each sample, by leaving `batch.micro` out
    shard: int = 0  # 0: all ranks
    raising: bool = True
    pp: int = 1
    tp: int = 1
    sequence_parallel: bool = False
    schedule: str = "1f1b"
    cuts: tuple = ()
    layout: tuple = ()  # of pairs: a pattern, the dimension that is split
    state_dict: str = ""  # the model file whose initializers are the initial state dict

    @property
    def zero(self):
        return SMALL_BUCKETS if self.stage >= 2 else {}

    @property
    def pipeline(self):
        chunks = {"chunks": CHUNKS[self.schedule]} if self.schedule in CHUNKS else {}
        cuts = {"cuts": [f'"{name}"' for name in self.cuts]} if self.cuts else {}
        return {"schedule": self.schedule} | chunks | cuts

    def __str__(self):
        shard = f" dp_shard {self.shard}" if self.shard else ""
        raising = "" if self.raising else " --no-raise"
        tensor = f" tp {self.tp}{' sequence-parallel' * self.sequence_parallel}{' pinned' * bool(self.layout)}" if self.tp > 1 else ""
        pipeline = f" pp {self.pp} {self.schedule}{' given-cuts' * bool(self.cuts)}" if self.pp > 1 else ""
        return (f"{self.folder}/{self.model} {self.trace} dp {self.dp}{shard}{pipeline}{tensor} stage {self.stage} "
                f"micro-batches {self.micro_batches}{raising}{' state-dict' * bool(self.state_dict)}")


# BERT under AdamW, where partial sums over tp leave the most parameters beside their tolerance (compare.OUTLIERS). What the
# covering array trains of BERT has a trace of SGD.
ROUNDED = [Case("bert-tiny", model, "adamw", tp=tp, sequence_parallel=parallel)
           for model, tp, parallel in (("loss", 2, False), ("loss", 4, True), ("loss-torchscript", 4, False))]

# Batch norm couples the samples of a batch: PyTorch's trace is that of one rank with one micro-batch; elsewhere
# `xlc verify` compares (test/Driver).
BATCH_NORM = [Case("cnn", "logits-torchscript-train", "sgd", stage=stage) for stage in (0, 3)]

# Losses that are no plain mean (make_loss_traces.py): PyTorch's loss of the global batch, however it is cut. Where rows meet, that
# of a whole batch, or the mean of the losses of its halves.
GLOBAL_LOSSES = ("sum", "class-weights", "masked", "float-masked", "penalised", "mean-and-sum", "focal", "two-counts")
LOSSES = [("losses", name, name) for name in GLOBAL_LOSSES]
LOSSES += [("losses", name, f"{name}{part}") for name in ("variance", "contrastive") for part in ("", "-halves")]

# The embedding split by columns, its rows by the sequence: an all_to_all takes them from one split to the other.
TURNED = [Case("gpt2-tiny", "loss", "adamw", dp=2, tp=4, sequence_parallel=True, layout=(("*wte.weight", 1),))]

# Every optimizer that has a trace (make_optimizer_traces.py).
MLP = pathlib.Path(__file__).parent.parent / "Inputs" / "models" / "mlp"
OPTIMIZERS = [("mlp", "logits", path.stem.removeprefix("trace-")) for path in sorted(MLP.glob("trace-*.json"))
              if path.stem != "trace-sgd" and not path.stem.endswith(("-bf16", "-fp16"))]
# Losses and optimizers are an axis of a covering array: each meets each mesh (dp, pp, tp), ZeRO stage and number of micro-batches.
LEARNED_AXES = [LOSSES + OPTIMIZERS, [(1, 1, 1), (2, 1, 1), (4, 1, 1), (1, 2, 1), (2, 2, 1), (1, 1, 2)], range(4), (1, 2, 4)]
HALVES = {"losses": ("node_tanh",), "mlp": ("node_relu",)}  # where two stages meet

# What a file says about gradients beside ONNX: a padding row of a tied table, and detached values (make_stopped.py).
STOPPED = [Case(folder, model, "sgd", **layout)
           for folder, models in (("padded", ("loss", "logits", "logits-torchscript")),
                                  ("stopped", ("loss", "logits", "loss-unoptimized")))
           for model in models
           for layout in (dict(), dict(micro_batches=2), dict(dp=2, stage=3), dict(tp=2, sequence_parallel=folder == "padded" and model == "loss"),
                          dict(pp=2, micro_batches=2), dict(dp=2, pp=2, tp=2, stage=3, micro_batches=2))]


# With a state dict of the module, which is made of the unoptimized export: it holds every parameter under PyTorch's names.
STATE_DICT = [Case("gpt2-tiny", model, "adamw", stage=stage, dp=dp, micro_batches=2, state_dict="loss-unoptimized")
              for model, dp, stage in (("logits", 1, 0), ("loss-torchscript", 2, 3))]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a model admits: its heads (a divisor of them is a tp), and nodes after which it can be cut."""
    folder: str
    model: str
    trace: str
    heads: int
    boundaries: tuple


# As many boundaries as there are units but one. Those of BERT and Blenderbot lie inside layers, so that these are cut in two.
LLAMA = ("node_embedding", "node_add_10", "node_add_16", "node_add_22", "node_add_28")
BLENDERBOT = ("node_add", "node_add_4", "node_add_5", "node_add_12", "node_add_14", "node_add_16", "node_add_18")
COMPOSED = [
    Shape("gpt2-tiny", "loss", "adamw", 4, ("node_add_1", "node_add_9", "node_add_13", "node_add_17", "node_add_21")),
    Shape("gpt2-tiny", "loss-torchscript", "adamw", 4,
          ("/model/transformer/Add", *(f"/model/transformer/h.{layer}/Add_1" for layer in range(4)))),
    Shape("gpt2-tiny-odd", "loss", "sgd", 4, ("node_add_1", "node_add_9", "node_add_13")),
    Shape("llama-tiny", "loss", "adamw", 4, LLAMA),
    Shape("llama-tiny", "loss", "sgd", 4, LLAMA),
    Shape("llama-tiny", "loss-torchscript", "adamw", 4,
          ("/model/model/embed_tokens/Gather", *(f"/model/model/layers.{layer}/Add_1" for layer in range(4)))),
    Shape("bert-tiny", "loss", "sgd", 4,
          ("node_layer_norm", "node_layer_norm_2", "node_layer_norm_4", "node_layer_norm_6")),
    Shape("blenderbot-tiny", "loss", "adamw", 4, BLENDERBOT),
    Shape("blenderbot-tiny", "loss", "sgd", 4, BLENDERBOT),
]

SCHEDULES = ("gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v")
CHUNKS = {"interleaved": 2, "zb-v": 2}
MESHES = [(dp, pp, tp) for dp, pp, tp in itertools.product((1, 2, 4, 8), range(1, 9), (1, 2, 4, 8))
          if dp * pp * tp <= 8 and pp * tp > 1]


def admits(run):
    """Whether a model, a mesh and a schedule go together: heads and batch divide, every stage has a unit."""
    shape, (dp, pp, tp), _, sequence_parallel, schedule, micro_batches, given = run
    chunks = CHUNKS.get(schedule, 1)
    if shape.heads % tp or 8 % (dp * micro_batches) or (sequence_parallel and tp == 1):
        return False
    if pp == 1:
        return schedule == "1f1b" and not given
    return pp * chunks <= len(shape.boundaries) + 1 and not (schedule == "interleaved" and micro_batches % pp)


def given_cuts(shape, stages):
    """Every stage but the last is one unit: as far from balanced as can be."""
    return tuple(shape.boundaries[:stages - 1])


def compose(shape, mesh, stage, sequence_parallel, schedule, micro_batches, given):
    dp, pp, tp = mesh
    return Case(shape.folder, shape.model, shape.trace, dp=dp, stage=stage, micro_batches=micro_batches, pp=pp, tp=tp,
                sequence_parallel=sequence_parallel, schedule=schedule,
                cuts=given_cuts(shape, pp * CHUNKS.get(schedule, 1)) if given else ())


AXES = [COMPOSED, MESHES, range(4), (False, True), SCHEDULES, (1, 2, 4), (False, True)]


@functools.cache
def list_composed_cases():
    return [compose(*run) for run in covering.cover(AXES, admits)]


# What `precision` may be in a spec, by a short name. "narrow" keeps nothing in float32 but sums and statistics; of "crossing"
# gradients have sixteen bits only on their way between ranks, and the residual stream has float32. What "stochastic" keeps
# moves by random bits.
PRECISIONS = {name: name for name in ("fp32", "bf16", "fp16")} | {
    "narrow": {"compute": "bf16", "master": "none", "states": "compute", "gradients": "compute", "rounding": "nearest"},
    "stochastic": {"compute": "bf16", "master": "none", "states": "compute"},
    "crossing": {"compute": "bf16", "reduce": "bf16", "stream": "fp32"}}


# Rows of the logits that exist at once: all, or a number that divides no model's.
LOSS_CHUNKS = ("all", 11)
# Between the last product and the loss stands a slice, so there is no loss by rows (test/Shard has its message).
SLICED = "loss-torchscript"


@functools.cache  # an array takes seconds
def list_precise_cases():
    """The same with two more axes: a case, the name of its precision, and how the loss is computed."""
    def is_possible(run):
        return admits(run[:-2]) and (run[-1] == "all" or run[0].model != SLICED)
    runs = covering.cover([*AXES, tuple(PRECISIONS), LOSS_CHUNKS], is_possible)
    return [(compose(*run[:-2]), *run[-2:]) for run in runs]


def list_layouts():
    """The keyword arguments of every layout, in a fixed order."""
    layouts = [dict(dp=dp, stage=stage, micro_batches=count)
               for dp in (1, 2, 4) for stage in range(4) for count in (1, 2)]
    layouts += [dict(dp=8, stage=stage) for stage in range(4)]
    layouts += [dict(dp=4, shard=2, stage=stage) for stage in (1, 2, 3)]
    layouts += [dict(dp=1, stage=stage, micro_batches=count, raising=False)
                for stage in range(4) for count in (1, 2)]
    return layouts


def list_basic_cases():
    return [Case(*model, **layout) for model in MODELS for layout in list_layouts()]


def list_further_cases():
    layouts = [dict(dp=dp, stage=stage) for dp in (1, 4) for stage in (0, 3)]
    return ([Case(*model, **layout) for model in FURTHER for layout in layouts] +
            [Case("llama-tiny", model, "adamw", raising=False) for model in ("logits", "loss", "loss-torchscript")])


def is_cuttable(model):
    """Whether the loss is a mean of the samples' losses, so that micro-batches do not change it."""
    return model[0] != "loss-rmse"


# Kinds of losses: of classes, of next tokens, of tokens beside a mask, and others. What is summed over micro-batches is the loss's.
KINDS = {"mlp": "classes", "gpt2": "next", "llama": "next", "bert": "masked", "deberta": "masked", "blenderbot": "masked"}


def list_summed_cases():
    """Of each kind of loss and each kind of export the first file: sums depend on neither the optimizer nor on what is before the loss."""
    first = {}
    for model in filter(is_cuttable, MODELS + FURTHER + SMALL):
        first.setdefault((KINDS.get(model[0].split("-")[0]), model[1]), model)
    return [Case(*model, micro_batches=count) for model in first.values() for count in (2, 0)]


def learns(run):
    """Whether a loss or an optimizer, a mesh, a stage and micro-batches go together: where rows meet, the pieces are the trace's."""
    (folder, model, trace), (dp, _, tp), stage, micro_batches = run
    if model in ("variance", "contrastive") and dp * micro_batches != (2 if trace.endswith("-halves") else 1):
        return False
    return dp * micro_batches <= 8 and (dp > 1 or stage == 0) and (tp == 1 or folder == "losses")


def list_learned_cases():
    return [Case(*model, dp=dp, pp=pp, tp=tp, stage=stage, micro_batches=count, cuts=HALVES[model[0]] if pp > 1 else ())
            for model, (dp, pp, tp), stage, count in covering.cover(LEARNED_AXES, learns)]


def sample_learned_cases():
    """Each loss once, summed over both ranks and micro-batches where it has such a case, and each optimizer with whole and with sharded
    parameters, in layouts that take turns."""
    cases, sample = list_learned_cases(), []
    for number, model in enumerate(LOSSES + OPTIMIZERS):
        own = [case for case in cases if (case.folder, case.model, case.trace) == model]
        summed = [case for case in own if case.dp > 1 and case.micro_batches > 1] or own
        groups = [[case for case in own if (case.stage == 3) == sharded] for sharded in (False, True)] if model in OPTIMIZERS else [summed]
        sample += [group[number % len(group)] for group in groups]
    return sample


def list_small_cases():
    layouts = [dict(), dict(dp=4, stage=3)]
    pooled = [model for model in SMALL if model[0] == "small-pooled"]
    return ([Case(*model, **layout) for model in SMALL for layout in layouts if is_cuttable(model) or not layout] +
            [Case(*model, tp=2, sequence_parallel=True, micro_batches=count) for model in pooled for count in (1, 2)])


def list_cases():
    return (list_basic_cases() + list_further_cases() + BATCH_NORM + list_learned_cases() + STATE_DICT + TURNED + STOPPED + ROUNDED +
            list_composed_cases() + list_small_cases() + list_summed_cases())


def sample_cases():
    """Thirty of the basic ones, always the same. The stride was chosen so that they are thirty different layouts, among
    them every stage at every dp, with four cases or more of each model. And of each further model one layout or the
    other."""
    cases = list_basic_cases()
    return ([cases[index * 94 % len(cases)] for index in range(30)] +
            [case for index, case in enumerate(list_further_cases()) if index % 7 == 3] + BATCH_NORM[:1] +
            sample_learned_cases() + STATE_DICT + TURNED + sample_stopped_cases() + sample_composed_cases() + list_small_cases() +
            list_summed_cases())


def sample_stopped_cases():
    """Every other layout of each model, and the others of the next."""
    return [case for index, case in enumerate(STOPPED) if (index + index // 6) % 2 == 0]


def sample_composed_cases():
    """Thirty of the covering array, always the same, evenly spread."""
    composed = list_composed_cases()
    return [composed[index * len(composed) // 30] for index in range(30)]
