"""Metrics of random logits with ties, and of labels of which some classes never occur, equal their definitions, which
are computed here from the rows with fractions (scikit-learn's names: precision_recall_fscore_support,
matthews_corrcoef).
"""

import fractions
import math
import pathlib
import random
import sys

import files
import program

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Import" / "Operators"))
from model import node, number, text, value  # pylint: disable=wrong-import-position

CLASSES = (2, 3, 7, 18, 40)
AVERAGES = ("binary", "macro", "micro", "weighted")
IGNORED = -100
MICRO = 3
NEAR = 1e-14  # the last divisions


def encode(classes):
    """The bytes of an ONNX file: x -> x + bias, which begins with zeros."""
    bias = text(5, number(1, classes) + number(2, 1) + text(8, "bias") + text(9, bytes(4 * classes)))
    graph = node("Add", ["x", "bias"], ["logits"], {}, "logits") + text(2, "sum") + bias + value(11, "x", "f", [MICRO, classes])
    graph += text(12, text(1, "logits") + text(2, text(1, number(1, 1))))
    return number(1, 8) + text(7, graph) + text(8, text(1, "") + number(2, 18))


def draw_rows(draw, classes):
    """Logits of few values, and labels of a part of the classes, some of which do not count."""
    occurring = draw.sample(range(classes), draw.randint(1, classes))
    count = draw.randint(1, 60)
    labels = [draw.choice(occurring) if draw.random() < 0.9 else IGNORED for _ in range(count)]
    return [[draw.randint(-2, 2) for _ in range(classes)] for _ in range(count)], labels


def write_rows(folder, logits, labels):
    folder.mkdir(exist_ok=True)
    files.write_npy(folder / "x.npy", "<f4", (len(logits), len(logits[0])), [element for row in logits for element in row])
    files.write_npy(folder / "labels.npy", "<i8", (len(labels),), labels)
    return folder


def ratio(above, below):
    return fractions.Fraction(above, below) if below else fractions.Fraction(0)


def root_ratio(above, squared):
    return above / math.sqrt(squared) if squared else 0


def define(average, classes, logits, labels):
    """All metrics, by their definitions."""
    counted = [(row, label) for row, label in zip(logits, labels) if label != IGNORED]
    ranks = [sum(other > row[label] or (other == row[label] and c < label) for c, other in enumerate(row)) for row, label in counted]
    predicted = [max(range(classes), key=lambda c, row=row: (row[c], -c)) for row, _ in counted]
    pairs = list(zip(predicted, (label for _, label in counted)))
    hits = [sum(p == t == c for p, t in pairs) for c in range(classes)]
    said = [sum(p == c for p, _ in pairs) for c in range(classes)]
    occurs = [sum(t == c for _, t in pairs) for c in range(classes)]
    by_class = {"precision": [ratio(h, s) for h, s in zip(hits, said)], "recall": [ratio(h, o) for h, o in zip(hits, occurs)],
                "f1": [ratio(2 * h, s + o) for h, s, o in zip(hits, said, occurs)]}
    weights = {"binary": [c == 1 for c in range(classes)], "macro": [s + o > 0 for s, o in zip(said, occurs)], "weighted": occurs}
    if average == "micro":
        every = {"precision": ratio(sum(hits), sum(said)), "recall": ratio(sum(hits), sum(occurs)),
                 "f1": ratio(2 * sum(hits), sum(said) + sum(occurs))}
    else:
        every = {name: ratio(sum(w * v for w, v in zip(weights[average], values)), sum(weights[average])) for name, values in by_class.items()}
    n = len(pairs)
    above = sum(hits) * n - sum(s * o for s, o in zip(said, occurs))
    every["matthews"] = root_ratio(above, (n * n - sum(s * s for s in said)) * (n * n - sum(o * o for o in occurs)))
    return every | {"accuracy": ratio(sum(r < 1 for r in ranks), n), "top2": ratio(sum(r < 2 for r in ranks), n)}


def equal_definitions(setting, classes, average, count):
    draw = random.Random(f"{classes} {average}")
    folder = setting.scratch / "model"
    folder.mkdir()
    (folder / "logits.onnx").write_bytes(encode(classes))
    spec = {"batch": {"global": 2 * MICRO, "micro": MICRO}, "loss": {"type": "cross_entropy", "logits": "logits", "labels": "labels"},
            "data": {"train": folder}, "eval": {"metrics": ["accuracy", "top2", "precision", "recall", "f1", "matthews"], "average": average}}
    write_rows(folder, [[0.] * classes] * 8, [0] * 8)
    made = program.Program(setting, "train", folder / "logits.onnx", spec)
    for _ in range(count):
        logits, labels = draw_rows(draw, classes)
        found = made.evaluate("--validation", write_rows(setting.scratch / "rows", logits, labels))
        for name, wanted in define(average, classes, logits, labels).items():
            if not abs(found[name] - float(wanted)) <= NEAR * abs(wanted):
                yield f"{name} is {found[name]}, not {float(wanted)}, of {logits} and {labels}"
                return


def list_checks(everything):
    """2,000 tables, or a few of each kind."""
    kinds = [(classes, average) for classes in CLASSES for average in AVERAGES if average != "binary" or classes == 2]
    count = -(-2000 // len(kinds)) if everything else 8
    return [(f"evaluation: metrics of {classes} classes, {average}",
             lambda setting, classes=classes, average=average: equal_definitions(setting, classes, average, count))
            for classes, average in (kinds if everything else kinds[::3])]
