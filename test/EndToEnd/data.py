"""Data as programs read them: one text in every format gives the same losses; the rows of a run are those of the definition
(rows.py) in every layout; a file of any size takes no more memory and no longer to begin; a slow source hides behind steps."""

import os
import pathlib
import re
import shutil
import statistics
import struct
import time

import files
import program
import promises
import rows

FOLDER = pathlib.Path(__file__).parent / "Tokens"  # made by make.py there
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "gpt2"
LENGTH, BATCH, SEED, STEPS = 32, 8, 11, 50
TEXT = (FOLDER / "text.txt").read_bytes()
ROWS = (len(TEXT) - 1) // LENGTH  # 131: no multiple of the batch, and 50 steps are three epochs and a bit

# dp, pp, tp and what else differs.
LAYOUTS = [
    {"batch": {"global": 8, "micro": 8}},
    {"batch": {"global": 8, "micro": 1}},
    {"dp": 2, "zero_stage": 1, "batch": {"global": 8, "micro": 2}},
    {"pp": 2, "tp": 2, "batch": {"global": 8, "micro": 2}},
    {"batch": {"global": 8, "micro": 4}},
    {"batch": {"global": 8, "micro": 2}},
    {"dp": 4, "zero_stage": 3, "zero": {"persistence_threshold": 0}, "batch": {"global": 8, "micro": 1}},
    {"dp": 4, "zero_stage": 3, "dp_shard": 2, "batch": {"global": 8, "micro": 2}},
    {"tp": 2, "batch": {"global": 8, "micro": 4}},
    {"pp": 2, "pipeline": {"schedule": "zb-v"}, "batch": {"global": 8, "micro": 2}},
    {"dp": 2, "pp": 2, "batch": {"global": 8, "micro": 1}},
    {"dp": 2, "pp": 2, "tp": 2, "zero_stage": 3, "batch": {"global": 8, "micro": 2}},
]


def spec_of(train, **changes):
    more = {key: changes.pop(key) for key in ("shuffle", "seed", "end") if key in changes}
    return {"batch": {"global": BATCH, "micro": BATCH}, "dims": {"sequence": LENGTH},
            "loss": {"type": "cross_entropy", "logits": "logits", "labels": "labels"},
            "optimizer": {"type": "sgd", "lr": 0.1}, "runtime": {"threads_per_rank": 1},
            "data": {"train": train, **more}} | changes


def stream_of(path, **keys):
    return {"tokens": path, "input": "input_ids", "labels": "labels", **keys}


def make(setting, name, train, **changes):
    return program.Program(setting, name, EXAMPLE / "logits.onnx", spec_of(train, **changes))


def losses(trained, tag="run"):
    return [(line["loss"], line["grad_norm"]) for line in trained.log(tag) if "step" in line]


def write_formats(folder):
    """(name, data.train) of the text in each format."""
    tokens = list(TEXT)
    (folder / "raw16").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    files.write_npy(folder / "tokens.npy", "<u2", (len(tokens),), tokens)
    inputs = tokens[:ROWS * LENGTH]
    targets = tokens[1:ROWS * LENGTH + 1]
    files.write_npy(folder / "ids.npy", "|u1", (ROWS, LENGTH), inputs)
    files.write_npy(folder / "labels.npy", "<i8", (ROWS, LENGTH), targets)
    for name in ("megatron.bin", "megatron.idx", "llmc-1.bin", "llmc-7.bin"):
        shutil.copy(FOLDER / name, folder)
    return [("rows", {"input_ids": folder / "ids.npy", "labels": folder / "labels.npy"}),
            ("raw8", stream_of(FOLDER / "text.txt", type="uint8")),
            ("raw16", stream_of(folder / "raw16", type="uint16")),
            *[(name, stream_of(folder / name))
              for name in ("llmc-1.bin", "llmc-7.bin", "megatron.bin", "megatron.idx", "tokens.npy")]]


