"""What the command prints as JSON, as objects: plans and descriptions of models. And proofs."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _command, _model


class Result(Mapping[str, Any]):
    """A JSON object: its keys are attributes too, and objects in it are results again.

    >>> Result({"memory": {"total": 3}}).memory.total
    3
    """

    def __init__(self, values: Mapping[str, Any], text: str = ""):
        self._values, self._text = dict(values), text

    def __getitem__(self, key: str) -> Any:
        return _wrap(self._values[key])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key not in self._values:
            raise AttributeError(f"there is no {key!r}; the keys are {', '.join(self.__dict__.get('_values', ()))}")
        return self[key]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON has them."""
        values: dict[str, Any] = json.loads(json.dumps(self._values))
        return values

    def to_frame(self, key: str) -> Any:
        """A list of objects as a table of pandas, which has to be installed."""
        import pandas  # pylint: disable=import-outside-toplevel,import-error  # few need it

        return pandas.json_normalize(self.to_dict()[key])

    def __repr__(self) -> str:
        return self._text or json.dumps(self._values, indent=1)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _wrap(value: Any) -> Any:
    if isinstance(value, dict):
        return Result(value)
    if isinstance(value, list):
        return [_wrap(each) for each in value]
    return value


@dataclasses.dataclass(frozen=True)
class Verification:
    """A proof that the partitioned program computes what the unpartitioned one does."""

    text: str  #: what was compared, and how

    def __bool__(self) -> bool:
        return True


def inspect(model: Any, *, args: Any = None, dims: Mapping[str, int] | None = None,
            init: _model.Path | None = None, export_options: Mapping[str, Any] | None = None) -> Result:
    """What is in a model: parameters, dimensions, units, operators, and FLOPs where all `dims` are given (docs/InspectJson.md)."""
    words = ["--dims", ",".join(f"{name}={size}" for name, size in dims.items())] if dims else []
    words += ["--init", str(init)] if init else []
    with _model.model_file(model, args, export_options) as (path, names):
        return _describe(["inspect", path, *words], None, (0,), names)


def plan(model: Any, spec: _model.Spec = None, *, args: Any = None, target: str | None = None,
         export_options: Mapping[str, Any] | None = None, **keys: Any) -> Result:
    """What every rank will hold in memory (bytes), send (bytes) and compute, and whether it fits (docs/PlanJson.md).

    A plan that does not fit is a result, too: `plan.fits` is False, and the text says what would.
    """
    named, text = _model.spec_words(spec, keys)
    with _model.model_file(model, args, export_options) as (path, names):
        return _describe(["plan", path, *named, *(["--target", target] if target else [])], text, (0, 3), names)


def _describe(words: Sequence[str], stdin: str | None, accepted: Sequence[int], names: Mapping[str, str]) -> Result:
    command = [_command.find(), *words]
    values = json.loads(_command.run([*command, "--json"], accepted, stdin=stdin, names=names)[1])
    return Result(values, _command.run(command, accepted, stdin=stdin, names=names, warns=False)[1].rstrip())


def verify(model: Any, spec: _model.Spec = None, *, args: Any = None, kernels: bool = True,
           export_options: Mapping[str, Any] | None = None, **keys: Any) -> Verification:
    """Compares the partitioned program with the unpartitioned one, exactly, and its compiled code call by call.

    Raises Error with code 4 where they differ, with the first value that does.
    """
    named, text = _model.spec_words(spec, keys)
    with _model.model_file(model, args, export_options) as (path, names):
        words = [_command.find(), "verify", path, *named, *([] if kernels else ["--no-kernels"])]
        return Verification(_command.run(words, stdin=text, names=names)[1].rstrip())
