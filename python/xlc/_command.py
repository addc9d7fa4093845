"""The command `xlc`: where it is, how it is called, and what it says of what it refuses."""

from __future__ import annotations

import dataclasses
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Callable, Mapping, Sequence

_SAID = re.compile(r"^(?:(?P<place>.*?)(?::(?P<line>\d+)(?::(?P<column>\d+))?)?: )?(?P<severity>error|warning|note): (?P<message>.*)$")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A diagnostic of the command or of a program."""

    severity: str  #: error, warning or note
    message: str
    file: str | None = None  #: or the option
    line: int | None = None  #: from 1
    column: int | None = None  #: from 1
    notes: tuple[str, ...] = ()  #: the lines that follow: the marked source, a suggestion


class Error(Exception):
    """The command has rejected its input, a module cannot be exported, or a program has failed.

    `code` is its exit code: 1 input rejected, 2 usage, 3 plan does not fit, 4 verification failed, 5 a rank failed, 6 no checkpoint, 7 a
    value that is not finite. `diagnostics` are the messages, `text` is the text that was printed.
    """

    def __init__(self, code: int, text: str):
        super().__init__(text.strip() or f"exit code {code}")
        self.code, self.text = code, text
        self.diagnostics = parse(text)

    @property
    def first(self) -> Diagnostic | None:
        """The first error; None if there is none."""
        return next((each for each in self.diagnostics if each.severity == "error"), None)


class Warning(UserWarning):  # pylint: disable=redefined-builtin
    """A warning of the command or of a program that has succeeded, with its notes."""


def parse(text: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a text.

    >>> parse("spec.yaml:2:5: error: 'dp' must be positive\\n  dp: 0\\nnote: dp: 1 would do")[0].line
    2
    """
    found: list[Diagnostic] = []
    for line in text.splitlines():
        match = _SAID.match(line)
        if match:
            at, column = (int(match[name]) if match[name] else None for name in ("line", "column"))
            found.append(Diagnostic(match["severity"], match["message"], match["place"], at, column))
        elif found and line.strip():
            found[-1] = dataclasses.replace(found[-1], notes=(*found[-1].notes, line))
    return tuple(found)


def find() -> str:
    """The path of the command: beside this Python, on the PATH, or in the build tree that this package lies in."""
    name = "xlc"
    beside = pathlib.Path(sysconfig.get_path("scripts")) / name
    built = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / name
    for path in (os.environ.get("XLC"), beside, shutil.which(name), built):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError("command 'xlc' not found: pip install xlc, or set XLC to its path")


def run(command: Sequence[str], accepted: Sequence[int] = (0,), *, stdin: str | None = None,
        on_line: Callable[[str], None] | None = None, names: Mapping[str, str] | None = None,
        warns: bool = True) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a child. Raises Error if the code is not one of `accepted`; else its warnings, if `warns`.

    `names` replaces what messages call temporary files by the names of the inputs that they hold.

    Ctrl-C is passed on once, so that the child ends as it does on a terminal (a program after its step, with a checkpoint), and then raised.
    `on_line` gets each line of stdout as it comes.
    """
    import tempfile  # pylint: disable=import-outside-toplevel  # only here

    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said:
        given.write(stdin or "")
        given.seek(0)
        with subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True) as child:
            out = _read(child, on_line)
        said.seek(0)
        text = _renamed(said.read(), {"<stdin>": "spec", **(names or {})})
    if child.returncode not in accepted:
        raise Error(child.returncode, text)
    if warns:
        _warn(parse(text))
    return child.returncode, out, text


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other names of files.

    >>> _renamed("/tmp/1.npy: error: has 2 rows, but '/tmp/0.npy' has 3", {"/tmp/0.npy": "data 'x'", "/tmp/1.npy": "data 'y'"})
    "data 'y': error: has 2 rows, but data 'x' has 3"
    """
    for file, name in names.items():
        text = text.replace(f"'{file}'", name).replace(file, name)
    return text


def _warn(said: Sequence[Diagnostic]) -> None:
    """Raises each warning, with the notes that follow it, as one of Python's at the caller of this package."""
    for number, each in enumerate(said):
        if each.severity == "warning":
            notes = itertools.takewhile(lambda other: other.severity == "note", said[number + 1:])
            lines = [_placed(each), *each.notes, *(line for note in notes for line in (f"note: {note.message}", *note.notes))]
            warnings.warn("\n".join(lines), Warning, _level_of_caller())


def _placed(said: Diagnostic) -> str:
    place = [str(part) for part in (said.file, said.line, said.column) if part is not None]
    return f"{':'.join(place)}: {said.message}" if place else said.message


def _level_of_caller() -> int:
    """The stacklevel, for the function that calls this one, of the nearest frame outside of this package."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
    frame, level = sys._getframe(1), 1  # pylint: disable=protected-access
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(own):
        frame, level = frame.f_back, level + 1
    return level


def _read(child: subprocess.Popen[str], on_line: Callable[[str], None] | None) -> str:
    lines = []
    assert child.stdout
    try:
        for line in child.stdout:
            lines.append(line)
            if on_line:
                on_line(line)
    except BaseException:  # of the terminal, of a notebook, of on_line
        child.send_signal(signal.SIGINT)
        try:
            child.stdout.read()
            child.wait()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)  # at once
            child.wait()
        raise
    return "".join(lines)


def version() -> str:
    """The command's version, as in "0.1.0"."""
    return run([find(), "--version"])[1].split()[-1]