def all_formats_train_alike(setting):
    """The losses of one text, bit for bit, with shuffled rows."""
    expected = None
    for name, train in write_formats(setting.scratch):
        trained = make(setting, f"as {name}", train, shuffle=True, seed=SEED)
        trained.train(5)
        expected = expected or losses(trained)
        if losses(trained) != expected:
            yield f"{name}: {losses(trained)} where rows have {expected}"
        first = {"data": {"rows": ROWS, "row_tokens": LENGTH, "files": 1, "tokens_left": len(TEXT) - ROWS * LENGTH}}
        if "tokens" in train and trained.log()[0] != first:
            yield f"{name}: the log begins with {trained.log()[0]}"


def expected_sum(seed, steps=STEPS):
    def row(shift):
        def bytes_of(number):
            begin = number * LENGTH + shift
            return struct.pack(f"<{LENGTH}q", *TEXT[begin:begin + LENGTH])
        return bytes_of
    return rows.sum_of_rows(steps * BATCH, [row(0), row(1)], ROWS, seed)


def rows_of_layout(layout):
    def check(setting):
        for shuffled in (True, False):
            more = {"shuffle": True, "seed": SEED} if shuffled else {}
            train = stream_of(FOLDER / "text.txt", type="uint8")
            trained = make(setting, f"shuffled {shuffled}", train, **more, **layout)
            expected = expected_sum(SEED if shuffled else None)
            for way in ("--threads", "--processes"):
                trained.train(STEPS, "--stats", trained.folder / "run.stats", way)
                stats = trained.stats()
                if stats["rows"] != {"samples": STEPS * BATCH, "sum": expected}:
                    yield f"shuffled {shuffled}, {way}: {stats['rows']}, Python has {expected}"
                if stats["data"]["planned"] != stats["data"]["used"] or stats["data"]["used"] == 0:
                    yield f"{way}: bytes of rows that are read ahead: {stats['data']}"
    return check


