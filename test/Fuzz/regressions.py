"""Feeds the files of test/Fuzz/regressions to the compiler as users do: models and specs that once were, or could have been, the
end of it. Each ends within ten seconds and 2 GB, accepted or with an error. The files that programs read are fed to their readers
by unittests/Runtime/RegressionsTest.cpp.
"""

import argparse
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "test" / "Fuzz" / "regressions"
MODEL, SPEC = ROOT / "examples" / "mlp" / "logits.onnx", ROOT / "examples" / "mlp" / "one-rank.yaml"
SECONDS, BYTES = 10, 2 << 30  # of address space, as in fuzz.py


def find_fault(command):
    """What must not happen, in words, or None."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=SECONDS, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)))
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    if done.returncode not in (0, 1, 3):
        return f"exit code {done.returncode}"
    return "refused without an error" if done.returncode == 1 and b"error:" not in done.stderr else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", default=ROOT / "build" / "bin" / "xlc")
    xlc = parser.parse_args().xlc
    commands = {path: [xlc, "plan", MODEL, "--spec", path] for path in sorted((KEPT / "yaml").iterdir())}
    models = sorted((KEPT / "onnx").iterdir())
    faults = 0
    for path, command in [*commands.items(), *[(path, [xlc, "inspect", path]) for path in models],
                          *[(path, [xlc, "plan", path, "--spec", SPEC]) for path in models]]:
        if fault := find_fault(command):
            faults += 1
            print(f"{path.relative_to(KEPT)}: {command[1]}: {fault}")
    print(f"{len(commands)} specs and {len(models)} models, {faults} faults")
    return 1 if faults or not commands or not models else 0


if __name__ == "__main__":
    sys.exit(main())
