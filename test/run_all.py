"""Runs every kind of test of a built tree and adds up what passed and failed: scripts/test without the build.

Nine kinds: lit (one claim per file), GoogleTest (pure algorithms), some of both under sanitizers, end to end (compiled
programs against PyTorch's losses), random models (against a reference in plain Python; on the simulated GPU too), hostile files, bad days (full
disks, limits, signals) and what tools say of the source. Each reports its own failures as it goes; the last line
is the sum. A kind that cannot even report counts as one failure, so that a crash of a test program is never a success, and so does one
that has outgrown its budget of cases.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LIT = "/usr/lib/llvm-22/bin/lit"
SECONDS = {}  # kind: {case: how long it took}
FAILURES = []  # a line for each that has a name, repeated before the sum: a log of 30 minutes is read from its end
SLOWEST = 20  # cases that are printed
# Cases of a kind, without --all. One that has a fifth more fails: whoever adds many takes others out, or raises the figure and says why.
# Seconds depend on the machine, and are printed only.
BUDGETS = {"lit": 400, "unit tests": 1010, "sanitizers": 400, "end to end": 345, "random models": 100,
           "random models on simulated GPUs": 15, "hostile files": 930, "bad days": 31, "source": 720}
PROGRAM_SECONDS = 900  # of a program of unit tests; one that hangs is a failure, not a run without an end


def keep_seconds(seconds):
    """Of cases of the kind that runs."""
    SECONDS[list(SECONDS)[-1]] |= seconds


def tell_seconds(build, kinds):
    """Keeps all in the build folder, and prints the slowest cases."""
    file = build / "test-seconds.json"
    file.write_text(json.dumps({"kinds": kinds, "cases": SECONDS}, indent=1))
    cases = [(seconds, kind, name) for kind, of_kind in SECONDS.items() for name, seconds in of_kind.items()]
    print(f"the slowest of {len(cases)} cases (all are in {file}):")
    for seconds, kind, name in sorted(cases, reverse=True)[:SLOWEST]:
        print(f"  {seconds:6.1f} s  {kind}: {name}")


def run_lit(build, *options, environment=None):
    """lit's own JSON says what became of each test; a test that cannot run here (no full-size models) is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "lit.json"
        command = [LIT, "-v", *options, "-o", str(results), str(build / "test")]
        subprocess.run(command, env=environment, check=False)
        tests = json.loads(results.read_text())["tests"] if results.exists() else []
    codes = [test["code"] for test in tests]
    keep_seconds({test["name"]: test["elapsed"] for test in tests if test["elapsed"]})
    FAILURES.extend(f"{test['code']} {test['name']}" for test in tests if test["code"] in ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT"))
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    failed = sum(code in ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT") for code in codes)
    skipped = len(codes) - passed - failed
    if skipped:
        print(f"lit: {skipped} tests need files or options that are not here")
    return (passed, failed) if codes else (0, 1)


def run_shard(line, shard, shards, options, environment):
    """A part of the cases of a GoogleTest program. Returns the numbers of those that passed, failed and were skipped."""
    name = pathlib.Path(line).name
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        try:
            code = subprocess.run([line, "--gtest_brief=1", f"--gtest_output=json:{path}", *options], timeout=PROGRAM_SECONDS, check=False,
                                  env=dict(environment or os.environ, GTEST_TOTAL_SHARDS=str(shards), GTEST_SHARD_INDEX=str(shard))).returncode
        except subprocess.TimeoutExpired:
            code = 1
            print(f"{line} was killed: it took more than {PROGRAM_SECONDS} s")
        report = json.loads(path.read_text()) if path.exists() else {"tests": 0, "failures": 0, "testsuites": []}
    is_incomplete = code != 0 and report["failures"] == 0
    if is_incomplete:
        print(f"{line} ended with {code} before it could report")
        FAILURES.append(f"FAIL {name}: ended with {code} before it could report")
    cases = [case for suite in report["testsuites"] for case in suite["testsuite"]]
    keep_seconds({f"{name}: {case['classname']}.{case['name']}": float(case["time"].rstrip("s")) for case in cases})
    FAILURES.extend(f"FAIL {name}: {case['classname']}.{case['name']}" for case in cases if "failures" in case)
    passed = sum(case["result"] == "COMPLETED" for case in cases) - report["failures"]
    return passed, report["failures"] + is_incomplete, sum(case["result"] == "SKIPPED" for case in cases)


def exceed_budget(kind, cases):
    """What is wrong with the number of cases of a kind, or nothing."""
    budget = BUDGETS.get(kind, cases)
    if cases <= 1.2 * budget:
        return ""
    return f"{kind} has {cases} cases, more than a fifth over its budget of {budget} (BUDGETS in run_all.py)"


def list_programs(build):
    """The build lists its GoogleTest programs in unittests/programs.txt."""
    return (build / "unittests" / "programs.txt").read_text().splitlines()


def list_nvidia_tests():
    """Lit tests whose tools are NVIDIA's."""
    folder = pathlib.Path(__file__).parent
    return [path for path in sorted(folder.rglob("*.*")) if path.suffix in (".mlir", ".test") and "REQUIRES: ptxas" in path.read_text()]


def run_nvidia(build):
    """What needs NVIDIA's assembler or headers: the lit tests alone, and unit tests that compare our declarations with theirs."""
    names = "|".join(re.escape(str(path.relative_to(pathlib.Path(__file__).parent))) for path in list_nvidia_tests())
    passed, failed = run_lit(build, "--filter", f":: ({names})$")
    programs = [line for line in list_programs(build) if pathlib.Path(line).name in ("CudaTests", "CudaDriverTests")]
    more_passed, more_failed = run_unit_tests(programs, "--gtest_filter=Real*")
    if passed + more_passed + failed + more_failed == 0:
        print("no test ran: NVIDIA's tools and headers are not on this machine; scripts/setup --cuda brings them")
    return passed + more_passed, failed + more_failed


def run_unit_tests(programs, *options, environment=None):
    """GoogleTest programs, each in two shards for each processor. One shard more than there are processors runs at a time, because some tests wait."""
    processors = os.cpu_count() or 1
    shards = 2 * processors
    totals = [0, 0]
    with concurrent.futures.ThreadPoolExecutor(processors + 1) as pool:
        of_programs = [[pool.submit(run_shard, line, shard, shards, options, environment) for shard in range(shards)] for line in programs]
        for line, of_shards in zip(programs, of_programs):
            passed, failed, skipped = (sum(numbers) for numbers in zip(*(one.result() for one in of_shards)))
            what_is_missing = f", {skipped} need what is not on this machine" if skipped else ""
            print(f"{pathlib.Path(line).name}: {passed} passed, {failed} failed{what_is_missing}", flush=True)
            totals = [totals[0] + passed, totals[1] + failed]
    return tuple(totals) if sum(totals) else (0, 1)


# What reads a stranger's files. Left out: what links a program, takes all memory that it may, or many seconds.
SANITIZED = (":: (Spec|Import)/(?!bad-names|endless|export-record|no-ignored|operators|state-dict|respelled|parameter-lists|deep|ids-are|"
             "full-size)[a-z-]+[.]test")


def list_tests_of_xlc_opt():
    """Lit tests that call a program which the sanitized tree lacks, relative to this folder."""
    folder = pathlib.Path(__file__).parent
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.test")) if "RUN: xlc-opt" in path.read_text()]


def run_sanitized(build):
    """A sample of lit and unit tests of a tree that was built with the address and undefined-behaviour sanitizers."""
    # The compiler ends without freeing its context. Rooms without sanitizers share templates and containers with those
    # that have them, and take memory from slabs that these have poisoned.
    environment = dict(os.environ, XLC_TEST_EVERY="8", UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
                       ASAN_OPTIONS="detect_leaks=0:allow_user_poisoning=0:detect_container_overflow=0")
    left_out = "|".join(re.escape(name) for name in list_tests_of_xlc_opt())
    passed, failed = run_lit(build, "--filter", SANITIZED, "--filter-out", f":: ({left_out})$", environment=environment)
    environment.pop("ASAN_OPTIONS")
    # Only some are built so. What mutates files for a while is the fuzzers' work; what is large runs no other code; where memory is out
    # the sanitizer ends the process, instead of std::bad_alloc.
    programs = [line for line in list_programs(build) if pathlib.Path(line).exists()]
    filtered = "--gtest_filter=-*NoMutated*:Strangers.MemoryThatIsNotThere*:*.Large*:Placement.SteadyState*:Placement.Training*"
    for more in (run_unit_tests(programs, filtered, environment=environment), replay_found(build)):
        passed, failed = passed + more[0], failed + more[1]
    return passed, failed


def replay_found(build):
    """Each fuzzer reads what it found in earlier runs, as far as it was kept."""
    passed = failed = 0
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="allow_user_poisoning=0:detect_container_overflow=0")
    for folder in sorted((pathlib.Path(__file__).parent / "Fuzz" / "regressions").iterdir()):
        fuzzer = build / "bin" / f"fuzz-{folder.name}"
        code = subprocess.run([fuzzer, *sorted(folder.iterdir())], env=environment, stderr=subprocess.PIPE, text=True, check=False)
        if code.returncode:
            print(f"{fuzzer.name}: exit code {code.returncode}\n{code.stderr[-2000:]}")
        passed, failed = passed + (code.returncode == 0), failed + (code.returncode != 0)
    return passed, failed


def run_script(build, script, *options):
    """A runner of this folder that prints a line per failure and writes `passed` and `failed` to --results."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        runner = pathlib.Path(__file__).parent / script
        command = [sys.executable, str(runner), "--xlc", str(build / "bin" / "xlc"), "--results", str(results)]
        subprocess.run([*command, *options], check=False)
        report = json.loads(results.read_text()) if results.exists() else {"passed": 0, "failed": 1}
    keep_seconds(report.get("seconds", {}))
    return report["passed"], report["failed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build tree")
    parser.add_argument("--sanitized", type=pathlib.Path, default=pathlib.Path("build-sanitize"), help="a tree built with sanitizers")
    parser.add_argument("--all", action="store_true", help="the long lists too")
    parser.add_argument("--nvidia", action="store_true", help="only the tests that need NVIDIA's tools or headers")
    options = parser.parse_args()
    build = options.build.resolve()

    every = ["--all"] * options.all
    kinds = [("lit", lambda: run_lit(build, *["--param", "all=1"] * options.all)), ("unit tests", lambda: run_unit_tests(list_programs(build))),
             ("sanitizers", lambda: run_sanitized(options.sanitized.resolve())),
             ("end to end", lambda: run_script(build, "EndToEnd/run_matrix.py", *every)),
             ("random models", lambda: run_script(build, "Random/run.py", "--count", "2000" if options.all else "100")),
             ("random models on simulated GPUs",
              lambda: run_script(build, "Random/run.py", "--target", "cuda", "--count", "400" if options.all else "15")),
             ("hostile files", lambda: run_script(build, "Hostile/run.py")),
             ("bad days", lambda: run_script(build, "Stress/stress.py")),
             ("source", lambda: run_script(build, "Lint/source.py", "--build", str(build)))]
    if options.nvidia:
        kinds = [("NVIDIA's tools and headers", lambda: run_nvidia(build))]
    passed, failed, seconds = 0, 0, {}
    for name, run in kinds:
        print(f"== {name}", flush=True)
        start, SECONDS[name] = time.monotonic(), {}
        more_passed, more_failed = run()
        seconds[name] = round(time.monotonic() - start, 1)
        print(f"== {name}: {more_passed} passed, {more_failed} failed ({seconds[name]:.0f} s)", flush=True)
        if not options.all and (problem := exceed_budget(name, more_passed + more_failed)):
            print(problem)
            FAILURES.append(problem)
            more_failed += 1
        passed, failed = passed + more_passed, failed + more_failed
        if more_failed:
            FAILURES.append(f"{more_failed} of {name}")
    tell_seconds(build, seconds)
    for line in FAILURES:
        print(f"failed: {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
