"""The record: what the file says about the module beside the graph. docs/Export.md documents it.

Taken from the module as it is, before anything is traced: parameters in PyTorch's order, each under the first of its
names, the others as ties.
"""

import json

import torch

from . import _refusals

KEY = "xlc.export"
VERSION = 1


def first_names(named):
    """[(name, tensor, other names)] of (name, tensor) pairs in which a tensor may come twice."""
    found = {}
    for name, tensor in named:
        found.setdefault(id(tensor), (name, tensor, []))[2].append(name)
    return [(name, tensor, names[1:]) for name, tensor, names in found.values()]


def parameters(module):
    return first_names(module.named_parameters(remove_duplicate=False))


def buffers(module):
    return first_names(module.named_buffers(remove_duplicate=False))


def _describe(name, tensor, ties):
    entry = {"name": name, "shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
    return {**entry, "ties": ties} if ties else entry


def _is_persistent(module, name):
    path, _, leaf = name.rpartition(".")
    return leaf not in module.get_submodule(path)._non_persistent_buffers_set


def make(module, exporter):
    """The record as a dictionary; `exporter` is "dynamo" or "torchscript"."""
    return {
        "version": VERSION,
        "torch": torch.__version__,
        "exporter": exporter,
        "training": module.training,
        "parameters": [{**_describe(*entry), "requires_grad": entry[1].requires_grad} for entry in parameters(module)],
        "buffers": [{**_describe(*entry), "persistent": _is_persistent(module, entry[0])} for entry in buffers(module)],
        "dropout": [{"module": name, "p": float(_refusals.dropout_of(inner)), "training": inner.training}
                    for name, inner in module.named_modules() if _refusals.dropout_of(inner)],
    }


def dump(record):
    return json.dumps(record, separators=(",", ":"), ensure_ascii=True)
