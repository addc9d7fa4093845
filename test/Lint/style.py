"""What the house style asks of every file and a machine can see.

Each rule is a function from (path, lines) to complaints; the table RULES says to which files it applies. Files are those
that git tracks, or, where there is no git, those of the source tree.
"""

import pathlib
import re
import subprocess
import sys

CODE = {".cpp", ".h"}
COMMENTED = CODE | {".td", ".fbs", ".py", ".cmake", ".proto", ".mlir", ".test"}
FOREIGN = ("test/Inputs/", "test/Fuzz/regressions/", "examples/")
FORBIDDEN_NAMES = {"Utils", "Common", "Misc", "Helpers", "Util", "Helper"}
# Written so that this file does not complain about itself.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
MACHINE = re.compile(r"(?<![\w./$])/(work|home|root|Users|mnt|workspace)/\w")


def check_length(path, lines):
    if len(lines) > 400:
        yield 1, f"{len(lines)} lines, at most 400: it probably has two ideas"


def opens_with_comment(path, lines):
    first = [line.strip() for line in lines if line.strip() and not line.startswith("#!")][:1]
    if first and not first[0].startswith(("//", "/*", "#", '"""', ";", "r\"\"\"")):
        yield 1, "the file does not open with a comment that says why it is there"
    if first and first[0].startswith(("#include", "#ifndef", "#pragma")):
        yield 1, "the file does not open with a comment that says why it is there"


def check_functions(path, lines):
    """A definition ends with the first brace in its own column; LLVM's format makes that reliable."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"\w.*\{$", line) and "(" in "".join(lines[max(0, number - 4):number]) \
                and not re.match(r"(template <.*> )?(namespace|extern|class|struct|enum|union|constexpr|const|static const)\b", line):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start - 1 > 60:
                yield start, f"a function of {number - start - 1} lines, at most 60"
            start = None


def is_finished(path, lines):
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "an unfinished thing: finish it, or say in a test what does not work"


def has_no_machine_paths(path, lines):
    for number, line in enumerate(lines, 1):
        if MACHINE.search(line):
            yield number, "a path of somebody's machine"


COUNTED = re.compile(r"\bint64_t (?:\w+::)?((?!k[A-Z])\w*(?:flops|traffic|busy|span)\w*)\b(?!.*->)", re.IGNORECASE)
ESTIMATES = ("lib/Estimate/", "lib/Report/", "lib/Inspect/", "include/xlc/Estimate/", "include/xlc/Report/", "include/xlc/Inspect/")


def counts_in_quantities(path, lines):
    """What is summed over ops, micro-batches and ranks leaves 64 bits: neither a declaration nor a result is of int64_t."""
    for number, line in enumerate(lines, 1):
        found = COUNTED.search(line.split("//")[0])
        if found and str(path).startswith(ESTIMATES):
            yield number, f"'{found[1]}' is an int64_t, which wraps: xlc/Support/Quantity.h does not"


REVERSED = re.compile(r"for \(.* : (?:llvm::)?(?:reverse|drop_begin|drop_end)\((?:\w+(?:\.|->|::))*(\w+)\(")
VIEWS = re.compile(r"get[A-Z]\w*|front|back|without_terminator|seq|take_\w+|make_\w+")


def outlives_its_loop(path, lines):
    """`for (int part : reverse(expand(list)))`: before C++23 the list that a call returns ends before the loop begins."""
    for number, line in enumerate(lines, 1):
        found = REVERSED.search(line)
        if found and not VIEWS.fullmatch(found[1]):
            yield number, f"what {found[1]}() returns ends before the loop begins: name it"


RULES = [
    (CODE, counts_in_quantities),
    (CODE, outlives_its_loop),
    (CODE, check_length),
    (CODE, check_functions),
    (COMMENTED, opens_with_comment),
    (COMMENTED | {".md", ".txt", ".yaml", ""}, is_finished),
    (COMMENTED | {".md", ".txt", ".yaml", ""}, has_no_machine_paths),
]


def list_files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (root / name).is_file()]
    return [str(path.relative_to(root)) for path in sorted(root.rglob("*"))
            if path.is_file() and not path.relative_to(root).parts[0].startswith(("build", ".git"))]


def complain(root):
    for name in list_files(root):
        path = pathlib.PurePath(name)
        for part in (path.stem, *path.parts[:-1]):
            if part in FORBIDDEN_NAMES:
                yield f"{name}:1: '{part}' says nothing about what is inside"
        if "Inputs" in path.parts or (name.startswith(FOREIGN) and path.suffix not in (".md", ".py", ".yaml")):
            continue
        rules = [rule for suffixes, rule in RULES if path.suffix in suffixes]
        if rules:
            lines = (root / name).read_text(encoding="utf-8").splitlines()
            for rule in rules:
                for line, message in rule(path, lines):
                    yield f"{name}:{line}: {message}"


if __name__ == "__main__":
    complaints = list(complain(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(complaints))
    sys.exit(bool(complaints))
