"""How a runner of these folders ends, so that run_all.py can add up: what passed and what failed, and how long each case took,
in a file and in words."""

import contextlib
import json
import pathlib
import time

SECONDS = {}  # of each case


@contextlib.contextmanager
def timed(name):
    """Keeps how long a case takes."""
    begin = time.monotonic()
    try:
        yield
    finally:
        SECONDS[name] = round(time.monotonic() - begin, 2)


def add_option(parser):
    parser.add_argument("--results", type=pathlib.Path, help="write passed, failed and the seconds of each case to this file, as JSON")


def write(results, passed, failed):
    """To the file, where one is asked for."""
    if results:
        results.write_text(json.dumps({"passed": passed, "failed": failed, "seconds": SECONDS}))


def end(results, passed, failed):
    """The file, the last line, and the exit code."""
    write(results, passed, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
