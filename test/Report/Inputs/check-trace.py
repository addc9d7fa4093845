"""Counts the runs of each stage in a predicted timeline; fails where two actions of one row overlap: check-trace.py TRACE [PLAN.json].

With a plan, the fullest counter of memory of a stage is what the plan says of its fullest moment.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)["traceEvents"]
events = [event for event in trace if event["ph"] == "X"]
for row in {(event["pid"], event["tid"]) for event in events}:
    times = sorted((event["ts"], event["ts"] + event["dur"]) for event in events if (event["pid"], event["tid"]) == row)
    assert all(before[1] <= after[0] + 1e-9 for before, after in zip(times, times[1:])), "two actions overlap"
for stage in sorted({event["pid"] for event in events}):
    of_stage = [event for event in events if event["pid"] == stage]
    print(f"stage {stage}: {sum(event['cat'] == 'run' for event in of_stage)} runs, {len({e['tid'] for e in of_stage})} rows")
begins = {event["name"]: event["ts"] for event in events}
backward, forward = "layer[2] B, micro-batch 0", "layer[2] F, micro-batch 0"
if begins[backward] > begins[forward]:
    print(f"{backward} begins after {forward}")
for group in json.load(open(sys.argv[2], encoding="utf-8"))["groups"] if len(sys.argv) > 2 else ():
    counters = [event["args"] for event in trace if event["ph"] == "C" and event["pid"] == group["stage"] and "memory" in event["name"]]
    fullest = max(counters, key=lambda causes: sum(causes.values()))
    assert fullest == group["memory"]["by_cause"], (fullest, group["memory"]["by_cause"])
    rates = [event["args"]["rate"] for event in trace if event["ph"] == "C" and event["pid"] == group["stage"] and "link" in event["name"]]
    print(f"stage {group['stage']}: counters of memory reach the fullest moment, the link is {'in use' if max(rates, default=0) > 0 else 'not counted'}")
