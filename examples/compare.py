"""Prints the losses of a training program beside those of PyTorch's float64 run: compare.py log.jsonl expected.json.

Exits with 1 if a loss is further away than float32 arithmetic explains.
"""

import json
import pathlib
import sys

TOLERANCE = 5e-6  # relative


def main(log, expected):
    steps = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    losses = json.loads(pathlib.Path(expected).read_text())["loss"]
    print(f"{'step':>4}  {'this program':>12}  {'PyTorch':>12}  difference (relative)")
    worst = 0.0
    for step, loss in zip(steps, losses):
        difference = abs(step["loss"] - loss) / abs(loss)
        worst = difference if not difference <= worst else worst  # a NaN stays
        print(f"{step['step']:>4}  {step['loss']:>12.7f}  {loss:>12.7f}  {difference:.1e}")
    good = len(steps) == len(losses) and worst <= TOLERANCE
    print(f"{len(steps)} of {len(losses)} steps, at most {worst:.1e} apart: {'as' if good else 'MORE THAN'} rounding "
          f"explains ({TOLERANCE:.0e})")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
