"""Makes the files of this folder, one text in the formats of tokens; a token is a byte of text.txt.

    python3 -m venv /tmp/megatron && /tmp/megatron/bin/pip install numpy torch megatron-core==0.16.1
    /tmp/megatron/bin/python test/EndToEnd/Tokens/make.py

megatron.bin and .idx are written by Megatron's own writer, in six sequences and three documents. llmc-1.bin and llmc-7.bin are
what llm.c's dev/data/data_common.py writes, byte for byte: 256 numbers of 32 bits, then the tokens."""

import pathlib

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent
TOKENS = 4200


def write_llmc(path, tokens, magic, version, dtype):
    header = numpy.zeros(256, dtype="<i4")
    header[:3] = magic, version, len(tokens)
    path.write_bytes(header.tobytes() + tokens.astype(dtype).tobytes())


def write_megatron(stem, tokens):
    import torch  # pylint: disable=import-error,import-outside-toplevel
    from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder  # pylint: disable=import-error,import-outside-toplevel
    builder = IndexedDatasetBuilder(f"{stem}.bin", dtype=numpy.uint16)
    for document in numpy.array_split(tokens, 3):
        for half in numpy.array_split(document, 2):
            builder.add_item(torch.tensor(half.astype("int64")))
        builder.end_document()
    builder.finalize(f"{stem}.idx")


def main():
    license_text = (FOLDER.parents[2] / "LICENSE").read_bytes()
    (FOLDER / "text.txt").write_bytes(license_text[:TOKENS])
    tokens = numpy.frombuffer((FOLDER / "text.txt").read_bytes(), dtype="u1")
    write_llmc(FOLDER / "llmc-1.bin", tokens, 20240520, 1, "<u2")
    write_llmc(FOLDER / "llmc-7.bin", tokens, 20240801, 7, "<u4")
    write_megatron(FOLDER / "megatron", tokens)


if __name__ == "__main__":
    main()
