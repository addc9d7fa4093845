"""A summary of PyTorch's trained parameters at the end of a run: final-*.json, a line for each tensor.

    finals.py FINAL.safetensors...      writes FINAL.json beside each

    shape
    norm       in float64
    elements   SAMPLES elements: the tensor is cut in as many pieces, and a fixed hash chooses a place in each; small tensors whole
    sums       SUMS of them: sum k has the elements i with i % SUMS == k, each with a fixed random sign

Samples alone would miss a single wrong element, and so would the norm, which hardly moves with an element near zero. A
signed sum moves by what an element is off, wherever it stands. Errors of rounding have no sign in common, so that a sum
of n of them grows as the root of n: what two runs may differ by is allowed_in_sum(). The norm sees what all elements
have in common, a factor. All three are computed in float64 and written with more digits than a tolerance needs.
"""

import functools
import json
import math
import operator
import pathlib
import sys

import files

SAMPLES = SUMS = 32
MASK = (1 << 64) - 1


def scatter(i):
    """splitmix64, as in lib/Reference/Fingerprint.cpp."""
    z = (i + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def places(count):
    """Of the elements that are kept."""
    return range(count) if count <= SAMPLES else [k * count // SAMPLES + scatter(k) % (count // SAMPLES) for k in range(SAMPLES)]


@functools.lru_cache(maxsize=None)
def signs(count):
    return [-1.0 if scatter(i) & 1 else 1.0 for i in range(count)]


def terms(count):
    """How many elements each sum has."""
    return [len(range(k, count, SUMS)) for k in range(SUMS)]


def allowed_in_sum(tolerance, count, outlier):
    """Of `count` elements, most of which are off by a small part of the tolerance, and one by `outlier` tolerances: in runs of all
    models the largest difference of a long sum was 0.28 of tolerance * sqrt(count)."""
    return tolerance * (math.sqrt(count) / 2 + outlier)


def allowed_in_norm(tolerance):
    """In the same runs the largest difference was one tolerance, under AdamW, whose steps err in the direction of the parameters."""
    return 4 * tolerance


def describe(shape, values):
    """The entry of a tensor; `values` are flat and row-major."""
    sign, count = signs(len(values)), len(values)
    return {"shape": list(shape), "norm": math.sqrt(math.fsum(value * value for value in values)),
            "elements": [values[place] for place in places(count)],
            "sums": [math.fsum(map(operator.mul, values[k::SUMS], sign[k::SUMS])) for k in range(SUMS)] if count > SAMPLES else []}


def to_line(entry):
    """Eight digits of an element are a hundredth of a tolerance or less, and so are ten of a sum."""
    elements, sums = (", ".join(f"{value:.{digits}g}" for value in entry[key]) for key, digits in (("elements", 7), ("sums", 9)))
    return f'{{"shape": {entry["shape"]}, "norm": {entry["norm"]:.9g}, "elements": [{elements}], "sums": [{sums}]}}'


def write(path, tensors):
    """`tensors`: {name: (shape, values)}."""
    lines = (f"{json.dumps(name)}: {to_line(describe(shape, values))}" for name, (shape, values) in tensors.items())
    path.write_text("{" + ",\n ".join(lines) + "}\n")


def of_tensors(tensors):
    """PyTorch's, as `write` takes them: rounded to float32."""
    return {name: (list(value.shape), value.float().flatten().tolist()) for name, value in tensors.items()}


def read(path):
    return json.loads(path.read_text())


if __name__ == "__main__":
    for name in map(pathlib.Path, sys.argv[1:]):
        write(name.with_suffix(".json"), files.read_safetensors(name))
