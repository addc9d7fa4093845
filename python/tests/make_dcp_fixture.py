"""Makes the small checkpoint of two ranks that torch.distributed.checkpoint writes as safetensors:
make_dcp_fixture.py FOLDER (test/Checkpoints/Inputs/dcp).

Each rank writes its own shards: of matrices cut along their rows and along their columns, evenly and not, of one that is
too short for two ranks, and of what both hold alike, which one of them writes. FOLDER/expected.txt has the whole tensors, a
line each: name, type, shape (its dimensions joined by "x"), elements. Every value is exact in its type.
"""

import math
import os
import pathlib
import sys

import torch
import torch.distributed.checkpoint
from torch import distributed, multiprocessing
from torch.distributed.checkpoint import HuggingFaceStorageWriter
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

RANKS = 2
TYPES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.int64: "I64"}

# Name, type, shape, and how the two ranks hold it.
TENSORS = [
    ("half.weight", torch.bfloat16, (4, 4), Shard(0)),
    ("rows.weight", torch.float32, (6, 4), Shard(0)),
    ("columns.weight", torch.float32, (4, 6), Shard(1)),
    ("uneven.rows.weight", torch.float32, (5, 3), Shard(0)),
    ("uneven.columns.weight", torch.float32, (3, 5), Shard(1)),
    ("short.weight", torch.float32, (1, 4), Shard(0)),
    ("cube.weight", torch.float32, (2, 4, 3), Shard(1)),
    ("bias", torch.float32, (7,), Replicate()),
    ("steps", torch.int64, (), None),
]


def fill(index, dtype, shape):
    """Tensor `index` counts from 16 * index, in quarters where its type has them (bfloat16 does below 64)."""
    values = torch.arange(math.prod(shape)).reshape(shape)
    return (values.to(torch.float32) / 4 + 16 * index).to(dtype) if dtype.is_floating_point else values + 16 * index


def write(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29561")
    distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    mesh = distributed.device_mesh.init_device_mesh("cpu", (RANKS,))
    state = {}
    for index, (name, dtype, shape, placement) in enumerate(TENSORS):
        whole = fill(index, dtype, shape)
        state[name] = whole if placement is None else distribute_tensor(whole, mesh, [placement])
    torch.distributed.checkpoint.save(state, storage_writer=HuggingFaceStorageWriter(path=folder, save_distributed=True))
    distributed.destroy_process_group()


def expect(folder):
    lines = []
    for index, (name, dtype, shape, _) in enumerate(TENSORS):
        values = fill(index, dtype, shape).flatten().tolist()
        lines.append(" ".join([name, TYPES[dtype], "x".join(map(str, shape)) or "scalar", *map(str, values)]))
    (folder / "expected.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    multiprocessing.spawn(write, (str(out),), RANKS)
    expect(out)
