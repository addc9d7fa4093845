"""Random small models, compiled, trained and compared with an independent reference (scripts/random).

    run.py --count 2000 --seed 0 --jobs 2          cases 0 to 1999 of the seed
    run.py --target cuda                           on simulated GPUs, one for each rank
    run.py --repeat FOLDER                         one case again, from the files that a failure left
    run.py --only 17 --seed 0                      one case of the seed

What failed is shrunk and left in a folder (--keep), with the command that repeats it. The last line is the summary; the
exit code says whether anything was wrong, or more than a fifth was refused.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

import exporting
import generate
import judge
import network as networks
import shrink
from builder import Reject
from judge import Verdict
from layouts import Layout
from places import ROOT
from tensors import Array

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import tally  # noqa: E402  pylint: disable=wrong-import-position

VERIFIED = 12  # one in so many cases is verified too
REFUSED = 0.2  # of all cases, at most
SHRUNK, SHRUNK_MISMATCHES = 2, 12  # failures of one way that are made small; the others are left as they are


def find_case(seed, number, has_gpus, form=None):
    """The case of a number; where the first attempt leads nowhere, the next one of the same number."""
    for attempt in range(50):
        try:
            return generate.generate(seed, f"{number}/{attempt}", has_gpus, form)
        except Reject:
            continue
    raise Reject("no attempt leads anywhere")


def save_case(case, folder):
    (folder / "case.json").write_text(json.dumps({
        "network": networks.to_json(case.network), "layout": dataclasses.asdict(case.layout), "steps": case.steps,
        "form": case.form, "shared": case.shared, "data": {name: [array.kind, array.shape, array.data] for name, array in case.data.items()}}))


def load_case(folder):
    tree = json.loads((folder / "case.json").read_text())
    data = {name: Array(shape, values, kind) for name, (kind, shape, values) in tree["data"].items()}
    return generate.Case(networks.from_json(tree["network"]), Layout(**tree["layout"]), data, tree["steps"], tree["form"],
                         tree["shared"])


def judge_case(case, options, folder, verifies):
    try:
        return judge.run(case, options.xlc, options.target, folder, verifies)
    except Exception:  # an error of the test is a failure, and the others still run
        return Verdict("wrong", "the test itself: " + traceback.format_exc().strip().split("\n")[-1] + "\n" + traceback.format_exc())


def keep_failure(case, verdict, number, options, verifies):
    """Shrinks, and writes the result down. Returns the folder."""
    scratch = options.scratch / f"{number}-shrinking"
    options.failures[shrink.way(verdict)] += 1
    if options.shrink and options.failures[shrink.way(verdict)] <= (SHRUNK_MISMATCHES if verdict.text.startswith("mismatch") else SHRUNK):
        case = shrink.shrink(case, lambda other: judge_case(other, options, scratch, verifies), shrink.way(verdict), options.shrink)
    folder = options.keep / f"{options.seed}-{number}"
    verdict = judge_case(case, options, folder, verifies)
    folder.mkdir(parents=True, exist_ok=True)
    save_case(case, folder)
    (folder / "verdict.txt").write_text(f"{verdict.kind}: {verdict.text}\n")
    shutil.rmtree(scratch, ignore_errors=True)
    return folder


def run_number(number, options):
    with tally.timed(f"case {number}"):
        return find_verdict(number, options)


def find_verdict(number, options):
    """(the number, its Verdict, the folder of what failed)"""
    folder = options.scratch / str(number)
    verifies = number % VERIFIED == 0
    try:
        case = find_case(options.seed, number, options.target.has_gpus, options.form)
    except Reject as reason:
        return number, Verdict("wrong", f"the generator: {reason}"), None
    verdict = judge_case(case, options, folder, verifies)
    kept = None
    if verdict.kind == "wrong":
        kept = keep_failure(case, verdict, number, options, verifies)
    shutil.rmtree(folder, ignore_errors=True)
    return number, verdict, kept


def report(number, verdict, kept, target):
    if verdict.kind != "wrong":
        return
    print(f"WRONG {number}: {verdict.text}", flush=True)
    if kept:
        print(f"     repeat with: python3 {os.path.relpath(__file__)} --target {target} --repeat {kept}", flush=True)


def repeat(options):
    with tempfile.TemporaryDirectory(prefix="xlc-random-") as scratch:
        verdict = judge_case(load_case(options.repeat), options, pathlib.Path(scratch) / "case", True)
        print((options.repeat / "network.txt").read_text(), end="")
    print(f"{verdict.kind}: {verdict.text}")
    return int(verdict.kind == "wrong")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, default=ROOT / "build" / "bin" / "xlc")
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, help="the case of this number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--form", choices=exporting.FORMS, help="writes all files so, but those of pipelines with cuts; else one in four as an exporter")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shrink", type=int, default=shrink.RUNS, help="runs to spend on making a failure small; 0: none")
    parser.add_argument("--until", default="", help="ends at the first failure whose text contains this; 'any': at any")
    parser.add_argument("--keep", type=pathlib.Path, help="where failures are left")
    parser.add_argument("--repeat", type=pathlib.Path, help="a folder that a failure left")
    tally.add_option(parser)
    return parser.parse_args()


def run_all(options):
    """(counts by kind, messages by kind and signature), with a progress line now and then."""
    counts, messages, begin = collections.Counter(), collections.defaultdict(list), time.monotonic()
    numbers = [options.only] if options.only is not None else range(options.first, options.first + options.count)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(run_number, number, options) for number in numbers]
        for future in concurrent.futures.as_completed(futures):
            number, verdict, kept = future.result()
            counts[verdict.kind] += 1
            if verdict.kind != "right":
                messages[verdict.kind, verdict.signature].append(number)
            report(number, verdict, kept, options.target.name)
            if sum(counts.values()) % 100 == 0:
                print(f"{sum(counts.values())} of {len(futures)}, {time.monotonic() - begin:.0f} s: {dict(counts)}", flush=True)
            if verdict.kind == "wrong" and options.until and (options.until == "any" or options.until in verdict.text):
                for each in futures:
                    each.cancel()
                print(f"found by case {number}, after {sum(counts.values())} cases")
                break
    return counts, messages


def main():
    options = parse_arguments()
    options.xlc, options.failures = options.xlc.resolve(), collections.Counter()
    options.target = judge.find_target(options.target, options.xlc)
    if options.repeat:
        return repeat(options)
    options.keep = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="xlc-random-"))
    with tempfile.TemporaryDirectory(prefix="xlc-random-") as scratch:
        options.scratch = pathlib.Path(scratch)
        counts, messages = run_all(options)
    for (kind, signature), numbers in sorted(messages.items(), key=lambda item: (item[0][0], -len(item[1]))):
        print(f"{kind} {len(numbers)}: {signature} {sorted(numbers)[:8]}")
    total = sum(counts.values())
    too_many = total >= 25 and counts["refused"] > REFUSED * total
    if too_many:
        print(f"{counts['refused']} of {total} cases are refused: the generator says little")
    failed = counts["wrong"] + too_many
    tally.write(options.results, total - counts["wrong"], failed)
    print(f"{total} programs: {counts['right']} right, {counts['refused']} refused, {counts['warned']} warned, "
          f"{counts['unsure']} unsure, {counts['wrong']} wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
