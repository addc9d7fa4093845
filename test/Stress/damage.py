"""What becomes of a program whose plan is damaged, and of files that somebody changes while they are read."""

import os
import random
import re
import shutil
import subprocess
import threading

SPEC = "dp: 2\npp: 2\nzero_stage: 2\nbatch: {global: 8, micro: 2}\ndims: {sequence: 32}\ndata: {train: .}\n"


NM = "/usr/lib/llvm-22/bin/llvm-nm"


def find_plan(program):
    """Where the plan's bytes lie in a program: the symbol's size, and the identifier of plans behind the offset of the root."""
    listed = subprocess.run([NM, "--print-size", program], capture_output=True, text=True, check=True).stdout
    size, = re.findall(r"^[0-9a-f]+ ([0-9a-f]+) . xlc_plan$", listed, re.M)
    begin = program.read_bytes().index(b"XLCP") - 4
    return begin, begin + int(size, 16)


def damaged_plans(bench):
    """Of 500 programs with another bit in the plan, and of 50 with an edit, none starts."""
    gpt2 = bench.examples / "gpt2"
    for file in gpt2.glob("*.npy"):
        shutil.copy(file, bench.folder)
    (bench.folder / "s.yaml").write_text(SPEC)
    bench.run(bench.xlc, "compile", gpt2 / "loss.onnx", "--spec", "s.yaml", "-o", "train")
    good = (bench.folder / "train").read_bytes()
    (begin, end), draw = find_plan(bench.folder / "train"), random.Random(1)

    def damage(number):
        bad = bytearray(good)
        if number < 500:
            at = draw.randrange(8 * begin, 8 * end)
            bad[at // 8] ^= 1 << at % 8
        else:  # another number of four bytes: one more, one less, or that of another place
            at = draw.randrange(begin, end - 4)
            value = int.from_bytes(bad[at:at + 4], "little")
            other = draw.randrange(begin, end - 4)
            changed = draw.choice([value + 1, value - 1, int.from_bytes(bad[other:other + 4], "little"), value ^ 1 << 31])
            bad[at:at + 4] = (changed % (1 << 32)).to_bytes(4, "little")
        return bytes(bad)

    def start(number, bad):
        path = bench.folder / f"bad-{number}"
        path.write_bytes(bad)
        path.chmod(0o755)
        os.link(bench.folder / "train.safetensors", f"{path}.safetensors")
        done = subprocess.run([path, "--steps", "1"], cwd=bench.folder, capture_output=True, text=True, timeout=60, check=False)
        path.unlink()
        return done.returncode, done.stdout + done.stderr

    for number in range(550):
        bad = damage(number)
        code, said = start(number, bad)
        if bad != good and (code != 1 or "the plan in this program is damaged" not in said):
            raise AssertionError(f"program {number} ended with {code}: {said}")
    bench.run("./train", "--steps", "1")


def a_model_that_changes(bench):
    """A model that somebody writes while it is read is refused, or read as it was; the compiler does not die of it."""
    whole = (bench.examples / "mlp" / "logits.onnx").read_bytes()
    model, ended = bench.folder / "c.onnx", threading.Event()
    model.write_bytes(whole)

    def rewrite():
        while not ended.is_set():
            for size in (len(whole), len(whole) // 2):
                with open(model, "r+b") as file:
                    file.truncate(size)
                    file.write(whole[:size])

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(60):
            done = subprocess.run([bench.xlc, "plan", model, "--spec", "s.yaml"], cwd=bench.folder, capture_output=True, text=True, timeout=60,
                                  check=False)
            if done.returncode not in (0, 1):
                raise AssertionError(f"{done.returncode} {done.stderr}")
    finally:
        ended.set()
        writer.join()
