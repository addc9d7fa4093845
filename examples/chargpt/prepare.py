"""Splits a text into a part to train on and a part that is held out, and computes the loss of a table of pairs.

    python3 prepare.py opticks.txt.bz2 data      makes data/train.bin and data/validation.bin

The text may be compressed, as that of the example is. A token is a byte of the text: eight bits, below 128. The table (a
bigram model) says how often each character follows each other one in the training part; its loss on the held-out part is
what a model that reads more than one character has to beat.
"""

import bz2
import collections
import math
import pathlib
import sys

VOCABULARY = 128
HELD_OUT = 0.1  # of the text, at its end
SMOOTHING = 0.1  # added to each count, so that a pair that never occurred has a probability


def loss_of_pairs(train, validation):
    """Mean of -ln p(b | a) over neighbours a, b of the held-out part: nats a character."""
    pairs = collections.Counter(zip(train, train[1:]))
    firsts = collections.Counter(train[:-1])
    losses = [-math.log((pairs[a, b] + SMOOTHING) / (firsts[a] + SMOOTHING * VOCABULARY))
              for a, b in zip(validation, validation[1:])]
    return sum(losses) / len(losses)


def main(source, folder):
    text = source.read_bytes()
    if source.suffix == ".bz2":
        text = bz2.decompress(text)
    if max(text) >= VOCABULARY:
        sys.exit(f"{source} is not ASCII text: it has a byte {max(text)}")
    end = round(len(text) * (1 - HELD_OUT))
    parts = {"train": text[:end], "validation": text[end:]}
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        (folder / f"{name}.bin").write_bytes(part)
        print(f"{folder / name}.bin has {len(part)} characters")
    print(f"a table of pairs has a loss of {loss_of_pairs(**parts):.4f} on the held-out part, in nats a character")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
