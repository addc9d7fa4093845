# Every key of a report is in docs/PlanJson.md and the other way round: json_keys.py REPORT.json PlanJson.md
import json
import re
import sys


def keys(value, path=""):
    """Paths of all leaves; lists are a[]; rows of largest_buffers and outside_lines are described in words."""
    if path.endswith((".largest_buffers", ".outside_lines", ".ranks")) or not isinstance(value, (dict, list)):
        return {path}
    if isinstance(value, list):
        return {path}.union(*(keys(item, path + "[]") for item in value)) if value else {path}
    return set().union(*(keys(item, f"{path}.{name}".lstrip(".")) for name, item in value.items()))


with open(sys.argv[1]) as file:
    reported = keys(json.load(file))
with open(sys.argv[2]) as file:
    documented = set(re.findall(r"^\| `([^`]+)`", file.read(), re.M))
for name in sorted(reported ^ documented):
    print(name, "is only in the", "report" if name in reported else "documentation")
sys.exit(reported != documented)
