"""A copy of the classifier whose first parameter has a name that HTML would take for its own: hostile_names.py FROM TO."""

import pathlib
import sys

model = pathlib.Path(sys.argv[1]).read_bytes()
assert b"0.weight" in model
pathlib.Path(sys.argv[2]).write_bytes(model.replace(b"0.weight", b"<b>&'<i>"))
