"""Lists diagnostics that no test contains.

A diagnostic is a string literal of three words or more in a statement that reports something (REPORTS). Its longest part
between placeholders (four words of it in a row) must occur in a test: `diagnostics.py SOURCE_ROOT`, which prints FILE:LINE: the
words, and exits with 1 if there are any. The tests are read as text, white space and the line breaks of C++ literals aside.
"""

import pathlib
import re
import sys

REPORTS = re.compile(
    r"emit(OpError|Error|Warning|Remark)|\b(errors?|warnings?|note|notes|complain\w*|fail\w*|refuse\w*|raise|report\w*|"
    r"reject\w*|mismatch\w*|require\w*|describe\w*|reason|problem|message|diagnostic\w*)\b|\bRejected\b|std::\w*_error|"
    r"attachNote|return\b", re.IGNORECASE)
# Help, documentation and reports: texts of these are compared as whole pages or read by people, not checked as rules.
NOT_DIAGNOSTICS = re.compile(r"add_(option|flag|subcommand)|set_version_flag|app\(|footer|static_assert|assert\(|MlirOptMain")
PAGES = ("lib/Phases/Phases.cpp", "lib/Spec/Keys.cpp", "lib/Spec/OptimizerKeys.cpp", "lib/Spec/CheckpointKeys.cpp", "lib/Spec/Documentation.cpp", "lib/Report/")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])\''
                   r"|(?P<stop>[;{}])", re.DOTALL)
PLACEHOLDER = re.compile(r"\{[^{}\s]*\}|%\w|\\.")


def find_literals(text):
    """Yields (line, statement, words): adjacent literals, as a compiler joins them, with the statement around them."""
    start, pieces = 0, []
    for token in TOKEN.finditer(text):
        if token.group("text") is not None:
            glue = pieces and not text[pieces[-1].end():token.start()].strip()
            if pieces and not glue:
                yield from join(text, start, pieces)
                pieces = []
            pieces.append(token)
        elif token.group("stop"):
            if pieces:
                yield from join(text, start, pieces)
            start, pieces = token.end(), []


def join(text, start, pieces):
    words = "".join(piece.group("text") for piece in pieces)
    end = pieces[-1].end()
    statement = text[start:pieces[0].start()] + text[end:text.find("\n", end)]
    yield text.count("\n", 0, pieces[0].start()) + 1, statement, words


def longest_part(words):
    parts = [re.sub(r"^\W*(error|warning|note): ", "", part) for part in PLACEHOLDER.split(words)]
    return max((part.strip(" '\"`:;,.()[]") for part in parts), key=len).replace("{{", "{").replace("}}", "}")


def is_tested(part, tests):
    """A test need not have a whole sentence: four words in a row tell which one is meant."""
    words = part.split(" ")
    return any(" ".join(words[at:at + 4]) in tests for at in range(max(1, len(words) - 3)))


def squeeze(text):
    return re.sub(r"\s+", " ", text)


def read_tests(root):
    """All tests as one text; literals that C++ breaks into lines are joined."""
    texts = []
    for folder in ("test", "unittests"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".mlir", ".test", ".yaml", ".cpp", ".h", ".py") and "Lint" not in path.parts:
                texts.append(re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8", errors="replace")))
    return squeeze("\n".join(texts)).replace("\\", "")


def read_exceptions():
    """{words: why no test can provoke them}."""
    lines = (pathlib.Path(__file__).parent / "not-provoked.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" | ") for line in lines if line and not line.startswith("#"))


def find_untested(root):
    tests, exceptions, found = read_tests(root), read_exceptions(), set()
    for folder in ("lib", "tools"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix not in (".cpp", ".h") or name.startswith(PAGES):
                continue
            for line, statement, words in find_literals(path.read_text(encoding="utf-8")):
                part = squeeze(longest_part(words))
                if len(part.split()) < 3 or not REPORTS.search(statement) or NOT_DIAGNOSTICS.search(statement) \
                        or is_tested(part.replace("\\", ""), tests):
                    continue
                found.add(part)
                if part not in exceptions:
                    yield f"{name}:{line}: no test contains '{part}'"
    for words, why in exceptions.items():
        print(f"not provoked: '{words}': {why}")
        if words not in found:
            yield f"test/Lint/not-provoked.txt: a test contains '{words}', or nothing says it any more"


if __name__ == "__main__":
    untested = list(find_untested(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(untested))
    sys.exit(bool(untested))
