"""Runs the coverage-guided fuzzers of the readers (test/Fuzz/targets) one after the other, and keeps what they find.

Seeds come from the project (seeds.py); what raises coverage is kept in the build tree from run to run. A case that crashes, hangs,
leaks or takes too much memory is made smaller and kept in test/Fuzz/regressions/READER, where tests of the ordinary build
read it.
"""

import argparse
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import seeds

ROOT = seeds.ROOT
# The longest input of each reader: as large as its seeds, no larger.
READERS = {"npy": 4 << 10, "tokens": 4 << 10, "safetensors": 8 << 10, "yaml": 4 << 10, "plan": 128 << 10, "onnx": seeds.LARGEST_MODEL}
SECONDS, MEBIBYTES = 10, 1024
# LLVM's allocators poison memory where they are compiled with the sanitizer, and libMLIR, which is not, then uses it.
OPTIONS = {"ASAN_OPTIONS": "allow_user_poisoning=0:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}


def run(command, **more):
    environment = {**os.environ, **OPTIONS}
    environment["PATH"] += ":/usr/lib/llvm-22/bin"
    return subprocess.run([str(word) for word in command], env=environment, check=False, **more)


def keep(fuzzer, reader, case, limits):
    """Makes `case` smaller where that is quick, and copies it to the regressions; returns its name there."""
    smaller = case.with_name(case.name + ".smaller")
    run([fuzzer, "-minimize_crash=1", "-max_total_time=20", *limits, f"-exact_artifact_path={smaller}", case],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    content = (smaller if smaller.exists() else case).read_bytes()
    folder = ROOT / "test" / "Fuzz" / "regressions" / reader
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / hashlib.sha1(content).hexdigest()[:12]
    kept.write_bytes(content)
    return kept.relative_to(ROOT)


def fuzz(reader, options):
    """Returns (a line that sums it up, the kept case or None)."""
    fuzzer = options.build / "bin" / f"fuzz-{reader}"
    folder = options.build / "fuzz" / reader
    xlc = options.xlc if options.xlc and options.xlc.exists() else None
    count = seeds.make(reader, folder / "seeds", xlc)
    if count == 0:
        return f"{reader}: no seeds; build the compiler first (scripts/build)", "nothing"
    for name in ("corpus", "found"):
        (folder / name).mkdir(exist_ok=True)
    dictionary = folder / "dictionary"
    stored = ROOT / "test" / "Fuzz" / "dictionaries" / f"{reader}.dict"
    dictionary.write_text(stored.read_text() + "\n".join(seeds.words(reader)) + "\n")
    limits = [f"-rss_limit_mb={MEBIBYTES}", f"-malloc_limit_mb={MEBIBYTES}", f"-timeout={SECONDS}"]
    before = set((folder / "found").iterdir())
    command = [fuzzer, f"-max_total_time={options.seconds}", f"-max_len={READERS[reader]}", f"-dict={dictionary}", f"-seed={options.seed}",
               "-print_final_stats=1", f"-artifact_prefix={folder / 'found'}/", *limits, folder / "corpus", folder / "seeds"]
    with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True, errors="replace",
                          env={**os.environ, **OPTIONS}) as process:
        figures = follow(process.stderr)
        process.wait()
    new = sorted(set((folder / "found").iterdir()) - before)
    case = keep(fuzzer, reader, new[0], limits) if new else None
    if process.returncode and not case:
        case = f"no case, exit code {process.returncode}"
    return (f"{reader}: {figures['runs']} executions, {figures['rate']} a second, {figures['coverage']} edges, "
            f"peak {figures['memory']} MiB: {f'found {case}' if case else 'nothing found'}"), case


def follow(lines):
    """Passes on what libFuzzer prints, but for the dictionary that it recommends; returns the last figures."""
    figures = dict.fromkeys(("runs", "rate", "coverage", "memory"), "?")
    for line in lines:
        if not re.search(r"# Uses: |recommended dictionary", line):
            print(line, end="", file=sys.stderr, flush=True)
        for name, pattern in (("coverage", r" cov: (\d+)"), ("runs", r"number_of_executed_units: +(\d+)"),
                              ("rate", r"average_exec_per_sec: +(\d+)"), ("memory", r"peak_rss_mb: +(\d+)")):
            if found := re.search(pattern, line):
                figures[name] = found[1]
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", choices=[*READERS, "all"], required=True)
    parser.add_argument("--seconds", type=int, default=600, help="of each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-fuzz", help="configured with -DXLC_FUZZ=ON")
    parser.add_argument("--xlc", type=pathlib.Path, default=ROOT / "build" / "bin" / "xlc", help="compiles the seeds that are programs")
    options = parser.parse_args()
    results = [fuzz(reader, options) for reader in (READERS if options.reader == "all" else [options.reader])]
    for line, _ in results:
        print(line)
    return 1 if any(case for _, case in results) else 0


if __name__ == "__main__":
    sys.exit(main())
