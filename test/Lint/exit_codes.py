"""The exit codes of the table in docs/ExitCodes.md are those of the two enums, and what else names one names one of these.

    python3 exit_codes.py ROOT

`xlc` ends with a code of tools/xlc/Command.h, a training program with one of lib/Runtime/Failure.h or, stopped by a signal,
with 128 and its number.
"""

import pathlib
import re
import signal
import sys

ENUMS = ("tools/xlc/Command.h", "lib/Runtime/Failure.h")
SIGNALS = {128 + number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
MENTIONS = re.compile(r"\b[Ee]xit(?: code)?s? (\d+)|\bexit(?:s|ed)? with (\d+)")


def read_enum(root, name):
    values = re.search(r"enum (?:class )?Exit \{([^}]*)\}", (root / name).read_text())[1]
    return {word: int(number) for word, number in re.findall(r"(\w+) = (\d+)", values)}


def read_table(root):
    table = (root / "docs" / "ExitCodes.md").read_text().split("| code | meaning |", 1)[1].split("\n\n", 1)[0]
    return [int(number) for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for number in row.split(",")]


def complain(root):
    enums = [read_enum(root, name) for name in ENUMS]
    for word in enums[0].keys() & enums[1].keys():
        if enums[0][word] != enums[1][word]:
            yield f"{ENUMS[0]} and {ENUMS[1]} have another code for {word}"
    known = SIGNALS.union(*(enum.values() for enum in enums))
    table = read_table(root)
    for code in sorted(known.symmetric_difference(table)):
        yield f"docs/ExitCodes.md: its table {'has' if code in table else 'lacks'} code {code}, which " \
              f"{'no' if code in table else 'an'} enum has"
    if len(table) != len(set(table)):
        yield "docs/ExitCodes.md: its table has a code twice"
    listed = re.search(r"^Exit codes: (.*?)\.$", (root / "tools/xlc/xlc.cpp").read_text(), re.MULTILINE)[1]
    if [int(code) for code in re.findall(r"(\d+) ", listed)] != sorted(enums[0].values()):
        yield f"tools/xlc/xlc.cpp: its help lists other codes than {ENUMS[0]}: {listed}"
    for folder, pattern in ((".", "*.md"), ("docs", "**/*.md"), ("tools", "**/*"), ("lib", "**/*"), ("include", "**/*")):
        for path in sorted((root / folder).glob(pattern)):
            if path.suffix in (".md", ".h", ".cpp", ".td"):
                for match in MENTIONS.finditer(path.read_text()):
                    if int(match[1] or match[2]) not in known:
                        yield f"{path.relative_to(root)}: '{match[0]}', which is not an exit code"


if __name__ == "__main__":
    complaints = list(complain(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(complaints))
    sys.exit(bool(complaints))
