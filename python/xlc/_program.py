"""Training programs, and their runs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _command, _model


@dataclasses.dataclass(frozen=True)
class Program:
    """A compiled training program: an executable, with its initial parameters beside it."""

    path: pathlib.Path

    def __fspath__(self) -> str:
        return str(self.path)


@dataclasses.dataclass(frozen=True)
class Run:
    """The results of a run."""

    log: list[dict[str, Any]]  #: a dict for each step, and for each evaluation (with `eval`), as `--log` writes them
    parameters: pathlib.Path | None  #: the safetensors file of the trained parameters; None if they were not saved
    text: str  #: the printed output

    @property
    def losses(self) -> list[float]:
        """Of each step."""
        return [line["loss"] for line in self.log if "loss" in line]

    def to_frame(self) -> Any:
        """The steps as a table of pandas, which has to be installed."""
        import pandas  # pylint: disable=import-outside-toplevel,import-error  # few need it

        return pandas.DataFrame([line for line in self.log if "loss" in line])

    def state_dict(self) -> dict[str, Any]:
        """The trained parameters, as PyTorch tensors under the module's names: for `module.load_state_dict`."""
        if self.parameters is None:
            raise ValueError("the run saved no parameters: pass save=PATH")
        return load_safetensors(self.parameters)


def load_safetensors(path: _model.Path) -> dict[str, Any]:
    """The tensors of a safetensors file. Needs PyTorch."""
    import torch  # pylint: disable=import-outside-toplevel  # few need it

    data = pathlib.Path(path).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
             "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}
    tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            flat = torch.frombuffer(bytearray(data[begin + first:begin + last]), dtype=types[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def compile(model: Any, spec: _model.Spec = None, output: _model.Path = "train", *,  # pylint: disable=redefined-builtin
            args: Any = None, target: str | None = None, bundle: bool = False,
            export_options: Mapping[str, Any] | None = None, **keys: Any) -> Program:
    """Compiles a training program, and writes its initial parameters beside it (OUTPUT.safetensors).

    `bundle` also copies the libraries that the program loads to OUTPUT.libs, for machines that have only a C library.
    """
    named, text = _model.spec_words(spec, keys)
    words = [*named, "-o", os.fspath(output), *(["--target", target] if target else []), *(["--bundle"] if bundle else [])]
    with _model.model_file(model, args, export_options) as (path, names):
        _command.run([_command.find(), "compile", path, *words], stdin=text, names=names)
    return Program(pathlib.Path(output).absolute())


def train(program: Program | _model.Path, steps: int, *, data: _model.Path | Mapping[str, Any] | None = None,
          save: _model.Path | None = None, options: Sequence[Any] = (), progress: bool | None = None) -> Run:
    """Trains for `steps` optimizer steps; returns when the run has ended.

    `data` replaces the spec's: a folder, or a dict of files or arrays (of NumPy or PyTorch, rows first) by input. `save` is the file for
    the trained parameters; None: a file beside the program. `options` are further options of the program, for example
    `options=["--resume", "auto"]`. `progress`: a bar of tqdm; None: where it is installed and stderr is a terminal. Ctrl-C ends the run after
    its step, as on a terminal.
    """
    path = pathlib.Path(os.fspath(program)).absolute()
    kept = pathlib.Path(save).absolute() if save else path.with_name(path.name + ".trained.safetensors")
    return _start(path, ["--steps", str(steps), "--save", str(kept), *map(str, options)], "--data", data, kept, _bar(steps, progress))


def evaluate(program: Program | _model.Path, *, data: _model.Path | Mapping[str, Any] | None = None, init: _model.Path | None = None,
             options: Sequence[Any] = ()) -> dict[str, Any]:
    """The metrics of a program whose spec has `eval`: at its initial parameters, or those of `init`."""
    path = pathlib.Path(os.fspath(program)).absolute()
    words = ["--eval", *(["--init", os.fspath(init)] if init else []), *map(str, options)]
    return next(line["eval"] for line in _start(path, words, "--validation", data, None, None).log if "eval" in line)


def _start(path: pathlib.Path, words: Sequence[str], option: str, data: Any, kept: pathlib.Path | None, bar: Any) -> Run:
    def show(line: str) -> None:
        if bar is not None and line.startswith("step"):
            bar.update(1)

    with (tempfile.TemporaryDirectory(prefix="xlc-") as folder, _data_words(option, data) as (named, names),
          bar or contextlib.nullcontext()):
        log = pathlib.Path(folder) / "log.jsonl"
        text = _command.run([str(path), *words, "--log", str(log), *named], on_line=show, names=names)[1]
        return Run([json.loads(line) for line in log.read_text().splitlines()], kept, text)


@contextlib.contextmanager
def _data_words(option: str, data: Any) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The words that name the data, and the names of inputs by the temporary files that hold them."""
    if data is None or isinstance(data, (str, os.PathLike)):
        yield [] if data is None else [option, os.fspath(data)], {}
        return
    if not isinstance(data, Mapping):
        raise TypeError("data must be a folder, or a dict of .npy files or arrays (of NumPy or PyTorch, rows first) by input, for "
                        f"example data={{'x': x, 'y': y}}, not {type(data).__name__}")
    with tempfile.TemporaryDirectory(prefix="xlc-") as folder:
        files = {name: _file_of(name, value, pathlib.Path(folder) / f"{number}.npy")
                 for number, (name, value) in enumerate(data.items())}
        names = {path: f"data '{name}'" for name, path in files.items() if path.startswith(os.path.join(folder, ""))}
        yield [option, ",".join(f"{name}={path}" for name, path in files.items())], names


def _file_of(name: str, value: Any, path: pathlib.Path) -> str:
    """A path as it is given, or a new file of an array."""
    if isinstance(value, (str, os.PathLike)):
        return os.path.abspath(value)
    import numpy  # pylint: disable=import-outside-toplevel,import-error  # few need it

    array = numpy.ascontiguousarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    if array.dtype == object:
        raise TypeError(f"data '{name}' must be a .npy file or an array of NumPy or PyTorch, rows first, not {type(value).__name__}")
    numpy.save(path, array)
    return str(path)


def _bar(steps: int, wanted: bool | None) -> Any:
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        return None
    try:
        import tqdm  # pylint: disable=import-outside-toplevel,import-error  # where it is installed
    except ImportError:
        return None
    return tqdm.tqdm(total=steps, unit="step")
