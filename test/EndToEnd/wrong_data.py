"""Invalid data: each with its message, which names file, row and column, and its exit code. Data that are invalid
before the first step train nothing, data that become invalid during a run end it, and neither leaves saved parameters.
More files that are refused before the first step are in test/Hostile/token_cases.py, wrong keys in test/Spec/data.test
and test/Import/streams.test."""

import os
import re
import struct
import subprocess

import data
import files

LENGTH, BATCH, ROWS = data.LENGTH, data.BATCH, 1600  # an epoch is two hundred steps, of which two are read ahead
TOKENS = [i % 251 for i in range(ROWS * LENGTH + 1)]


def write_raw(folder, name="raw"):
    (folder / name).write_bytes(struct.pack(f"<{len(TOKENS)}H", *TOKENS))
    return data.stream_of(folder / name, type="uint16")


def write_llmc(folder):
    header = struct.pack("<3I", 20240520, 1, len(TOKENS)).ljust(1024, b"\0")
    (folder / "llmc").write_bytes(header + struct.pack(f"<{len(TOKENS)}H", *TOKENS))
    return data.stream_of(folder / "llmc")


def write_megatron(folder):
    (folder / "pair.bin").write_bytes(struct.pack(f"<{len(TOKENS)}H", *TOKENS))
    (folder / "pair.idx").write_bytes(b"MMIDIDX\0\0" + struct.pack("<QBQQiq2q", 1, 8, 1, 2, len(TOKENS), 0, 0, 1))
    return data.stream_of(folder / "pair.bin")


def write_array(folder):
    files.write_npy(folder / "tokens.npy", "<u2", (len(TOKENS),), TOKENS)
    return data.stream_of(folder / "tokens.npy")


def write_rows(folder):
    for name, begin in (("ids", 0), ("labels", 1)):
        files.write_npy(folder / f"{name}.npy", "<i8", (ROWS, LENGTH), TOKENS[begin:begin + ROWS * LENGTH])
    return {"input_ids": folder / "ids.npy", "labels": folder / "labels.npy"}


FORMATS = {"raw": (write_raw, "raw"), "llm.c": (write_llmc, "llmc"), "Megatron's": (write_megatron, "pair.bin"),
           "array": (write_array, "tokens.npy"), "rows": (write_rows, "ids.npy")}


def end_of(trained, options, meddle=None, after="step    3"):
    """Exit code, what it showed and what it said of a run; `meddle` is called when `after` was shown."""
    saved = trained.folder / "saved.safetensors"
    saved.unlink(missing_ok=True)
    command = [trained.path, "--save", saved, *options]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        shown = ""
        if meddle:
            while not shown.startswith(after) and process.poll() is None:
                shown = process.stdout.readline()
            meddle()
        try:
            rest, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            rest, said = process.communicate()
    return process.returncode, shown + rest, said + ("\nparameters were saved" if saved.exists() else "")


def complain(what, outcome, code, pattern):
    """`pattern` is what the messages begin with, in one of their lines."""
    found, shown, said = outcome
    if found != code or not re.search(pattern, said) or "internal error" in said or "were saved" in said:
        yield f"{what}: exit code {found}, not {code}, or another message than '{pattern}': {said[-300:]}"
    if code == 1 and re.search("^step ", shown, re.MULTILINE):
        yield f"{what}: trained before it was refused: {shown[:200]}"


def shrinking_files_end_a_run(setting):
    """Of each format, in threads and in processes: the row that cannot be read is named, and the column where the file ends."""
    for kind, (write, name) in FORMATS.items():
        trained = data.make(setting, f"shrinks {kind}", write(setting.scratch), dp=2, batch={"global": BATCH, "micro": 2},
                            shuffle=True, seed=1)
        path = setting.scratch / name
        for way in ("--threads", "--processes"):
            write(setting.scratch)
            outcome = end_of(trained, ["--steps", 600, way], lambda path=path: os.truncate(path, 40001))
            yield from complain(f"{kind}, {way}", outcome, 5, rf"{re.escape(name)}: row \d+, column \d+: became shorter while it was read")


