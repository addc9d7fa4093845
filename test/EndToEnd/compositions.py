"""Every legal composition of dp x pp x tp x ZeRO with up to eight ranks, proved.

Two models of two layers (a GPT-2 with ten words, a Llama with two key-value heads; 8 wide, four heads) are small enough
that `xlc verify` takes a fraction of a second: it runs the partitioned program on simulated ranks in a finite field, where
equal means equal. A vocabulary of ten is split unevenly over four ranks, and two key-value heads are fewer than four.

One entry per model and mesh; each proves all stages, schedules, numbers of micro-batches and both answers to
sequence_parallel that go with it.
"""

import itertools
import re

import cases
import program

MODELS = ("two-layer-gpt2", "two-layer-llama")
UNITS = 4  # embedding, two layers, head
HEADS = 4
MESHES = [(dp, pp, tp) for dp, pp, tp in itertools.product(range(1, 9), range(1, UNITS + 1), range(1, HEADS + 1))
          if dp * pp * tp <= 8 and HEADS % tp == 0]


def list_specs(mesh):
    """All specs of a mesh that make sense."""
    dp, pp, tp = mesh
    for stage, schedule, micro_batches, split in itertools.product(range(4), cases.SCHEDULES, (1, 2, 4), (False, True)):
        chunks = cases.CHUNKS.get(schedule, 1)
        if (split and tp == 1) or (pp == 1 and schedule != "1f1b") or pp * chunks > UNITS:
            continue
        if schedule == "interleaved" and micro_batches % pp:
            continue
        spec = {"dp": dp, "pp": pp, "tp": tp, "zero_stage": stage, "batch": {"global": dp * micro_batches, "micro": 1},
                "dims": {"sequence": 4}, "zero": {"persistence_threshold": "0", "bucket_size": "1KiB"},
                "optimizer": {"type": "adamw", "clip_norm": 1.0}, "runtime": {"threads_per_rank": 1}}
        if tp > 1:
            spec["sequence_parallel"] = split
        if pp > 1:
            spec["pipeline"] = {"schedule": schedule} | ({"chunks": chunks} if chunks > 1 else {})
        yield spec


def prove(setting, model, mesh):
    """Complaints about one mesh: each names its spec."""
    folder = setting.scratch / f"{model}-{'x'.join(map(str, mesh))}"
    folder.mkdir()
    for spec in list_specs(mesh):
        path = folder / "spec.yaml"
        path.write_text("".join(f"{key}: {program.to_yaml(value)}\n" for key, value in spec.items()))
        try:
            said = program.run([setting.xlc, "verify", setting.models / model / "loss.onnx", "--spec", path])
        except program.CommandFailed as problem:
            yield f"{spec}: {problem}"
            continue
        if "all equal" not in said:
            yield f"{spec}: {said[-300:]}"


def prove_in(setting, case, precision, chunk, orders):
    """Complaints about a case of the covering array, computed in a type, the loss by rows: in the field it is the float32
    program of one rank, in so many random orders of its streams too."""
    spec = program.spec_of(setting, case, program.read_trace(setting, case)) | {"precision": cases.PRECISIONS[precision]}
    spec["loss"] = spec.get("loss", {}) | {"chunk": chunk}
    path = setting.scratch / f"{precision} {chunk} {case}.yaml".replace("/", "-")
    path.write_text("".join(f"{key}: {program.to_yaml(value)}\n" for key, value in spec.items()))
    model = setting.models / case.folder / f"{case.model}.onnx"
    said = program.run([setting.xlc, "verify", model, "--spec", path, "--steps", "1", "--orders", orders, "--no-kernels"])
    if said.count("all equal") < 2 or not re.search(rf"in {orders} random orders? of streams", said):
        yield said[-300:]


def list_precise_proofs(everything):
    """Of the covering array with types as an axis all, or ten, evenly spread."""
    proofs = cases.list_precise_cases()
    chosen = proofs if everything else [proofs[index * len(proofs) // 10] for index in range(10)]
    orders = 100 if everything else 1
    return [(f"proof in {proof[1]}, logits by {proof[2]}: {proof[0]}", lambda setting, proof=proof: prove_in(setting, *proof, orders))
            for proof in chosen]


def list_proofs():
    """(name, check) for every model and mesh; the name counts the specs."""
    return [(f"{model} dp {mesh[0]} pp {mesh[1]} tp {mesh[2]}, {sum(1 for _ in list_specs(mesh))} compositions",
             lambda setting, model=model, mesh=mesh: prove(setting, model, mesh))
            for model in MODELS for mesh in MESHES]
