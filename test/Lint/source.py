"""What tools say of the source: format, headers that compile alone, clang-tidy on what changed, pyflakes and mypy on Python.

    source.py --build build [--base COMMIT] [--results FILE]

clang-tidy looks at the files that differ from --base: where origin/main is behind, what it lacks, else the last commit.
It stops after four minutes and names the files that it has not seen. The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import tally  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMAT, TIDY = "clang-format-22", "clang-tidy-22"
TIDY_SECONDS = 240


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    return done.stdout.split("\n") if done.returncode == 0 else []


def list_sources():
    """C++ that is ours; without git, what lies in the folders of the source."""
    files = [ROOT / name for name in git("ls-files", "*.cpp", "*.h")]
    if not files:
        files = [path for folder in ("include", "lib", "tools", "unittests", "test", "bench") for path in (ROOT / folder).rglob("*.*")]
    return sorted(path for path in files if path.suffix in (".cpp", ".h") and "regressions" not in path.parts and path.exists())


def find_base():
    """What to compare with; none where there is no history."""
    head, = git("rev-parse", "HEAD")[:1] or [""]
    for base in (git("merge-base", "HEAD", "origin/main")[:1], git("rev-parse", "HEAD~1")[:1]):
        if base and base[0] and base[0] != head:
            return base[0]
    return None


class Commands:
    """How each file is compiled, as the build wrote it down."""

    def __init__(self, build):
        self.of_file, self.database = {}, {}
        for folder in (build, build / "lib/Lower/Device"):  # device code is compiled by commands of its own
            for entry in json.loads((folder / "compile_commands.json").read_text()):
                path = pathlib.Path(entry["file"]).resolve()
                self.of_file[path], self.database[path] = entry, folder

    def nearest(self, header):
        """The command of a file that stands near the header: in the folder of lib/ that it is of."""
        parts = header.relative_to(ROOT).parts
        folder = ROOT / "lib" / pathlib.Path(*parts[2:-1]) if parts[0] == "include" else header.parent
        while folder != ROOT:
            for path, entry in self.of_file.items():
                if folder in path.parents:
                    return entry
            folder = folder.parent
        return None

    def compiled_alone(self):
        """Headers that a compiled file includes before anything else: the build has compiled them alone."""
        found = set()
        for path in self.of_file:
            first = re.search(r'^#include (["<])(.+)[">]$', path.read_text(), re.MULTILINE)
            if first:
                found |= {ROOT / "include" / first[2], path.parent / first[2]}
        return found

    def check_header(self, header):
        """Compiles a header by itself; what is wrong, or nothing."""
        entry = self.nearest(header)
        if not entry:
            return "no file near it is compiled"
        words = shlex.split(entry["command"])
        words = [word for i, word in enumerate(words) if word not in ("-c", "-o") and words[i - 1] not in ("-o", "-c") and "ccache" not in word]
        relative = header.relative_to(ROOT / "include") if (ROOT / "include") in header.parents else header
        text = f'#include "{relative}"\n'
        done = subprocess.run([*words, "-fsyntax-only", "-Wno-unused", "-x", "c++", "-"], input=text, cwd=entry["directory"], capture_output=True,
                              text=True, check=False)
        return done.stderr[:2000] if done.returncode else ""


def check_format(files):
    wrong = []
    for at in range(0, len(files), 100):
        done = subprocess.run([FORMAT, "--dry-run", "-Werror", *files[at:at + 100]], cwd=ROOT, capture_output=True, text=True, check=False)
        wrong += sorted({line.split(":")[0] for line in done.stderr.splitlines() if "clang-format-violations" in line})
    for name in wrong:
        print(f"format: {name}: clang-format -i would change it")
    return 1, len(wrong)


def check_headers(files, commands, pool):
    headers = [path for path in files if path.suffix == ".h" and path.relative_to(ROOT).parts[0] in ("include", "lib", "tools")]
    built = commands.compiled_alone()
    total, wrong = len(headers), 0
    headers = [path for path in headers if path not in built]
    print(f"headers: {total - len(headers)} are the first include of a file that the build compiles, {len(headers)} are compiled here")
    for header, problem in zip(headers, pool.map(commands.check_header, headers)):
        if problem:
            wrong += 1
            print(f"headers: {header.relative_to(ROOT)} does not compile alone: {problem}")
    return total, wrong


def check_python():
    """Names that no Python file defines, and those that it does not need. `noqa` on a line says that it is meant."""
    files = [name for name in git("ls-files", "*.py") if name] or [str(path) for path in (ROOT / "test").rglob("*.py")]
    done = subprocess.run(["pyflakes3", *files], cwd=ROOT, env={**os.environ, "PYFLAKES_BUILTINS": "config,lit_config"},
                          capture_output=True, text=True, check=False)
    wrong = 0
    for said in (done.stdout + done.stderr).splitlines():
        place = said.split(":")
        meant = len(place) > 2 and place[1].isdigit() and "noqa" in (ROOT / place[0]).read_text().split("\n")[int(place[1]) - 1]
        if not meant:
            wrong += 1
            print(f"python: {said}")
    return len(files), wrong


def check_types():
    """The type hints of the package that users import."""
    done = subprocess.run(["/usr/bin/mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary", "xlc"],
                          cwd=ROOT / "python", capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if ": note: " not in line]
    for line in said:
        print(f"types: {line}")
    return len(list((ROOT / "python" / "xlc").glob("*.py"))), max(len(said), done.returncode != 0)


def check_tidy(files, commands, base, pool):
    if base is None:
        print("tidy: not run: there is no history to say what changed")
        return 0, 0
    changed = {ROOT / name for name in git("diff", "--name-only", base)}
    todo = [path for path in files if path in changed and path in commands.of_file and path.relative_to(ROOT).parts[0] in ("lib", "tools")]
    end = time.monotonic() + TIDY_SECONDS

    def run(path):
        if time.monotonic() > end:
            return None
        done = subprocess.run([TIDY, "-p", commands.database[path], "--quiet", "--warnings-as-errors=*", path], capture_output=True, text=True, check=False)
        return done.stdout if done.returncode else ""

    wrong, unseen, seen = 0, [], 0
    for path, problem in zip(todo, pool.map(run, todo)):
        if problem is None:
            unseen.append(str(path.relative_to(ROOT)))
            continue
        seen += 1
        if problem:
            wrong += 1
            print(f"tidy: {path.relative_to(ROOT)}:\n{problem}")
    if unseen:
        print(f"tidy: {len(unseen)} of {len(todo)} changed files were not seen in {TIDY_SECONDS} s: {', '.join(unseen)}")
    return seen, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build tree")
    parser.add_argument("--base", help="the commit that clang-tidy compares with")
    tally.add_option(parser)
    parser.add_argument("--xlc", help="(not used)")
    options = parser.parse_args()
    build = options.build.resolve()
    files, commands = list_sources(), Commands(build)
    total = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = {"clang-format": lambda: check_format(files), "headers": lambda: check_headers(files, commands, pool),
                  "python": check_python, "types": check_types, "clang-tidy": lambda: check_tidy(files, commands, options.base or find_base(), pool)}
        for name, check in checks.items():
            with tally.timed(name):
                some, wrong = check()
            total, failed = total + max(some, wrong), failed + wrong
    return tally.end(options.results, total - failed, failed)


if __name__ == "__main__":
    sys.exit(main())
