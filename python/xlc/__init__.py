"""xlc from Python: plans, programs and runs, each made by the command `xlc` and described by the JSON that it prints.

    import xlc
    plan = xlc.plan("model.onnx", dp=4, zero_stage=3, batch={"micro": 2}, data={"train": "data"})
    plan.fits, plan.groups[0].memory.total          # bytes
    program = xlc.compile("model.onnx", dp=4, zero_stage=3, batch={"micro": 2}, data={"train": "data"})
    run = xlc.train(program, 100)
    run.losses[-1], run.state_dict()

A model is a path, or a PyTorch module with example arguments (`args=`), which is exported first. A spec is a path, a dict, or keyword
arguments (docs/Spec.md); paths in it are relative to its file, or to the current folder where it has none. Input that the command or the
export rejects raises an `Error` with its diagnostics; warnings of the command are raised as `xlc.Warning`. The package itself computes
nothing: all results come from the command.
"""

from typing import TYPE_CHECKING

from ._command import Diagnostic, Error, Warning, version  # pylint: disable=redefined-builtin
from ._model import export
from ._program import Program, Run, compile, evaluate, train  # pylint: disable=redefined-builtin
from ._results import Result, Verification, inspect, plan, verify

__all__ = ["Diagnostic", "Error", "Program", "Result", "Run", "Verification", "Warning", "compile", "evaluate", "export", "inspect",
           "plan", "train", "verify", "version"]

if TYPE_CHECKING:
    __version__: str
else:
    def __getattr__(name):
        """`__version__` is the command's, which is called only when it is read."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            return version()
        except (FileNotFoundError, Error) as error:
            raise AttributeError(f"__version__ is that of the command: {error}") from error
