"""Whether what `xlc plan` says of a change is what it says of the changed spec: advice.py MODEL SPEC WORD...

A trial forks the phases of the spec that does not fit and is not planned to the end; the changed spec is planned from
the file on. Prints each change with "as said", or both figures. Of each WORD there must be a change that has it.
"""

import json
import pathlib
import re
import subprocess
import sys


def plan(model, spec):
    return json.loads(subprocess.run(["xlc", "plan", model, "--spec", spec, "--json"], stdout=subprocess.PIPE,
                                     check=False).stdout)


def keys(text):
    """Keys and values of "dp: 8, batch: {global: 16, micro: 2} (a larger batch)"."""
    text = re.sub(r" \([^)]*\)$", "", text)
    return dict(re.findall(r"(\w+): (\{[^}]*\}|[^,]+)", text))


def figures(report):
    def traffic(group):
        return sum(sum(kinds.values()) for kinds in group["traffic"].values())
    return max(group["memory"]["total"] for group in report["groups"]), max(map(traffic, report["groups"]))


def main():
    model, path, *words = sys.argv[1:]
    spec = dict(line.split(": ", 1) for line in pathlib.Path(path).read_text().splitlines() if ": " in line)
    changes = plan(model, path)["changes"]
    for number, change in enumerate(changes):
        changed = pathlib.Path(f"{path}.{number}.yaml")
        changed.write_text("".join(f"{key}: {value}\n" for key, value in {**spec, **keys(change["change"])}.items()))
        said, planned = (change["total"], change["traffic"]), figures(plan(model, changed))
        print(change["change"], "as said" if said == planned else f"said {said}, planned {planned}")
    for word in words:
        if not any(word in change["change"] for change in changes):
            print("no change has", word)


main()
