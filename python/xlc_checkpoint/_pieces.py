"""How a tensor is cut: dimension `dim` is [outer, run], and each run is `parts` blocks of ceil(run / parts) elements. A piece has the blocks of
one index, with the padding of a last block that is short.

       run 5, parts 2        piece 0        piece 1
       a b c d e             a b c          d e .
       f g h i j             f g h          i j .
"""

import math


class Pieces:
    """The geometry of a tensor's pieces; ValueError: no tensor has it."""

    def __init__(self, shape, cut):
        self.shape, (self.dim, self.outer, self.parts) = shape, cut
        if self.parts == 1:
            if list(cut) != [0, 1, 1]:
                raise ValueError("an invalid cut")
            self.rows, self.run, self.block, self.rest = 1, math.prod(shape), math.prod(shape), 1
            return
        if self.dim >= len(shape) or min(self.outer, self.parts) < 1 or shape[self.dim] % self.outer:
            raise ValueError("an invalid cut")
        self.run = shape[self.dim] // self.outer
        self.block = -(-self.run // self.parts)
        self.rows = self.outer * math.prod(shape[:self.dim])
        self.rest = math.prod(shape[self.dim + 1:])

    @property
    def elements(self):
        """Of each piece, padding included."""
        return self.rows * self.block * self.rest

    def check(self, pieces):
        """ValueError where `pieces`, each (file, index, begin, end), do not have every element once."""
        at = (0, 0)
        for _, index, begin, end in sorted(pieces, key=lambda piece: piece[1:]):
            if (index, begin) != at or not begin < end <= self.elements:
                raise ValueError("pieces that do not tile the tensor")
            at = (index, end) if end < self.elements else (index + 1, 0)
        if self.elements and at != (self.parts, 0):
            raise ValueError("pieces that do not tile the tensor")

    def put(self, whole, index, begin, data):
        """Puts elements of piece `index` from `begin` on, a flat array, where they are in the tensor; padding goes nowhere.
        `whole`: the elements of the tensor, a flat array."""
        width, first = self.block * self.rest, min(self.run, index * self.block)
        valid = min(self.block, self.run - first) * self.rest
        target = whole.reshape(self.rows, self.run * self.rest)[:, first * self.rest:first * self.rest + valid]
        while len(data):
            row, column = divmod(begin, width)
            if column == 0 and len(data) >= width:  # whole rows at once
                count = len(data) // width * width
                target[row:row + count // width] = data[:count].reshape(-1, width)[:, :valid]
            else:
                count = min(width - column, len(data))
                target[row, column:column + count] = data[:max(0, min(count, valid - column))]
            begin, data = begin + count, data[count:]
