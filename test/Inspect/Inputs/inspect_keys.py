# Every key of an inspection is in docs/InspectJson.md and the other way round: inspect_keys.py INSPECTION.json InspectJson.md
import json
import re
import sys

with open(sys.argv[1]) as file:
    inspection = json.load(file)
with open(sys.argv[2]) as file:
    documented = set(re.findall(r"^\| `([^`]+)`", file.read(), re.M))
found = set()
for key, value in inspection.items():
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    is_empty = value == []
    found |= {name for name in documented if is_empty and name.startswith(key + "[]")} or {
        f"{key}[].{name}" for row in rows for name in row} or {key}
for name in sorted(found ^ documented):
    print(name, "is only in the", "inspection" if name in found else "documentation")
sys.exit(found != documented)
