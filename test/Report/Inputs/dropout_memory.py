"""What dropout costs a plan: dropout_memory.py XLC MODEL SPEC prints residuals and arena with dropout over those with `dropout: off`.

Masks are drawn again in backward, and attention keeps no probabilities: residuals may be one hundredth larger, and the arena by that
and one activation, the gradient behind a dropout. Ends with 1 where they are larger.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def plan(xlc, model, spec):
    memory = json.loads(subprocess.check_output([xlc, "plan", model, "--spec", spec, "--json"]))["groups"][0]["memory"]
    return memory["by_cause"]["residuals"], memory["arena"]


def main(xlc, model, spec, activation):
    on = plan(xlc, model, spec)
    with tempfile.TemporaryDirectory() as folder:
        off = pathlib.Path(folder) / "off.yaml"
        off.write_text(pathlib.Path(spec).read_text() + "dropout: off\n")
        off = plan(xlc, model, off)
    good = True
    for name, more, less, extra in zip(("residuals", "arena"), on, off, (0, int(activation))):
        print(f"{name} {more} B with dropout, {less} B without, ratio {more / less:.4f}")
        good &= more <= 1.01 * less + extra
    print("as promised" if good else "MORE THAN PROMISED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
