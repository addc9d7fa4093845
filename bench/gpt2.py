"""GPT-2 124M with random weights and random tokens, as the benches compile and train it."""

import array
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
VOCABULARY, LAYERS, WIDTH = 50257, 12, 768
RATE = 1e-4
SPEC = """dp: 1
batch: {{global: {batch}, micro: {batch}}}
dims: {{sequence: {sequence}}}
init: {{from: random}}
optimizer: {{type: adamw, lr: {rate}}}
data: {{train: .}}
runtime: {{threads_per_rank: {threads}}}
precision: {precision}
"""


def add_options(parser):
    parser.add_argument("--models", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("XLC_MODELS", ROOT / ".." / "shared" / "models")))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)


def find_model(models):
    model = models / "gpt2" / "gpt2.onnx"
    if not model.exists():
        sys.exit(f"{model} is not there: --models names the folder with gpt2/gpt2.onnx")
    return model


def write_tokens(path, rows, sequence):
    values = array.array("q", (random.Random(0).randrange(VOCABULARY) for _ in range(rows * sequence)))
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({rows}, {sequence})}}\n".encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + values.tobytes())


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def compile_programs(options, folder, batch, sequence, precisions=("fp32", "bf16"), more=()):
    """A program for each precision, by its name, on one rank; rows lie beside them."""
    for data in ("input_ids", "labels"):
        write_tokens(folder / f"{data}.npy", batch, sequence)
    model, programs = find_model(options.models), {}
    for precision in precisions:
        spec = folder / f"{precision}.yaml"
        spec.write_text(SPEC.format(batch=batch, sequence=sequence, rate=RATE, threads=options.threads, precision=precision))
        programs[precision] = folder / precision
        run(options.build / "bin" / "xlc", "compile", model, "--spec", spec, "-o", programs[precision], *more)
    return programs


def time_steps(program, steps, more=(), **options):
    """Seconds of each step of a run, but for the first, which touches memory for the first time."""
    log = program.parent / "log.jsonl"
    run(program, "--steps", steps + 1, "--log", log, *more, **options)
    return [json.loads(line)["seconds"] for line in log.read_text().splitlines()[1:]]
