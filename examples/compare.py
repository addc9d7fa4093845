"""Prints the losses of a training program beside those of PyTorch's float64 run: compare.py log.jsonl expected.json [bf16|fp16|all-bf16].

Exits with 1 if a loss differs by more than rounding in float32, or in sixteen bits, explains.
"""

import json
import pathlib
import sys

# Relative. PyTorch's own bfloat16 is up to 1e-3 away for a GPT-2 like this; float16 is half of that. Without masters small updates
# are lost, and the distance grows with the steps.
TOLERANCES = {"fp32": 5e-6, "bf16": 2e-3, "fp16": 1e-3, "all-bf16": 5e-3}


def main(log, expected, precision="fp32"):
    tolerance = TOLERANCES[precision]
    steps = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    losses = json.loads(pathlib.Path(expected).read_text())["loss"]
    print(f"{'step':>4}  {'this program':>12}  {'PyTorch':>12}  difference (relative)")
    worst = 0.0
    for step, loss in zip(steps, losses):
        difference = abs(step["loss"] - loss) / abs(loss)
        worst = difference if not difference <= worst else worst  # a NaN stays
        print(f"{step['step']:>4}  {step['loss']:>12.7f}  {loss:>12.7f}  {difference:.1e}")
    good = len(steps) == len(losses) and worst <= tolerance
    print(f"{len(steps)} of {len(losses)} steps, at most {worst:.1e} apart: {'as' if good else 'MORE THAN'} rounding "
          f"explains ({tolerance:.0e})")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or not set(sys.argv[3:]) <= set(TOLERANCES):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
