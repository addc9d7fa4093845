"""Models and specs as the command takes them: a file, and a text."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

Path = Union[str, "os.PathLike[str]"]
Spec = Union[Path, Mapping[str, Any], None]


def export(module: Any, args: Sequence[Any], f: Path, **options: Any) -> Any:
    """Exports a PyTorch module to an ONNX file, with all that training needs: `xlc_export.export`, which needs PyTorch.

    Where neither `dynamic_shapes` nor `dynamic_axes` is given, dimension 0 of each tensor of `args` is the batch.
    """
    import torch  # pylint: disable=import-outside-toplevel  # most calls need none

    import xlc_export  # pylint: disable=import-outside-toplevel

    if options.get("dynamo", True) and "dynamic_shapes" not in options:
        batch = torch.export.Dim("batch")
        options["dynamic_shapes"] = tuple({0: batch} if isinstance(each, torch.Tensor) and each.ndim else None for each in args)
    write: Callable[..., Any] = xlc_export.export
    return write(module, tuple(args), os.fspath(f), **options)


@contextlib.contextmanager
def model_file(model: Any, args: Sequence[Any] | None, options: Mapping[str, Any] | None) -> Iterator[str]:
    """The path of a model: as it is given, or of an export that is removed afterwards."""
    if isinstance(model, (str, os.PathLike)):
        yield os.fspath(model)
        return
    if args is None:
        raise TypeError("a module needs example arguments: args=(tensor, ...)")
    with tempfile.TemporaryDirectory(prefix="xlc-") as folder:
        path = pathlib.Path(folder) / "model.onnx"
        export(model, args, path, **{"reference": False, "verbose": False, **(options or {})})
        yield str(path)


def spec_words(spec: Spec, keys: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """The option that names the spec, and what is read from stdin where it has no file.

    >>> spec_words(None, {"dp": 2})
    (['--spec', '-'], '{\\n "dp": 2\\n}')
    """
    if isinstance(spec, (str, os.PathLike)):
        if keys:
            raise TypeError(f"a spec file cannot be combined with keys: {', '.join(keys)}")
        return ["--spec", os.fspath(spec)], None
    return ["--spec", "-"], json.dumps({**(spec or {}), **keys}, indent=1, default=os.fspath)
