"""Where a check of bad days works: a folder of its own, and commands whose exit code and words are as they should be."""

import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "mlp" / "logits.onnx"
SPEC = "loss: {type: cross_entropy, logits: logits, labels: y}\ndata: {train: .}\n"
DAMAGE = ("Traceback", "LLVM ERROR", "Stack dump", "AddressSanitizer", "runtime error", "internal error")


class Bench:
    """A folder with the model's data and a spec, and the commands that run in it."""

    examples = ROOT / "examples"

    def __init__(self, xlc, folder):
        self.xlc, self.folder = xlc, pathlib.Path(folder)
        for file in MODEL.parent.glob("*.npy"):
            shutil.copy(file, self.folder)
        (self.folder / "s.yaml").write_text(SPEC)

    def run(self, *command, code=0, says="", limit="", **options):
        """Runs a command; its exit code and a piece of its messages are as they should be. `limit`: for ulimit."""
        words = [str(word) for word in command]
        if limit:
            words = ["sh", "-c", f'ulimit {limit}; exec "$0" "$@"', *words]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=60,
                              check=False, **options)
        said = done.stderr + done.stdout
        expect(done.returncode == code, f"{words} ended with {done.returncode} instead of {code}: {said}")
        expect(says in said, f"{words} did not say {says!r}: {said}")
        expect(not any(word in said for word in DAMAGE), f"{words}: {said}")
        return said

    def compile(self, *more, output="train", spec="s.yaml", **options):
        return self.run(self.xlc, "compile", MODEL, "--spec", spec, "-o", output, *more, **options)

    def start(self, *command, **options):
        return subprocess.Popen([str(word) for word in command], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


def expect(holds, why):
    if not holds:
        raise AssertionError(why)
