#!/usr/bin/env python3
"""Installs a wheel as users do, and trains with it: test/Package/install.py WHEEL [--keep FOLDER]. Needs root, debootstrap and a mirror.

In bare roots of Debian 12 and 13 that have python3 and python3-venv and nothing else, as an ordinary user and without a network: a virtual
environment, pip install, then `xlc plan`, `verify` and `compile` of the examples. What was compiled trains in a third root, a Debian 12
with nothing added; its losses are those of the example. Closes with `N passed, N failed`.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER = 1000
MOST = {"wheel": 80e6, "a program and its bundle": 45 << 20}  # bytes
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def call(*command, **options):
    """What a command says; raises where it fails."""
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"'{' '.join(map(str, command))}' ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def make_root(folder, suite, packages=""):
    call("unshare", "--mount", "debootstrap", "--variant=minbase", *([f"--include={packages}"] if packages else []), suite, folder)
    home = folder / "srv" / "user"
    home.mkdir()
    os.chown(home, USER, USER)


def enter(root, script):
    """Runs a script of the shell in a root: as an ordinary user, in an empty environment, with no network."""
    return call("unshare", "--mount", "--net", "--pid", "--fork", "sh", "-eu", "-c",
                'mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"; exec env -i /usr/sbin/chroot --userspec="$2:$2" "$1" '
                'env HOME=/srv/user LC_ALL=C.UTF-8 PATH="$3" sh -euc "cd; $4"', "enter", root, USER, PATH, script)


def install(folder, suite, wheel):
    """A root in which the wheel is installed, and GPT-2 compiled."""
    root = folder / suite
    make_root(root, suite, "python3,python3-venv")
    shutil.copy(wheel, root / "srv" / "user")
    enter(root, f"""
        for tool in cc c++ clang g++ ld ld.lld; do ! command -v $tool; done
        python3 -m venv venv
        venv/bin/pip install -q --no-index {wheel.name}
        examples=venv/share/xlc/examples
        venv/bin/xlc plan $examples/gpt2/loss.onnx --spec $examples/gpt2/zero3.yaml > plan
        grep -q 'fits\\|total' plan
        venv/bin/xlc verify $examples/mlp/logits.onnx --spec $examples/mlp/zero3.yaml | grep -q 'all equal'
        venv/bin/xlc compile $examples/mlp/logits.onnx --spec $examples/mlp/zero3.yaml -o mlp
        ./mlp --steps 2
        venv/bin/xlc compile $examples/gpt2/loss.onnx --spec $examples/gpt2/zero3.yaml -o train --bundle
        venv/bin/python -c 'import xlc; print(xlc.version(), xlc.plan("'$examples'/mlp/logits.onnx", "'$examples'/mlp/zero3.yaml").fits)'
        """)
    return root


def train_elsewhere(folder, compiled):
    """The program of a root, in one with nothing but a minimal Debian; its losses beside the example's."""
    root = folder / "minbase"
    make_root(root, "bookworm")
    home, example = root / "srv" / "user", ROOT / "examples" / "gpt2"
    made = compiled / "srv" / "user"
    for name in ("train", "train.safetensors"):
        shutil.copy(made / name, home)
    shutil.copytree(made / "train.libs", home / "train.libs")
    for path in example.glob("*.npy"):
        shutil.copy(path, home)
    enter(root, "./train --steps 20 --data . --log log.jsonl")
    call(sys.executable, ROOT / "examples" / "compare.py", home / "log.jsonl", example / "expected.json")
    bytes_of = sum(path.stat().st_size for path in (home / "train", *(home / "train.libs").iterdir()))
    if bytes_of > MOST["a program and its bundle"]:
        raise RuntimeError(f"a program and its bundle have {bytes_of} bytes, at most {MOST['a program and its bundle']} are wanted")


def check_size(wheel):
    if wheel.stat().st_size > MOST["wheel"]:
        raise RuntimeError(f"the wheel has {wheel.stat().st_size} bytes, at most {MOST['wheel']:.0f} are wanted")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    options = parser.parse_args()
    counts = {"passed": 0, "failed": 0}

    def check(name, work):
        try:
            result = work()
        except Exception as problem:  # pylint: disable=broad-except  # the other checks still run
            print(f"FAIL {name}\n     {problem}", flush=True)
            counts["failed"] += 1
            return None
        print(f"PASS {name}", flush=True)
        counts["passed"] += 1
        return result

    wheel = options.wheel.resolve()
    with tempfile.TemporaryDirectory(prefix="xlc-package-") as work:
        folder = pathlib.Path(work)
        os.chmod(folder, 0o755)
        check("size of the wheel", lambda: check_size(wheel))
        roots = [check(f"install on {suite}", lambda suite=suite: install(folder, suite, wheel)) for suite in ("bookworm", "trixie")]
        if compiled := next(filter(None, roots), None):
            check("train on a machine with nothing", lambda: train_elsewhere(folder, compiled))
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
