"""Models and specs as the command takes them: a file, and a text."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Union

from . import _command

Path = Union[str, "os.PathLike[str]"]
Spec = Union[Path, Mapping[str, Any], None]


def export(module: Any, args: Any, f: Path, **options: Any) -> Any:
    """Exports a PyTorch module to an ONNX file, with all that training needs: `xlc_export.export`, which needs PyTorch.

    `args` is a tuple, or one tensor. A module that cannot be exported for training raises an `Error` with code 1 and its place.
    Where neither `dynamic_shapes` nor `dynamic_axes` is given, dimension 0 of each tensor of `args` is the batch.
    """
    import torch  # pylint: disable=import-outside-toplevel  # most calls need none

    import xlc_export  # pylint: disable=import-outside-toplevel

    inputs = (args,) if isinstance(args, torch.Tensor) else tuple(args)
    if options.get("dynamo", True) and "dynamic_shapes" not in options:
        batch = torch.export.Dim("batch")
        options["dynamic_shapes"] = tuple({0: batch} if isinstance(each, torch.Tensor) and each.ndim else None for each in inputs)
    write: Callable[..., Any] = xlc_export.export
    try:
        return write(module, inputs, os.fspath(f), **options)
    except xlc_export.ExportRefused as error:
        raise _command.Error(1, f"error: {error}") from error
    except Exception as error:
        branch = _branch_on_a_value(error)
        if branch is None:
            raise
        raise _command.Error(1, f"{branch}error: forward branches on a tensor's value, or uses it as a number; use torch.where, "
                             "or a fixed number of iterations") from error


def _branch_on_a_value(error: BaseException) -> str | None:
    """The place, as "FILE:LINE: ", where torch.export needed the value of a tensor; "" if it is unknown, None for another error."""
    import torch  # pylint: disable=import-outside-toplevel

    cause: BaseException | None = error
    while cause is not None and type(cause).__name__ != "GuardOnDataDependentSymNode":
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    own = pathlib.Path(__file__).parent
    others = (*(str(path) + os.sep for path in (pathlib.Path(torch.__file__).parent, own, own.with_name("xlc_export"))),
              contextlib.__file__, "<")
    frames = [each for each in traceback.extract_tb(cause.__traceback__) if not each.filename.startswith(others)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


@contextlib.contextmanager
def model_file(model: Any, args: Any, options: Mapping[str, Any] | None) -> Iterator[tuple[str, dict[str, str]]]:
    """The path of a model, as it is given, or of an export that is removed afterwards; and the names of temporary files."""
    if isinstance(model, (str, os.PathLike)):
        yield os.fspath(model), {}
        return
    if args is None:
        raise TypeError("a module needs example arguments: args=(tensor, ...)")
    with tempfile.TemporaryDirectory(prefix="xlc-") as folder:
        path = os.path.join(folder, "model.onnx")
        export(model, args, path, **{"reference": False, "verbose": False, **(options or {})})
        yield path, {path: "model"}


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
