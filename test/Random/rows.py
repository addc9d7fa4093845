"""What the reference knows of an operator: a row. The tables of rows are in the files that are named after their kind."""

import math
from dataclasses import dataclass
from typing import Callable, Optional

FAR = math.inf


@dataclass(frozen=True)
class Row:
    """`forward(attributes, *inputs)` gives an Array, or a list of them where an operator has several results.
    `backward(attributes, inputs, y, dy)` gives a cotangent or None for each input; a None in its place: no gradient at all.
    `margin(attributes, *inputs)`: how far the inputs are from the nearest place where the derivative jumps. Rounding may
    carry float32 over a kink that is nearer than that; no reference can say what is right there."""
    forward: Callable
    backward: Optional[Callable]
    margin: Optional[Callable] = None
