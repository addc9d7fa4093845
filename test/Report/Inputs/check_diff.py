"""Compares `xlc diff --json` with the plans of both specs: check_diff.py DIFF.json MODEL A.yaml B.yaml."""

import json
import subprocess
import sys


def flatten(value, key=""):
    if isinstance(value, dict):
        for name, part in value.items():
            yield from flatten(part, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from flatten(part, f"{key}.{number}")
    else:
        yield key, None if value in ({}, []) else value


def figures(model, spec):
    plan = json.loads(subprocess.run(["xlc", "plan", model, "--spec", spec, "--json"], check=True, capture_output=True, text=True).stdout)
    group = max(plan.pop("groups"), key=lambda each: each["memory"]["total"])
    for key in ("changes", "fp32", "model"):
        del plan[key]
    for key in ("ranks", "stage", "count"):
        del group[key]
    del group["memory"]["peak"]["largest_buffers"]
    return dict(flatten(plan)) | dict(flatten(group))


said, model, *specs = sys.argv[1:]
a, b = (figures(model, spec) for spec in specs)
wanted = {key: (a.get(key), b.get(key)) for key in a | b if a.get(key) != b.get(key)}
with open(said, encoding="utf-8") as file:
    found = {each["key"]: (each["a"], each["b"]) for each in json.load(file)["differences"]}
assert found == wanted, (found, wanted)
print(len(found), "differences are those of the plans")
