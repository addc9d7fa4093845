"""How a runner of these folders ends, so that run_all.py can add up: what passed and what failed, in a file and in words."""

import json
import pathlib


def add_option(parser):
    parser.add_argument("--results", type=pathlib.Path, help="write passed and failed to this file, as JSON")


def write(results, passed, failed):
    """To the file, where one is asked for."""
    if results:
        results.write_text(json.dumps({"passed": passed, "failed": failed}))


def end(results, passed, failed):
    """The file, the last line, and the exit code."""
    write(results, passed, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
