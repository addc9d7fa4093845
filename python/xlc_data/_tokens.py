"""Streams of tokens in llm.c's format: 256 numbers of 32 bits (magic, version, number of tokens), then the tokens."""

import pathlib
import struct

import numpy

from ._failure import Failure
from ._sources import read_documents
from ._tokenizer import find_tokenizer

FORMS = {"<u2": (20240520, 1), "<u4": (20240801, 7)}  # by type, the magic number and the version
HEADER, MOST = 1024, 2**31 - 1


class LlmcWriter:
    """A file of tokens below `words`; 65,536 words or more take 32 bits a token. `with` ends it."""

    def __init__(self, path, words):
        self.path, self.words, self.tokens = path, words, 0
        self.dtype = "<u2" if words < 1 << 16 else "<u4"
        self.file = open(path, "wb")  # pylint: disable=consider-using-with
        self.file.write(bytes(HEADER))

    def write(self, ids):
        array = numpy.asarray(ids, dtype="i8")
        if array.size and (array.min() < 0 or array.max() >= self.words):
            raise Failure(f"{self.path}: a token of {array.min() if array.min() < 0 else array.max()}, but tokens must be from 0 to {self.words - 1}")
        if self.tokens + array.size > MOST:
            raise Failure(f"{self.path}: more than {MOST} tokens, the limit of llm.c's format: write several files")
        self.file.write(array.astype(self.dtype).tobytes())
        self.tokens += array.size

    def close(self):
        self.file.seek(0)
        self.file.write(struct.pack("<3i", *FORMS[self.dtype], self.tokens))
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()
        if problem[0]:
            pathlib.Path(self.path).unlink()  # half of a file is none


def write_tokens(inputs, output, tokenizer="bytes", field="text", separator=None):
    """Returns how many tokens all documents have; `separator` (or the tokenizer's) stands behind each."""
    encoder = find_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    separator = encoder.separator if separator is None else separator
    with LlmcWriter(output, encoder.words) as writer:
        for path in inputs:
            if not pathlib.Path(path).exists():
                raise Failure(f"{path}: no such file or folder")
            for document in read_documents(path, field):
                for piece in document:
                    writer.write(encoder.encode(piece)[0])
                if separator is not None:
                    writer.write([separator])
        return writer.tokens
