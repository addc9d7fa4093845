"""Breaks a matrix in all the ways that compare_parameters must detect, and prints its result for each."""

import math
import pathlib
import random
import tempfile

import compare
import finals

SIZE = 32
OFF = 4 * compare.SGD_TOLERANCE  # of one element: more than the 2.8 tolerances that a sum of 32 may be off


def main():
    draw = random.Random(3)
    whole = [draw.gauss(0, 0.2) for _ in range(SIZE * SIZE)]
    with tempfile.TemporaryDirectory() as folder:
        final = pathlib.Path(folder) / "final-sgd.json"
        finals.write(final, {"w": ((SIZE, SIZE), whole)})

        def find(values, name="w", shape=(SIZE, SIZE)):
            return "; ".join(compare.compare_parameters({name: (shape, values)}, {"optimizer": {"type": "sgd"}}, final)) or "nothing"

        print("equal:", find(whole))
        print("rounded otherwise:", find([value + draw.gauss(0, compare.SGD_TOLERANCE / 10) for value in whole]))
        found = sum(find([*whole[:i], whole[i] + OFF, *whole[i + 1:]]) != "nothing" for i in range(len(whole)))
        print(f"each element in turn: {found} of {len(whole)} found")
        print("two swapped:", find([*whole[:9], whole[10], whole[9], *whole[11:]]))
        print("one that is not a number:", find([math.nan, *whole[1:]]))
        print("transposed:", find([whole[j * SIZE + i] for i in range(SIZE) for j in range(SIZE)]))
        print("a factor of 1.0005:", find([value * 1.0005 for value in whole]))
        print("another name:", find(whole, name="v"))
        print("another shape:", find(whole, shape=(SIZE * SIZE,)))


if __name__ == "__main__":
    main()
