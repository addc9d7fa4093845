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
    carry float32 over a kink that is nearer than that; no reference can say what is right there. Values that tie exactly
    are at no distance: they are one value that was moved, or numbers that both arithmetics have. `tied(attributes,
    *inputs)`: whether some do, so that central differences say nothing."""
    forward: Callable
    backward: Optional[Callable]
    margin: Optional[Callable] = None
    tied: Optional[Callable] = None


def apart(a, b):
    """How far two values are from changing their order."""
    return abs(a - b) if a != b else FAR


def gap(values):
    """From the largest to the next. Those that are equal to it are copies, or one bound: they stay equal in float32."""
    largest = max(values)
    return min((largest - value for value in values if value != largest), default=FAR)
