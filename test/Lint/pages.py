"""Links and English of what users read: pages.py ROOT.

Links of pages lead to a file, and to a heading of it. English: patterns of CONTRIBUTING's rule (the subject is the component's noun, the verb is
what it does, no clause stands for a noun), in pages outside of code, and in texts of the sources that are printed. A line ends with what it
would be:

    docs/Limits.md:12: 'is no tensor': "is not a tensor"

Exit code 1 where something is found.
"""

import pathlib
import re
import sys

# A pattern, and what to write in its place. Each has few false alarms, and finds most of what is wrong with a sentence.
PATTERNS = (
    (r"(?<!there )(?<!There )(?<!which )\b(?:is|are|was|were|be) no (?!longer\b|more\b|less\b|fewer\b|greater\b|larger\b|smaller\b|earlier\b|later\b)\w+",
     "is not a"),
    (r"\b(?:asks?|asked|wants?|wanted|knows?|thinks?|understands|forgets|remembers|likes)\b", "requests, requires, stores, reads"),
    (r"\b(?:says|said)\b", "states, reports, prints"),
    (r"\b(?:is|are|was|were|be|been) told\b", "receives"),
    (r"\b[Tt]ells\b", "reports, passes"),
    (r"\b(?:[Nn]obody|[Ww]hoever|[Ww]hatever)\b", "name the component"),
    (r"\b[Ww]ho (?:sums|reads|writes|sends|waits|has|is|comes|does|owns|holds|begins|makes|computes|needs|takes|would|does)\b", "the rank that"),
    (r"\b[Ww]hat (?:is left|is there|there is|stands|lies|remains|becomes of|was said|is said|is so)\b", "the remainder, the content"),
)
# Where a pattern is right: a part of the line.
ALLOWED = ("asked to stop", "users ask", "if you want", "you want", "as known", "not known", "known")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md")
GENERATED = ("docs/Families.md",)  # quotes messages of other versions
SOURCES = ("lib/**/*.cpp", "lib/**/*.h", "tools/**/*.cpp", "tools/**/*.h", "include/**/*.h")


def list_files(root, patterns):
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            if "build" not in path.relative_to(root).parts[0]:
                yield path


def name_heading(text):
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def check_links(path):
    text = path.read_text()
    for number, line in enumerate(text.split("\n"), 1):
        for link in re.findall(r"\]\(([^)\s]+)\)|^\[\d+\]: (\S+)", line):
            target, _, heading = "".join(link).partition("#")
            if target.startswith(("http", "mailto")) or line.startswith("    "):
                continue
            found = path.parent / target if target else path
            if not found.exists():
                yield number, f"there is no file '{target}'"
            elif heading and heading not in map(name_heading, re.findall(r"^#+ (.*)$", found.read_text(), re.MULTILINE)):
                yield number, f"'{target}' has no heading '{heading}'"


def check_words(number, text):
    for pattern, better in PATTERNS:
        for match in re.finditer(pattern, text):
            around = text[max(0, match.start() - 20):match.end() + 20]
            if not any(allowed in around for allowed in ALLOWED):
                yield number, f"'{match.group()}': \"{better}\""


def check_page(path):
    fenced = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith("    "):
            yield from check_words(number, re.sub(r"`[^`]*`|\"[^\"]*\"", "", line))


def check_source(path):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if not line.lstrip().startswith(("//", "#include")):
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                yield from check_words(number, re.sub(r"'[^']*'", "", text))


def main():
    root, found = pathlib.Path(sys.argv[1]).resolve(), 0
    pages = list(list_files(root, PAGES))
    checks = [*((path, check_links) for path in pages),
              *((path, check_page) for path in pages if str(path.relative_to(root)) not in GENERATED),
              *((path, check_source) for path in list_files(root, SOURCES))]
    for path, check in checks:
        for number, what in check(path):
            print(f"{path.relative_to(root)}:{number}: {what}")
            found += 1
    print(f"{len(checks)} checks, {found} found")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
