"""Whether a folder of NAME.npy is what a model reads: files, shapes, types, as many rows in each. Values of ids are checked by the program
itself (./train --check-data), which has the sizes of the tables."""

import pathlib

import numpy

KINDS = {"FLOAT": "iufb", "DOUBLE": "iufb", "INT64": "iub", "INT32": "iub", "BOOL": "iufb"}


def read_inputs(model):
    """(name, type, sizes) of each input, the batch left out; a size that is not fixed is None."""
    import onnx  # pylint: disable=import-outside-toplevel
    graph = onnx.load(str(model), load_external_data=False).graph
    initial = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if value.name in initial:
            continue
        tensor = value.type.tensor_type
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        yield value.name, onnx.TensorProto.DataType.Name(tensor.elem_type), sizes[1:]


def check_folder(folder, inputs):
    """What is wrong, a line each. `inputs`: as of read_inputs."""
    found, rows = [], {}
    for name, kind, sizes in inputs:
        path = pathlib.Path(folder) / f"{name}.npy"
        try:
            array = numpy.load(path, mmap_mode="r")
        except (OSError, ValueError) as problem:
            found.append(f"{path}: {problem}")
            continue
        if array.dtype.kind not in KINDS.get(kind, "") or array.dtype.byteorder == ">":
            found.append(f"{path}: elements are '{array.dtype.str}', but input '{name}' is {kind}")
        shape = array.shape[1:]
        if array.ndim == 0 or len(shape) != len(sizes) or any(size not in (None, own) for size, own in zip(sizes, shape)):
            needed = ", ".join(str(size or "?") for size in sizes)
            found.append(f"{path}: the shape is {list(array.shape)}, but input '{name}' needs [rows, {needed}]")
        if array.ndim:
            rows[path] = len(array)
    first = next(iter(rows), None)
    return found + [f"{path}: has {count} rows, but {first} has {rows[first]}" for path, count in rows.items() if count != rows[first]]
