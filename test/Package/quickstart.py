#!/usr/bin/env python3
"""Runs the quickstart of README as it stands: test/Package/quickstart.py [--print]. Needs PyTorch, unless it is printed only.

The lines are those of the first block that begins with `import torch, xlc`. They run in a folder of their own; afterwards the loss has
fallen, and the module has what was learned. They are at most twelve.
"""

import argparse
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = 12


def read_quickstart():
    block = re.search(r"^    import torch, xlc\n(?:    .*\n)+", (ROOT / "README.md").read_text(), re.MULTILINE)
    text = textwrap.dedent(block.group())
    if len(text.splitlines()) > LINES:
        sys.exit(f"the quickstart of README has {len(text.splitlines())} lines, at most {LINES} are wanted")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="the lines, and nothing is run")
    text = read_quickstart()
    print(text)
    if parser.parse_args().print:
        return
    names = {}
    exec(compile(text, "README.md", "exec"), names)  # pylint: disable=exec-used  # what a user would paste
    losses, learned = names["run"].losses, names["run"].state_dict()
    assert losses[-1] < losses[0], losses
    for name, value in names["module"].state_dict().items():
        assert (value == learned[name]).all(), name
    print(f"trained: {len(losses)} steps, {len(learned)} parameters are back in the module")


if __name__ == "__main__":
    main()
