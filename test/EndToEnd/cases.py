"""Which programs are compiled and run: every model with a trace, in every layout.

    mlp/logits, gpt2-tiny/{loss,logits} under AdamW and SGD, gpt2-tiny-ragged/{loss,logits} with clipping
  x dp 1, 2, 4 with one and two micro-batches; dp 8 with one; dp 4 in shard groups of 2
  x ZeRO stages 0 to 3; and at dp 1 without raising

Other exports of these models, and further models (FURTHER): dp 1 and 4 x stages 0 and 3; Llama also without raising.

Stages 2 and 3 shard everything in small buckets: by default these models would stay resident, in one bucket.
"""

import dataclasses

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
    ("gpt2-tiny", "external/loss", "sgd"),
    ("gpt2-tiny", "logits-torchscript", "adamw"),
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
    ("deberta-v2-tiny", "loss-torchscript", "adamw"),
]


@dataclasses.dataclass(frozen=True)
class Case:
    folder: str
    model: str
    trace: str
    dp: int = 1
    stage: int = 0
    micro_batches: int = 1
    shard: int = 0  # 0: all ranks
    raising: bool = True

    @property
    def zero(self):
        return SMALL_BUCKETS if self.stage >= 2 else {}

    def __str__(self):
        shard = f" dp_shard {self.shard}" if self.shard else ""
        raising = "" if self.raising else " --no-raise"
        return (f"{self.folder}/{self.model} {self.trace} dp {self.dp}{shard} stage {self.stage} "
                f"micro-batches {self.micro_batches}{raising}")


# Batch norm couples the samples of a batch: PyTorch's trace is that of one rank with one micro-batch; elsewhere
# `xlc verify` compares (test/Driver).
BATCH_NORM = [Case("cnn", "logits-torchscript-train", "sgd", stage=stage) for stage in (0, 3)]


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


def list_cases():
    return list_basic_cases() + list_further_cases() + BATCH_NORM


def sample_cases():
    """Thirty of the basic ones, always the same. The stride was chosen so that they are thirty different layouts, among
    them every stage at every dp, with four cases or more of each model. And of each further model one layout or the
    other."""
    cases = list_basic_cases()
    return ([cases[index * 94 % len(cases)] for index in range(30)] +
            [case for index, case in enumerate(list_further_cases()) if index % 7 == 3] + BATCH_NORM[:1])
