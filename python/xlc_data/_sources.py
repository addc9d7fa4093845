"""Texts and records as they come out of files: text, JSON lines, CSV, folders of the `datasets` library. Nothing is held but a record."""

import csv
import json
import pathlib

from ._failure import Failure

BLOCK = 1 << 20  # characters of a text that are given at a time


def read_records(path, columns=None):
    """Dictionaries: of a .csv by its first line, of .jsonl lines, of a folder of `datasets`."""
    path = pathlib.Path(path)
    if path.is_dir():
        yield from read_dataset(path)
    elif path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
    elif path.suffix in (".jsonl", ".json"):
        yield from read_lines(path)
    else:
        raise Failure(f"{path}: is not a .csv file, a .jsonl file or a folder of the datasets library")


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as problem:
                raise Failure(f"{path}:{number}: not JSON: {problem}") from problem
            if not isinstance(record, dict):
                raise Failure(f"{path}:{number}: a line must be a JSON object")
            yield record


def read_dataset(path):
    try:
        import datasets  # pylint: disable=import-outside-toplevel
    except ImportError as problem:
        raise Failure(f"{path}: reading a folder requires the datasets library: pip install datasets") from problem
    loaded = datasets.load_from_disk(str(path))
    yield from loaded["train"] if isinstance(loaded, dict) else loaded


def field_of(record, name, where):
    if name not in record or record[name] is None:
        raise Failure(f"{where}: no field '{name}'; the fields are {', '.join(map(str, record))}")
    return record[name]


def read_documents(path, field):
    """Lists of pieces of text, a list for each document: a text file is one, of records each one is."""
    path = pathlib.Path(path)
    if path.is_dir() or path.suffix in (".jsonl", ".json", ".csv"):
        for number, record in enumerate(read_records(path)):
            yield [field_of(record, field, f"{path}: record {number}")]
        return
    yield read_pieces(path)


def read_pieces(path):
    """A text, cut behind ends of lines."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            while lines := file.readlines(BLOCK):
                yield "".join(lines)
    except UnicodeDecodeError as problem:
        raise Failure(f"{path}: not UTF-8: {problem}") from problem
