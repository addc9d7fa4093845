"""Counts the runs of each stage in a predicted timeline; fails where two of one stage overlap."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
for stage in sorted({event["pid"] for event in events}):
    runs = sorted((event["ts"], event["ts"] + event["dur"]) for event in events if event["pid"] == stage)
    assert all(before[1] <= after[0] + 1e-9 for before, after in zip(runs, runs[1:])), "two runs overlap"
    print(f"stage {stage}: {len(runs)} runs")
begins = {event["name"]: event["ts"] for event in events}
backward, forward = "layer[2] B, micro-batch 0", "layer[2] F, micro-batch 0"
if begins[backward] > begins[forward]:
    print(f"{backward} begins after {forward}")
