"""Trains every model in every layout and compares with PyTorch's run; then the promises beside the numbers.

    run_matrix.py --xlc build/bin/xlc                a fixed sample, and the promises
    run_matrix.py --xlc build/bin/xlc --all          all of them
    run_matrix.py --xlc build/bin/xlc --only 'gpt2-tiny/loss.*stage 3'

One line per case; the last line is `N passed, N failed`. `--results FILE` writes both numbers and the seconds of each case as JSON.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import sys
import tempfile
import traceback

import adapters
import cases
import chargpt
import charts
import checkpoint_calls
import checkpoint_launchers
import checkpoints
import compare
import compositions
import damaged
import data
import dropout
import ema
import evaluation
import examination
import failing_calls
import full_size
import gpus
import hosts
import judged
import metrics
import mixed
import norms
import power_cut
import predictions
import processes
import program
import promises
import replicas
import scaled
import scheduled
import wrong_data

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import tally  # noqa: E402  pylint: disable=wrong-import-position


def run_case(setting, case):
    """Complaints about one case."""
    trace = program.read_trace(setting, case)
    trained = program.Program.of_case(setting, case, trace)
    if case.pp * case.tp > 1:  # memory that is not live is poisoned, and every byte and slot is counted
        trained.train(trace["steps"], "--check", "--stats", trained.folder / "run.stats")
    else:
        trained.train(trace["steps"])
    found = list(compare.compare_steps(trained.log(), trace))
    found += compare.compare_stats(trained.stats() if case.pp * case.tp > 1 else {})
    final = setting.models / case.folder / f"final-{case.trace}.json"
    found += compare.compare_averages(trained.parameters(), case.folder)
    found += compare.compare_parameters(trained.parameters(), trace, final)
    shutil.rmtree(trained.folder)
    return found


def attempt(name, check):
    """Runs one check and prints a line about it; returns whether it passed, None where it was skipped."""
    try:
        with tally.timed(name):
            complaints = list(check() or [])
    except promises.Skipped as reason:
        print(f"SKIP {name}: {reason}", flush=True)
        return None
    except program.CommandFailed as problem:
        complaints = [str(problem)]
    except Exception:  # a broken test is a failure, and the others still run
        complaints = [traceback.format_exc()]
    word = "FAIL" if complaints else "PASS"
    print("\n     ".join([f"{word} {name} ({tally.SECONDS[name]:.1f} s)", *complaints]), flush=True)
    return not complaints


def entry_of(setting, name, check):
    """A check that has a folder of its own."""
    def call():
        own = setting.scratch / re.sub("[^a-z0-9]+", "-", name.lower())
        own.mkdir()
        yield from check(dataclasses.replace(setting, scratch=own)) or ()
    return name, call


def run_lanes(lanes):
    """The outcomes of the checks of several lanes, which run side by side, each as many checks at a time as it has jobs."""
    with contextlib.ExitStack() as stack:
        pools = [stack.enter_context(concurrent.futures.ThreadPoolExecutor(jobs)) for jobs, _ in lanes]
        running = [pool.submit(attempt, *entry) for pool, (_, entries) in zip(pools, lanes) for entry in entries]
        return [one.result() for one in running]


def parse_arguments():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, default=root / "build" / "bin" / "xlc")
    parser.add_argument("--models", type=pathlib.Path, default=root / "test" / "Inputs" / "models")
    parser.add_argument("--all", action="store_true", help="the whole matrix instead of the sample")
    parser.add_argument("--only", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time")
    tally.add_option(parser)
    return parser.parse_args()


def main():
    options = parse_arguments()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="xlc-end-to-end-") as scratch:
        setting = program.Setting(options.xlc.resolve(), options.models.resolve(), pathlib.Path(scratch))
        matrix = [(str(case), lambda case=case: run_case(setting, case))
                  for case in (cases.list_cases() if options.all else cases.sample_cases())]
        checks = mixed.list_checks(options.all) + scaled.list_checks(options.all) + compositions.list_precise_proofs(options.all)
        checks += wrong_data.list_checks()
        for room in (chargpt, adapters, charts, dropout, ema, evaluation, examination, judged, metrics, norms, predictions, gpus, failing_calls, data, checkpoints, checkpoint_calls, power_cut, damaged, checkpoint_launchers, replicas):
            checks += room.list_checks(options.all)
        checks += (compositions.list_proofs() + full_size.CHECKS) * options.all
        matrix = [entry_of(setting, *check) for check in promises.PROMISES + scheduled.CHECKS + checks] + matrix  # those that take longest first
        of_ranks = {(room, when): [entry_of(setting, *check) for check in room.list_checks(getattr(room, when), options.all)]
                    for room in (processes, hosts) for when in ("BESIDE", "WAITING", "ALONE")}
        beside, alone = (of_ranks[processes, when] + of_ranks[hosts, when] for when in ("BESIDE", "ALONE"))
        alone += [entry_of(setting, *check) for check in (*promises.ONE_AT_A_TIME, *data.list_measurements(options.all))]
        # In this order: checks that compute, checks of timeouts, which mostly wait, and checks that must run alone.
        lanes = ([(options.jobs, matrix), (1, beside)], [(1, of_ranks[room, "WAITING"]) for room in (processes, hosts)], [(1, alone)])
        for at_once in lanes:
            outcomes += run_lanes([(jobs, [entry for entry in entries if re.search(options.only, entry[0])]) for jobs, entries in at_once])
    passed, failed = outcomes.count(True), outcomes.count(False)
    return tally.end(options.results, passed, failed)


if __name__ == "__main__":
    sys.exit(main())