def words_beyond_the_table_end_a_run(setting):
    """In the middle of a stream, as an input and as a target, and in the middle of rows that are too large to be read whole."""
    trained = data.make(setting, "middle", write_raw(setting.scratch))
    for what, at, place in (("an input", 900 * LENGTH + 7, "row 900, column 7: id 999 is outside the table of input 'input_ids', which has 256 rows"),
                            ("a target", 904 * LENGTH, "row 903, column 31: id 999 is outside the table of input 'labels'")):
        write_raw(setting.scratch)
        with open(setting.scratch / "raw", "r+b") as file:
            os.pwrite(file.fileno(), struct.pack("<H", 999), 2 * at)
        yield from complain(what, end_of(trained, ["--steps", 200]), 5, f"raw: {place}")
        yield from complain(f"--check-data of {what}", end_of(trained, ["--check-data"]), 1, f"raw: error: {place}")
    large = (68 << 20) // (8 * LENGTH)  # holes, but for one id
    names = {"input_ids": setting.scratch / "large.npy", "labels": setting.scratch / "zeros.npy"}
    for path in names.values():
        files.write_npy(path, "<i8", (large, LENGTH), [])
        header = path.stat().st_size
        os.truncate(path, header + large * LENGTH * 8)
    with open(names["input_ids"], "r+b") as file:
        os.pwrite(file.fileno(), struct.pack("<q", -5), header + (100 * LENGTH + 3) * 8)
    trained = data.make(setting, "large", names)
    outcome = end_of(trained, ["--steps", 50])
    yield from complain("large rows", outcome, 5, r"large\.npy: row 100, column 3: id -5 is outside the table")
    if not re.search("^step   12 ", outcome[1], re.MULTILINE):
        yield f"large rows: the steps before did not run: {outcome[1][-200:]}"


def refused_before_the_first_step(setting):
    """What was good when the program was compiled, and what its command line says."""
    trained = data.make(setting, "refused", write_raw(setting.scratch))
    stream, good = setting.scratch / "raw", struct.pack(f"<{len(TOKENS)}H", *TOKENS)
    ids = setting.scratch / "ids.npy"
    write_rows(setting.scratch)
    files.write_npy(setting.scratch / "short.npy", "<i8", (ROWS - 1, LENGTH), TOKENS[:(ROWS - 1) * LENGTH])
    for what, content, options, pattern in [
            ("an odd byte", good + b"\1", [], r"raw: error: its \d+ bytes are not a multiple of 2, the size of a token according to data.train.type = uint16"),
            ("an empty file", b"", [], "raw: error: no file of the stream has the 32 tokens of a row"),
            ("rows for less than a step", good[:2 * 100], [], "raw: error: has 3 rows, but a step needs 8"),
            ("the first word", b"\xff\xff" + good[2:], [], "raw: error: row 0, column 0: id 65535 is outside the table"),
            ("the last word", good[:-2] + b"\xff\xff", [], f"raw: error: row {ROWS - 1}, column 31: id 65535 is outside the table of input 'labels'"),
            ("no file", None, [], "raw: error: .*No such file"),
            ("a folder", None, ["--data", f"tokens={setting.scratch}"], f"{setting.scratch.name}: error: "),
            ("no match", good, ["--data", f"tokens={setting.scratch}/none*.bin"], r"none\*.bin: error: no token file matches this pattern"),
            ("a stranger's name", good, ["--data", f"mask={ids}"], "error: the model has no input 'mask'; its inputs are input_ids, labels"),
            ("rows of other number", good, ["--data", f"input_ids={setting.scratch / 'short.npy'}"],
             rf"raw: error: has {ROWS} rows, but .*short\.npy has {ROWS - 1}|short\.npy: error: has {ROWS - 1} rows, but .*raw has {ROWS}"),
            ("tokens in place of rows", good, ["--data", f"input_ids={stream}"], "raw: error: not an .npy file"),
            ("no epoch", good, ["--epochs", 2**63 - 1], "error: the total number of rows in 9223372036854775807 epochs of 1600 rows is too large")]:
        stream.unlink(missing_ok=True)
        if content is not None:
            stream.write_bytes(content)
        yield from complain(what, end_of(trained, ["--steps", 3, *options] if "--epochs" not in options else options), 1, pattern)


def list_checks():
    return [("wrong data: shrinking files end a run", shrinking_files_end_a_run),
            ("wrong data: words beyond the table end a run", words_beyond_the_table_end_a_run),
            ("wrong data: refused before the first step", refused_before_the_first_step)]
