"""Rows of one length: texts (or pairs of them) are tokenised, cut and padded, a file for each input of a model."""

import contextlib
import pathlib

from ._failure import Failure
from ._npy import NpyWriter
from ._sources import field_of, read_records
from ._tokenizer import find_tokenizer

IGNORED = -100  # a label that does not count


def write_rows(dataset, folder, max_length=128, tokenizer="bytes", text="text", pair=None, label=None):
    """Writes input_ids, attention_mask, token_type_ids and labels to `folder`, and returns how many rows. `label`: the field with the class of
    a record; without one labels are the ids, but IGNORED where a row is padded."""
    encoder = find_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = {"input_ids": "<i8", "attention_mask": "<i8", "token_type_ids": "<i8"}
    with contextlib.ExitStack() as open_files:
        files = {name: open_files.enter_context(NpyWriter(folder / f"{name}.npy", (max_length,), dtype)) for name, dtype in names.items()}
        labels = open_files.enter_context(NpyWriter(folder / "labels.npy", () if label else (max_length,), "<i8"))
        for number, record in enumerate(read_records(dataset)):
            where = f"{dataset}: record {number}"
            other = field_of(record, pair, where) if pair else None
            ids, types = encoder.encode(field_of(record, text, where), other, max_length)
            missing = max_length - len(ids)
            files["input_ids"].write([*ids, *[encoder.padding] * missing])
            files["attention_mask"].write([1] * len(ids) + [0] * missing)
            files["token_type_ids"].write([*types, *[0] * missing])
            labels.write(class_of(field_of(record, label, where), where) if label else [*ids, *[IGNORED] * missing])
        return labels.rows


def class_of(value, where):
    try:
        return int(value)
    except (TypeError, ValueError) as problem:
        raise Failure(f"{where}: the class is {value!r}, but must be an integer") from problem
