"""Random specs: meshes, micro-batches, ZeRO, pipelines, optimizers. Chosen before the network, which is then made to fit."""

from dataclasses import dataclass, field

STEPS = 3


@dataclass
class Layout:
    dp: int = 1
    pp: int = 1
    tp: int = 1
    micro: int = 1
    micro_batches: int = 1
    spec: dict = field(default_factory=dict)  # further keys

    @property
    def batch(self):
        return self.dp * self.micro * self.micro_batches

    @property
    def stages(self):
        is_chunked = self.spec.get("pipeline", {}).get("schedule") in ("interleaved", "zb-v")
        return self.pp * (2 if is_chunked else 1)

    @property
    def is_cut(self):
        """Whether the loss is summed from parts."""
        return self.dp * self.micro_batches > 1

    def to_spec(self):
        spec = {"batch": {"global": self.batch, "micro": self.micro}} | self.spec
        sizes = {"dp": self.dp, "pp": self.pp, "tp": self.tp}
        return {key: size for key, size in sizes.items() if size > 1} | spec


def choose(random, **shares):
    """One of the keywords, as often as its number says."""
    return random.choices(list(shares), list(shares.values()))[0]


def draw_optimizer(random):
    """SGD shows every wrong gradient; Adam's epsilon is large, so that no gradient is so small that rounding decides."""
    kind = choose(random, sgd=70, adamw=20, adam=10)
    optimizer = {"type": kind, "lr": random.choice([0.05, 0.1]) if kind == "sgd" else 0.01}
    if kind == "sgd":
        if random.random() < 0.2:
            optimizer["momentum"] = 0.9
    else:
        optimizer["eps"] = 0.01
    if random.random() < 0.25:
        optimizer["weight_decay"] = 0.1
    if random.random() < 0.2:
        optimizer["clip_norm"] = random.choice([0.05, 1.0])
    return optimizer


def draw_zero(random, dp):
    stage = random.choice([0, 1, 2, 3])
    spec = {"zero_stage": stage} if stage else {}
    if stage >= 2:
        zero = {}
        if random.random() < 0.7:
            zero["persistence_threshold"] = random.choice([0, 0, 10])
            zero["bucket_size"] = random.choice(["64B", "1KiB"])
        if random.random() < 0.4:
            zero["reduce"] = random.choice(["micro_batch", "step"])
        if stage == 3 and random.random() < 0.4:
            zero["reshard_after_forward"] = random.random() < 0.5
        if stage == 3 and random.random() < 0.3:
            zero["prefetch"] = random.choice([0, 1, 2])
        spec |= {"zero": zero} if zero else {}
    if dp == 4 and stage and random.random() < 0.3:
        spec["dp_shard"] = 2
    return spec


def draw_pipeline(random, layout):
    schedule = random.choice(["gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v"])
    if schedule == "interleaved":
        layout.micro_batches = layout.pp * random.choice([1, 2])
    elif random.random() < 0.8:
        layout.micro_batches = random.choice([2, 3, 4])
    return {"schedule": schedule}


def draw(random):
    layout = Layout(dp=random.choice([1, 1, 1, 2, 2, 3, 4]), micro=random.choice([1, 1, 2, 3]),
                    micro_batches=random.choice([1, 2, 2, 3]))
    layout.spec = {"optimizer": draw_optimizer(random), "runtime": {"threads_per_rank": random.choice([1, 1, 1, 2])}}
    kind = choose(random, data=37, tensor=30, pipeline=13, both=20)
    if kind in ("tensor", "both"):
        layout.tp = random.choice([2, 2, 2, 4])
        if random.random() < 0.3:
            layout.spec["sequence_parallel"] = False
    if kind in ("pipeline", "both"):
        layout.pp = 2
        layout.spec["pipeline"] = draw_pipeline(random, layout)
    if kind != "data":
        layout.dp = random.choice([1, 1, 2])
    layout.spec |= draw_zero(random, layout.dp)
    layout.micro = max(1, min(layout.micro, 8 // (layout.dp * layout.micro_batches)))
    return layout


def draw_for_gpus(random, layout):
    """Keys that programs for GPUs alone know, or that change their libraries."""
    runtime = layout.spec["runtime"]
    if random.random() < 0.3:
        runtime["deterministic"] = True
    if random.random() < 0.3:
        runtime["weight_gradients"] = "beside"
        layout.spec["cluster"] = {"device": "h100"}