def epochs_and_ends(setting):
    """--epochs ends with the step that has the last row; `drop` leaves out what fills no step; without a seed of its own the
    order has --seed's."""
    stream = stream_of(FOLDER / "text.txt", type="uint8")
    for end, epochs, steps in (("continue", 3, -(-3 * ROWS // BATCH)), ("continue", BATCH, ROWS), ("drop", 3, 3 * (ROWS // BATCH)),
                               ("continue", None, -(-ROWS // BATCH)), ("drop", None, ROWS // BATCH)):
        trained = make(setting, f"{end} {epochs}", stream, shuffle=True, end=end)
        more = ["--epochs", epochs] if epochs else []  # neither: one epoch
        program.run([trained.path, *more, "--log", trained.folder / "run.jsonl"])
        if len(losses(trained)) != steps:
            yield f"{end}: {len(losses(trained))} steps in {epochs or 'no number of'} epochs, not {steps}"
    trained = make(setting, "seeds", stream, shuffle=True)
    for seed in (0, 4):
        trained.train(3, "--seed", seed, "--stats", trained.folder / "run.stats")
        if trained.stats()["rows"]["sum"] != expected_sum(seed, 3):
            yield f"--seed {seed}: {trained.stats()['rows']}, Python has {expected_sum(seed, 3)}"


def bad_streams_are_refused(setting):
    """Before the first step with 1; in the middle of a run with 5, with file, row and column."""
    stream = setting.scratch / "stream"
    stream.write_bytes(TEXT * 16)  # what is read ahead is not yet damaged
    trained = make(setting, "bad", stream_of(stream, type="uint16"))
    words = bytearray(struct.pack(f"<{len(TEXT)}H", *TEXT))
    at = 3 * BATCH * LENGTH + 70  # in the fourth step, row 26
    words[2 * at + 1] = 1
    stream.write_bytes(words)
    said = trained.train(20, expect=5)
    if not re.search("row 26, column 6: id .* is outside the table of input 'input_ids', which has 256 rows", said):
        yield f"a bad id in the middle: {said}"
    if "row 26, column 6: id " not in (said := program.run([trained.path, "--check-data"], 1)):
        yield f"--check-data of a bad id: {said}"
    words[1] = 1  # the first row
    stream.write_bytes(words)
    if "row 0, column 0: id " not in (said := trained.train(20, expect=1)):
        yield f"a bad id at the begin: {said}"
    stream.write_bytes(struct.pack(f"<{len(TEXT)}H", *TEXT))
    said = program.run([trained.path, "--check-data"])
    if f"{ROWS} rows of 32 tokens in 1 file, 8 tokens unused at the ends of files; all rows were read" not in said:
        yield f"--check-data of good data: {said}"
    yield from shrinking(trained, stream)


def shrinking(trained, stream):
    """Rows of long ago are read again in the next epoch."""
    command = [trained.path, "--steps", 600]
    with program.subprocess.Popen([str(word) for word in command], stdout=program.subprocess.PIPE,
                                  stderr=program.subprocess.PIPE, text=True) as process:
        while (line := process.stdout.readline()) and not line.startswith("step   20"):
            pass
        os.truncate(stream, 1000)  # 500 tokens: 15 rows and 20 columns
        shown, said = process.communicate(timeout=60)
    if process.returncode != 5 or not re.search(r"stream: row \d+, column \d+: became shorter while it was read", said):
        yield f"a file that became shorter: {process.returncode}, {shown[-200:]}{said}"


def size_of(mebibytes):
    """Memory and the time to the first step, of a large file and a small one."""
    def check(setting):
        figures = []
        for size in (1, mebibytes):
            stream = setting.scratch / f"{size} MiB"
            block = bytes(token % 256 for token in range(1 << 20))
            with open(stream, "wb") as file:
                for _ in range(size):
                    file.write(block)
            trained = make(setting, f"of {size}", stream_of(stream, type="uint8"), shuffle=True)
            begins = []
            for _ in range(3):
                begin = time.monotonic()
                trained.train(1, "--stats", trained.folder / "run.stats")
                begins.append(time.monotonic() - begin)
            trained.train(50, "--stats", trained.folder / "run.stats")
            figures.append((min(begins), trained.stats()["vm_hwm"]))
            stream.unlink()
        (small, little), (large, much) = figures
        if large > small + 1:
            yield f"{mebibytes} MiB: the first step ends after {large:.2f} s, with 1 MiB after {small:.2f} s"
        if much > little + (64 << 20):
            yield f"{mebibytes} MiB: {much} bytes resident, with 1 MiB {little}"
    return check


def a_slow_source_hides_behind_steps(setting):
    """One that takes 0.7 of a step's time adds at most a tenth to 50 steps."""
    compiler = next(filter(None, map(shutil.which, ("clang++-22", "g++", "c++"))), None)
    if not compiler:
        raise promises.Skipped("there is no C++ compiler")
    slow = setting.scratch / "SlowReads.so"
    program.run([compiler, "-shared", "-fPIC", "-O1", FOLDER.parent / "SlowReads.cpp", "-o", slow])
    trained = make(setting, "slow", stream_of(FOLDER / "text.txt", type="uint8"))

    def seconds(microseconds):
        trained.train(50, variables={"LD_PRELOAD": slow, "SLOW_READS": microseconds})
        return [line["seconds"] for line in trained.log() if "step" in line]
    step = statistics.median(seconds(0))
    for attempt in range(3):
        fast, slowed = sum(seconds(0)[1:]), sum(seconds(int(0.7 * step / 2 * 1e6))[1:])  # two reads a step
        if slowed <= 1.1 * fast:
            return
    yield f"50 steps take {slowed:.3f} s with a source that takes 0.7 of each, {fast:.3f} s without"


def list_checks(all_of_them):
    layouts = LAYOUTS if all_of_them else LAYOUTS[:4]
    checks = [("data: all formats train alike", all_formats_train_alike), ("data: epochs and ends", epochs_and_ends),
              ("data: bad streams are refused", bad_streams_are_refused)]
    checks += [(f"data: rows of layout {number}", rows_of_layout(layout)) for number, layout in enumerate(layouts)]
    return checks


def list_measurements(all_of_them):
    """Of time and memory."""
    return [("data: a larger file takes no more", size_of(1024 if all_of_them else 32)),
            ("data: a slow source hides behind steps", a_slow_source_hides_behind_steps)]
