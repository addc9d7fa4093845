#!/usr/bin/env python3
"""Writes early-stopping.txt: random sequences of a metric, and where transformers' Trainer would end.

A line is: min or max, patience, threshold, the values, then behind a bar the number of the evaluation behind which the run ends (0: it
does not) and that of the best one until then. Trainer (5.x): EarlyStoppingCallback.check_metric_value reads the best metric as it was
before the evaluation, which Trainer._determine_best_metric then replaces where the new one is better at all.
"""

import math
import pathlib
import random


class State:
    best_metric = None
    best = 0


def check_metric_value(state, counter, value, better, threshold):
    if state.best_metric is None or (better(value, state.best_metric) and abs(value - state.best_metric) > threshold):
        return 0
    return counter + 1


def determine_best_metric(state, number, value, better, greater):
    if state.best_metric is None:
        state.best_metric = -math.inf if greater else math.inf
        state.best = number
    if better(value, state.best_metric):
        state.best_metric, state.best = value, number


def judge(greater, patience, threshold, values):
    better = (lambda a, b: a > b) if greater else (lambda a, b: a < b)
    state, counter = State(), 0
    for number, value in enumerate(values, 1):
        counter = check_metric_value(state, counter, value, better, threshold)
        determine_best_metric(state, number, value, better, greater)
        if counter >= patience:
            return number, state.best
    return 0, state.best


def main():
    draw = random.Random(12)
    lines = []
    for _ in range(1000):
        greater, patience, threshold = draw.random() < 0.5, draw.randint(1, 3), draw.choice([0, 0, 0.25, 1])
        level, values = draw.uniform(-2, 2), []
        for _ in range(draw.randint(1, 9)):
            level += draw.choice([-1, 1]) * draw.choice([0, 0.125, 0.25, 0.5, 1.5])
            values.append(math.nan if draw.random() < 0.04 else round(level, 3))
        end, best = judge(greater, patience, threshold, values)
        lines.append(f"{'max' if greater else 'min'} {patience} {threshold} {' '.join(map(str, values))} | {end} {best}")
    path = pathlib.Path(__file__).with_name("early-stopping.txt")
    path.write_text("# made by make_early_stopping.py\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
