#!/usr/bin/env python3
"""The shortened form of install.py, for every run of the tests: test/Package/staged.py FOLDER, after `scripts/package --wheel --output FOLDER`.

The wheel in FOLDER is unpacked as pip does it, into a root that has the C library and nothing else: no shell, no compiler, no linker, no
C++ library. There `xlc` plans, verifies and compiles, and what it has compiled trains with its bundle and the losses of the example, as an
ordinary user. Outside of that root the package of Python finds and starts the command that lies beside it.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What Debian's libc6 has of what programs name as needed.
C_LIBRARY = ("ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")
USER = 1000


def unpack(wheel, prefix):
    """Data and commands to where a prefix has them, and packages to lib/python."""
    with zipfile.ZipFile(wheel) as file:
        for entry in file.infolist():
            parts = pathlib.PurePath(entry.filename).parts
            if parts[0].endswith(".data"):
                to = prefix.joinpath(*(("bin",) if parts[1] == "scripts" else ()), *parts[2:])
            else:
                to = prefix.joinpath("lib", "python", *parts)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(file.read(entry))
            to.chmod(entry.external_attr >> 16 & 0o777 or 0o644)


def make_root(root):
    """Libraries where Debian has them."""
    libraries = root / "lib" / "x86_64-linux-gnu"
    libraries.mkdir(parents=True)
    for name in C_LIBRARY:
        shutil.copy(pathlib.Path("/lib/x86_64-linux-gnu") / name, libraries)
    (root / "lib64").mkdir()
    (root / "lib64" / C_LIBRARY[0]).symlink_to(f"/lib/x86_64-linux-gnu/{C_LIBRARY[0]}")
    for name in ("job", "tmp", "proc", "dev"):
        (root / name).mkdir()
        (root / name).chmod(0o777)


def enter(root, *command):
    """A command in the root: what it says."""
    ids = f"{USER}:{USER}" if os.geteuid() == 0 else "0:0"
    space = ["unshare", "--mount", "--net"] if os.geteuid() == 0 else ["unshare", "-Urmn"]
    words = [*space, "sh", "-eu", "-c", 'mount --rbind /proc "$1/proc"; mount --rbind /dev "$1/dev"; root=$1; shift; cd "$root/job"; exec "$@"', "enter",
             root, "env", "-i", "LC_ALL=C.UTF-8", "/usr/bin/python3", "-c",
             "import os, sys; root, ids, *command = sys.argv[1:]; os.chroot(root); os.chdir('/job'); user, group = map(int, ids.split(':'));"
             "os.setgroups([]) if user else None; os.setgid(group); os.setuid(user); os.execv(command[0], command)", root, ids, *command]
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"'{' '.join(map(str, command))}' ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def use(root):
    mlp, gpt2 = "/xlc/share/xlc/examples/mlp", "/xlc/share/xlc/examples/gpt2"
    print(enter(root, "/xlc/bin/xlc", "--version"), flush=True)
    print(enter(root, "/xlc/bin/xlc", "plan", f"{gpt2}/loss.onnx", "--spec", f"{gpt2}/zero3.yaml"), flush=True)
    print(enter(root, "/xlc/bin/xlc", "verify", f"{mlp}/logits.onnx", "--spec", f"{mlp}/zero3.yaml"), flush=True)
    enter(root, "/xlc/bin/xlc", "compile", f"{gpt2}/loss.onnx", "--spec", f"{gpt2}/zero3.yaml", "-o", "train", "--bundle")
    enter(root, "/job/train", "--steps", "20", "--data", gpt2, "--log", "log.jsonl")
    subprocess.run([sys.executable, ROOT / "examples" / "compare.py", root / "job" / "log.jsonl", ROOT / "examples" / "gpt2" / "expected.json"], check=True)


def import_package(prefix):
    script = ("import xlc, sys; folder = sys.argv[1]; "
              "assert xlc.__file__.startswith(folder), xlc.__file__; "
              "example = folder + '/share/xlc/examples/mlp'; print(xlc.plan(example + '/logits.onnx', example + '/zero3.yaml').fits)")
    subprocess.run([sys.executable, "-c", script, prefix], check=True, cwd=prefix,
                   env={**os.environ, "PYTHONPATH": str(prefix / "lib" / "python"), "XLC": str(prefix / "bin" / "xlc")})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="with a wheel; the root is made in it")
    folder = parser.parse_args().folder.resolve()
    wheel, = folder.glob("*.whl")
    root = folder / "root"
    make_root(root)
    unpack(wheel, root / "xlc")
    use(root)
    import_package(root / "xlc")


if __name__ == "__main__":
    main()
