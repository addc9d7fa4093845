"""Which input of an ONNX file each tensor among a module's arguments is, and how its rows are stored."""

import inspect
import os

import torch
from torch.utils._pytree import tree_flatten


class NoReference(RuntimeError):
    """There can be no reference; the message says why, and what helps."""


def graph_inputs(path):
    """Name -> type of each input of the file's graph that is not an initializer."""
    import onnx

    graph = onnx.load(os.fspath(path), load_external_data=False).graph
    held = {x.name for x in graph.initializer}
    return {x.name: x.type.tensor_type for x in graph.input if x.name not in held}


def names_of(module, args, kwargs, tensors, graph, given):
    """The names that the file has for the tensors among the arguments; their own where it has fewer inputs."""
    own, by_signature = _own_names(module, args, kwargs)
    if not given and set(own) == set(graph) and _fits(own, tensors, graph):
        return own
    listed = list(given or (graph if len(graph) == len(tensors) else own))
    if len(listed) != len(tensors):
        raise NoReference(f"input_names has {len(listed)} names for {len(tensors)} tensors")
    for order in (range(len(tensors)), by_signature):  # the old exporter sorts arguments by the signature of forward
        names = [listed[i] for i in order]
        if set(graph) <= set(names) and _fits(names, tensors, graph):
            return names
    raise NoReference(f"the file has the inputs {_list(graph)}, but the arguments {_list(own)} have different names, types or "
                      "shapes: pass the names of the arguments, in their order, as input_names=")


def _fits(names, tensors, graph):
    """Whether each tensor has the type and the fixed dimensions of the input of its name."""
    def fits(x, kind):
        shape = [d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim]
        return (_sort(torch_type(kind) or x.dtype) == _sort(x.dtype) and len(shape) == x.dim()
                and all(want in (None, size) for want, size in zip(shape, x.shape)))
    return all(name not in graph or fits(x, graph[name]) for name, x in zip(names, tensors))


def _sort(dtype):
    return "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "integer"


def _list(names):
    return ", ".join(f"'{name}'" for name in names)


def _own_names(module, args, kwargs):
    """A name for each tensor of the arguments after the parameters of forward; the place of each in their order."""
    kinds = list(inspect.signature(module.forward).parameters.values())
    positional = [x.name for x in kinds if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    more = next((x.name for x in kinds if x.kind is x.VAR_POSITIONAL), "input")
    owners = [*positional, *(f"{more}_{i}" for i in range(len(args)))][:len(args)]
    rank = {x.name: i for i, x in enumerate(kinds)}
    names, ranks = [], []
    for i, (owner, value) in enumerate([*zip(owners, args), *kwargs.items()]):
        found = [x for x in tree_flatten(value)[0] if isinstance(x, torch.Tensor)]
        names += [owner] if found and found[0] is value else [f"{owner}_{j}" for j in range(len(found))]
        ranks += [rank.get(owner, i)] * len(found)
    order = sorted(range(len(ranks)), key=ranks.__getitem__)  # stable
    return names, [order.index(i) for i in range(len(ranks))]


def find_batch(inputs, graph):
    """Notes whose first dimension is the batch, where the file takes any number of samples."""
    def symbol(x):
        shape = graph[x.name].shape.dim if x.name in graph else ()
        return shape[0].dim_param if len(shape) else ""

    batch = next((x for x in inputs if x.value.dim() and symbol(x)), None)
    for x in inputs:
        is_same = batch is not None and x.value.dim() > 0 and len(x.value) == len(batch.value)
        x.is_free = is_same and (x.name not in graph or symbol(x) == symbol(batch))


def count(rows):
    return next((len(x.value) for x in rows if x.is_free), next((len(x.value) for x in rows if x.value.dim()), 1))


def torch_type(kind):
    """PyTorch's type of a type of ONNX that inputs have."""
    names = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64",
             16: "bfloat16"}
    return getattr(torch, names.get(kind.elem_type, ""), None)


def stored(x, kind):
    if x.scale:
        return (x.value / x.scale).round().to(torch.int8)
    if x.value.is_floating_point():
        is_double = kind is not None and torch_type(kind) == torch.float64
        return x.value.to(torch.float64 if is_double else torch.float32)
    return x.value if kind is None or torch_type(kind) is None else x.value.to(torch_type(kind))
