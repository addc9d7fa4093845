"""Feeds mutated specs and models to `xlc plan` and looks for what must never happen: a crash (a signal, or exit code 70), more
than 10 seconds of a processor, two minutes without an end, more than 2 GB. Prints how far the mutants got; bad ones are kept in a folder that is named at the end.

The same --seed gives the same mutants in the same order; how many depends on the machine.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import graph
import mutate

SECONDS, BYTES = 10, 2 << 30  # seconds of a processor: a machine may be busy with other things
WAIT = 120  # seconds, for what waits and computes nothing
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = [(ROOT / "examples" / model, ROOT / "examples" / spec) for model, spec in [
    ("mlp/logits.onnx", "mlp/zero3.yaml"), ("mlp/logits.onnx", "mlp/ddp.yaml"), ("mlp/logits.onnx", "mlp/zero2.yaml"),
    ("gpt2/loss.onnx", "gpt2/zero3.yaml"), ("gpt2/loss.onnx", "gpt2/zero1.yaml"), ("gpt2/logits.onnx", "gpt2/logits.yaml"),
    ("gpt2/loss.onnx", "gpt2/tp2.yaml"), ("gpt2/loss.onnx", "gpt2/pp2.yaml"), ("gpt2/loss.onnx", "gpt2/3d-zero3.yaml")]]
PAIRS += [(ROOT / "test" / "Inputs" / "models" / "gpt2-tiny" / f"{model}.onnx", ROOT / "examples" / "gpt2" / "zero1.yaml")
          for model in ("loss-torchscript", "loss-unoptimized")]
KINDS = [("spec bytes", True, mutate.mutate_bytes), ("spec structure", True, mutate.mutate_spec),
         ("model bytes", False, mutate.mutate_bytes), ("model structure", False, mutate.mutate_model),
         ("model graph", False, graph.mutate_graph),
         ("model graph", False, graph.mutate_graph)]  # twice: there is the most to find


class Mutant:
    """A pair of files, one of them damaged, in a folder of its own."""

    def __init__(self, folder, seed, number):
        generator = random.Random(f"{seed}/{number}")
        model, spec = generator.choice(PAIRS)
        self.kind, damages_spec, damage = generator.choice(KINDS)
        self.folder = folder / f"{number}"
        self.folder.mkdir()
        self.model, self.spec = self.folder / "model.onnx", self.folder / "spec.yaml"
        self.model.write_bytes(model.read_bytes() if damages_spec else damage(generator, model.read_bytes()))
        self.spec.write_bytes(damage(generator, spec.read_bytes()) if damages_spec else spec.read_bytes())
        for weights in model.parent.glob("*.data"):
            shutil.copy(weights, self.folder)


def limit(sanitized):
    """Processor time, and address space; a sanitized program reserves terabytes of that, so that there the sanitizer's own limit
    holds."""
    seconds = SECONDS * (3 if sanitized else 1)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def run(xlc, mutant, sanitized):
    """Returns (the last phase that passed, why it is bad or None)."""
    dumps = mutant.folder / "phases"
    command = [xlc, "plan", mutant.model, "--spec", mutant.spec, "--dump-phases", dumps]
    # LLVM's allocators poison memory where they are compiled with the sanitizer, and libMLIR, which is not, then uses it.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allow_user_poisoning=0:hard_rss_limit_mb=2048",
                   "UBSAN_OPTIONS": "halt_on_error=1"}
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=WAIT,
                              preexec_fn=lambda: limit(sanitized), env=environment, check=False)
    except subprocess.TimeoutExpired:
        return find_reached(dumps), f"no end within {WAIT} s"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return find_reached(dumps), f"no end within {SECONDS} s of a processor"
    (mutant.folder / "stderr").write_bytes(done.stderr)
    reached = "Report" if done.returncode in (0, 3) else find_reached(dumps)
    if reached == "nothing" and b"spec.yaml:" not in done.stderr:
        reached = "Spec"
    if done.returncode not in (0, 1, 3):
        return reached, f"exit code {done.returncode}"
    if done.returncode == 1 and b"error:" not in done.stderr:
        return reached, "rejected without an error message"
    return reached, None


def find_reached(dumps):
    passed = sorted(path.stem for path in dumps.glob("*.mlir"))  # numbered in the order of the phases
    return passed[-1].split("-", 1)[1] if passed else "nothing"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, default=ROOT / "build" / "bin" / "xlc")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sanitize", action="store_true", help="the driver is sanitized: other limits")
    return parser.parse_args()


def main():
    options = parse_arguments()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="xlc-fuzz-"))
    end = time.monotonic() + options.seconds
    reached, bad, numbers, lock = collections.Counter(), [], iter(range(1 << 60)), threading.Lock()

    def work():
        while time.monotonic() < end:
            with lock:
                number = next(numbers)
            mutant = Mutant(folder, options.seed, number)
            phase, problem = run(options.xlc, mutant, options.sanitize)
            with lock:
                reached[mutant.kind, phase] += 1
                if problem:
                    bad.append((number, mutant.kind, phase, problem))
            if problem:
                print(f"BAD {mutant.kind} after {phase}: {problem}: {mutant.folder}", flush=True)
            else:
                shutil.rmtree(mutant.folder)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(options.jobs)]:
            worker.result()
    phases = ["nothing", "Spec", "Import", "Differentiate", "Stage", "DataParallel", "Schedule", "Memory", "Report"]
    print("last phase that passed:\n" + " " * 16 + "".join(f"{phase:>14}" for phase in phases))
    for kind in dict.fromkeys(kind for kind, _, _ in KINDS):
        print(f"{kind:<16}" + "".join(f"{reached[kind, phase]:>14}" for phase in phases))
    if not bad:
        shutil.rmtree(folder)
    print(f"{sum(reached.values())} mutants, {len(bad)} crashed, hung, took too much or were rejected without a message")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
