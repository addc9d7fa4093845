"""Models and specs as the command takes them: a file, and a text."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import pathlib
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Union

from . import _command

Path = Union[str, "os.PathLike[str]"]
Spec = Union[Path, Mapping[str, Any], None]


def export(module: Any, args: Any, f: Path, **options: Any) -> Any:
    """Exports a PyTorch module to an ONNX file, with all that training needs: `xlc_export.export`, which needs PyTorch.

    `args` is a tuple, or one tensor. A module that cannot be exported for training raises an `Error` with code 1 and its place.
    Where neither `dynamic_shapes` nor `dynamic_axes` is given, dimension 0 of each tensor of `args` is the batch (with `dynamo=False`,
    of each name in `input_names`).
    """
    import torch  # pylint: disable=import-outside-toplevel  # most calls need none

    import xlc_export  # pylint: disable=import-outside-toplevel

    inputs = (args,) if isinstance(args, torch.Tensor) else tuple(args)
    is_batched = [isinstance(each, torch.Tensor) and each.ndim > 0 for each in inputs]
    if options.get("dynamo", True) and "dynamic_axes" not in options:
        batch = torch.export.Dim("batch")
        fixed = dict.fromkeys(options.get("kwargs") or {})
        bound = inspect.signature(module.forward).bind(*({0: batch} if each else None for each in is_batched), **fixed)
        options.setdefault("dynamic_shapes", dict(bound.arguments))
    elif "input_names" in options:
        options.setdefault("dynamic_axes", {name: {0: "batch"} for name, each in zip(options["input_names"], is_batched) if each})
    write: Callable[..., Any] = xlc_export.export
    try:
        with warnings.catch_warnings():
            if not {"reference", "loss", "labels"} & options.keys():  # the gradients of logits are compared only on request
                warnings.filterwarnings("ignore", "no reference is written .* does not return a scalar loss")
            return write(module, inputs, os.fspath(f), **{"verbose": False, **options})
    except xlc_export.ExportRefused as error:
        raise _command.Error(1, f"error: {error}") from error
    except Exception as error:
        said = _control_flow_of(error)
        if said is None:
            raise
        raise _command.Error(1, said) from error.with_traceback(None)


# Errors of torch.export, and what a user does instead.
CONTROL_FLOW = {
    "GuardOnDataDependentSymNode": "forward branches on a tensor's value, or uses it as a number; use torch.where, or a fixed number of "
                                   "iterations",
    "UncapturedHigherOrderOpError": "forward has an operator of control flow that depends on data (torch.cond, torch.while_loop); compute "
                                    "both branches and use torch.where, or a fixed number of iterations",
}


def _control_flow_of(error: BaseException) -> str | None:
    """A diagnostic, with the place in the user's code if it is known, of control flow that torch.export rejects; None for another error."""
    import torch  # pylint: disable=import-outside-toplevel

    cause: BaseException | None = error
    while cause is not None and type(cause).__name__ not in CONTROL_FLOW:
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    own = pathlib.Path(__file__).parent
    others = (*(str(path) + os.sep for path in (pathlib.Path(torch.__file__).parent, own, own.with_name("xlc_export"))),
              contextlib.__file__, "<")
    frames = [each for each in traceback.extract_tb(cause.__traceback__) if not each.filename.startswith(others)]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    return f"{place}error: {CONTROL_FLOW[type(cause).__name__]}"


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
