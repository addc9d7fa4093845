"""Files of tokens in the place of the stream of a GPT-2 with 256 words and rows of 32. `auto` is a program whose spec gives no type, the
others have one. Formats: lib/Runtime/Data/TokenFiles.h."""

import dataclasses
import struct

from cases import accept, refuse

LENGTH, WORDS, COUNT = 32, 256, 33 * 32 + 1
HEADER = 1024


def llmc(magic, version, count, data, header=HEADER):
    return (struct.pack("<3I", magic, version, count) + bytes(HEADER))[:header] + data


def index(lengths, places, magic=b"MMIDIDX\0\0", version=1, kind=8, sequences=None, documents=2):
    return (magic + struct.pack("<QBQQ", version, kind, len(lengths) if sequences is None else sequences, documents)
            + struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack(f"<{len(places)}q", *places) + struct.pack("<2q", 0, len(lengths)))


def pair(case, binary):
    return dataclasses.replace(case, suffix="idx", beside=(("bin", binary),))


def list_raw_cases(tokens, two):
    yield "uint16", accept("tokens of 16 bits", two)
    yield "uint16", refuse("an odd byte", two + b"\0", "are not a multiple of 2, the size of a token according to data.train.type = uint16")
    yield "uint16", refuse("nothing", b"", "no file of the stream has the 32 tokens of a row")
    yield "uint16", refuse("a row and no target", two[:2 * LENGTH], "no file of the stream has the 32 tokens of a row")
    yield "uint16", refuse("rows for half a step", two[:2 * (2 * LENGTH + 1)], "has 2 rows, but a step needs 8")
    yield "uint16", refuse("a word beyond the table", struct.pack("<H", WORDS) + two[2:], "row 0, column 0: id 256 is outside the table")
    yield "uint16", refuse("the last target beyond it", two[:-2] + b"\xff\xff", "row 32, column 31: id 65535 is outside the table")
    yield "uint16", refuse("a header of llm.c", llmc(20240520, 1, len(tokens), two), "begins with the header of llm.c")
    yield "auto", refuse("no header", two, "the file has no known header")
    yield "auto", refuse("nothing at all", b"", "the file has no known header")


def list_llmc_cases(tokens, two):
    four = struct.pack(f"<{len(tokens)}I", *tokens)
    yield "auto", accept("llm.c", llmc(20240520, 1, len(tokens), two))
    yield "auto", accept("llm.c's later version", llmc(20240801, 7, len(tokens), four))
    for count in (0, len(tokens) - 1, len(tokens) + 1, 2**31, 2**32 - 1):
        yield "auto", refuse(f"llm.c of {count} tokens", llmc(20240520, 1, count, two), "the header need")
    yield "auto", refuse("llm.c with the other version", llmc(20240520, 7, len(tokens), two), "requires version 1, but the file has version 7")
    yield "auto", refuse("llm.c with an odd byte", llmc(20240520, 1, len(tokens), two + b"\0"), "the header need")
    yield "auto", refuse("llm.c cut in its header", llmc(20240520, 1, 0, b"", 500), "the header of llm.c is truncated: it has 500 of 1024 bytes")
    yield "auto", refuse("llm.c's magic number backwards", struct.pack(">I", 20240520) + bytes(1020) + two, "the file has no known header")


def list_megatron_cases(tokens, two):
    half = len(tokens) // 2
    lengths, places = [half, len(tokens) - half], [0, 2 * half]

    def bad(name, content, word, binary=two):
        return "auto", pair(refuse(f"Megatron's, {name}", content, word), binary)
    yield "auto", pair(accept("Megatron's", index(lengths, places)), two)
    yield bad("another magic", index(lengths, places, magic=b"MMIDIDX\0\1"), "not a Megatron index")
    yield bad("version 2", index(lengths, places, version=2), "has version 2")
    yield bad("floats", index(lengths, places, kind=6), "tokens have type code 6")
    for sequences in (0, 1, 3, 2**40, 2**61, 2**64 - 1):
        yield bad(f"{sequences} sequences", index(lengths, places, sequences=sequences), f"{sequences} sequences and 2 documents")
    yield bad("no documents", index(lengths, places, documents=0), "2 sequences and 0 documents")
    yield bad("many documents", index(lengths, places, documents=2**61 + 2), "sequences and 2305843009213693954 documents")
    yield bad("a pointer outside", index(lengths, [0, 2**40]), "sequence 1 has")
    yield bad("a pointer below 0", index(lengths, [-2, 2 * half]), "sequence 0 has")
    yield bad("a pointer into the sequence before", index(lengths, [0, 2 * half - 2]), "sequence 1 has")
    yield bad("a length below 0", index([-half, half], places), "sequence 0 has")
    yield bad("a length beyond the file", index([half, 2**31 - 1], places), "sequence 1 has")
    yield bad("more bytes than sequences", index(lengths, places), "the sequences end at byte", two + b"\0\0")
    yield bad("an odd byte", index(lengths, places), "are not a multiple of 2, the size of a token according to", two + b"\0")
    yield bad("cut", index(lengths, places)[:20], "the header of the Megatron index is truncated")


def list_npy_cases(tokens, two):
    def npy(descr, shape, data):
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data
    yield "auto", accept("an array", npy("<u2", f"({len(tokens)},)", two))
    yield "auto", refuse("an array of two dimensions", npy("<u2", f"(1, {len(tokens)})", two), "but tokens must be integers in one dimension")
    yield "auto", refuse("an array of floats", npy("<f2", f"({len(tokens)},)", two), "but tokens must be integers in one dimension")
    yield "auto", refuse("an array cut", npy("<u2", f"({len(tokens)},)", two[:-1]), "bytes of elements, but the file has")
    yield "uint16", refuse("an array with a type", npy("<u2", f"({len(tokens)},)", two), "begins with the header of an .npy file")


def list_cases():
    """Pairs (program, case)."""
    tokens = [i % 251 for i in range(COUNT)]
    two = struct.pack(f"<{COUNT}H", *tokens)
    for cases in (list_raw_cases, list_llmc_cases, list_megatron_cases, list_npy_cases):
        yield from cases(tokens, two)
