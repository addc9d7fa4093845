"""Charts and logs: files of events for TensorBoard, read here by the definition of their records; and the log as JSON
lines and as a table, which have the same numbers. After a kill and a resume no step occurs twice.
"""

import csv
import struct

import dropout
import evaluation
import program

MASK = 0xa282ead8
START = 1  # of a session log


def make_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = make_table()


def masked_crc(data):
    """CRC-32C, rotated by 15 bits, plus a constant."""
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + MASK) & 0xffffffff


def read_records(path):
    data, at = path.read_bytes(), 0
    while at < len(data):
        length, = struct.unpack_from("<Q", data, at)
        of_length, = struct.unpack_from("<I", data, at + 8)
        record = data[at + 12:at + 12 + length]
        of_record, = struct.unpack_from("<I", data, at + 12 + length)
        if of_length != masked_crc(data[at:at + 8]) or of_record != masked_crc(record):
            raise ValueError(f"{path}: the record at byte {at} has other checksums")
        yield record
        at += 16 + length


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def read_message(data):
    """(field, value) of a protobuf message; messages and texts as bytes."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire in (1, 5):
            form, size = ("<d", 8) if wire == 1 else ("<f", 4)
            value, at = struct.unpack_from(form, data, at)[0], at + size
        else:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def read_charts(folder):
    """{(tag, step): value} as TensorBoard shows them: what a start writes drops what others wrote from its step on. And how often a
    number was written for one step of a tag, at most, that is not dropped."""
    points = []
    for path in sorted(folder.glob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime_ns):
        for number, record in enumerate(read_records(path)):
            event = dict(read_message(record))
            if number == 0 and event.get(3) != b"brain.Event:2":
                raise ValueError(f"{path} begins with {event}")
            step = event.get(2, 0)
            if dict(read_message(event.get(7, b""))).get(1) == START:
                points = [point for point in points if point[1] < step]
            for _, value in read_message(event.get(5, b"")):
                scalar = dict(read_message(value))
                points.append((scalar[1].decode(), step, scalar[2]))
    return {(tag, step): value for tag, step, value in points}, len(points)


def expect_charts(made, folder, tag):
    """Each number of the log is in the charts, and no other."""
    charts, written = read_charts(folder)
    if written != len(charts):
        yield f"{written - len(charts)} numbers are there twice"
    names = {"lr": "learning_rate"}
    expected = {(f"train/{names.get(name, name)}", line["step"]): value for line in made.log(tag) if "step" in line
                for name, value in line.items() if name not in ("step", "skipped")}
    expected |= {(f"eval/{name}", step): value for step, line in made.evaluations(tag).items() for name, value in line.items()
                 if not isinstance(value, list) and not name.startswith("top_")}
    if set(charts) != set(expected):
        yield f"charts and log differ in {sorted(set(charts) ^ set(expected))[:4]}"
        return
    for key, value in expected.items():
        if charts[key] != struct.unpack("<f", struct.pack("<f", value))[0]:
            yield f"{key} is {charts[key]}, the log has {value}"


def expect_table(made, path, tag):
    """A table has the numbers of the JSON lines."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    lines = [line for line in made.log(tag) if "step" in line]
    steps = [row for row in rows if row["loss"]]
    of_evaluations = {int(row["step"]): row for row in rows if row["eval_loss"]}
    if [int(row["step"]) for row in steps] != [line["step"] for line in lines] or list(of_evaluations) != list(made.evaluations(tag)):
        yield "the table has other steps than the log"
        return
    for row, line in zip(steps, lines):
        for name in ("loss", "grad_norm", "lr"):
            if float(row[name]) != line[name]:
                yield f"step {line['step']}: {name} is {row[name]} in the table, {line[name]} in the log"
    for step, line in made.evaluations(tag).items():
        for name in ("loss", "accuracy", "rows", "targets"):
            if float(of_evaluations[step][f"eval_{name}"]) != line[name]:
                yield f"evaluation {step}: {name} is {of_evaluations[step][f'eval_{name}']} in the table, {line[name]} in the log"


def show_what_the_log_has(setting):
    layout = dropout.Layout("dp 2", {"dp": 2}, 4)
    spec = evaluation.spec_of(setting, "dropout-bert", layout, every=3)
    spec["checkpoint"] = {"dir": setting.scratch / "ck", "every": 4, "keep": 9}
    made = program.Program(setting, "train", setting.models / "dropout-bert" / "loss.onnx", spec)
    folder, table = setting.scratch / "charts", made.folder / "log.csv"
    made.train(10, "--tensorboard", folder)
    yield from expect_charts(made, folder, "run")
    program.run([made.path, "--steps", 6, "--log", table, "--resume", setting.scratch / "ck" / "step-00000004"])
    program.run([made.path, "--steps", 10, "--log", table, "--resume", setting.scratch / "ck" / "step-00000004"])
    whole = made.folder / "whole.csv"
    program.run([made.path, "--steps", 10, "--log", whole, "--checkpoint-dir", setting.scratch / "others"])
    yield from expect_table(made, whole, "run")
    if [row["step"] for row in csv.DictReader(table.read_text().splitlines())] != ["5", "6", "6", "7", "8", "9", "9", "10"]:
        yield "after a resume the table has other steps than those that were done"
    made.train(10, "--tensorboard", folder, "--resume", setting.scratch / "ck" / "step-00000008")
    yield from expect_charts(made, folder, "run")


def list_checks(_):
    return [("charts: TensorBoard's files and tables have the numbers of the log", show_what_the_log_has)]
