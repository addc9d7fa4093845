"""xlc_data, with numpy alone: what it writes is what was read, in the formats of lib/Runtime/Data, a record at a time."""

import contextlib
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from xlc_data import LlmcWriter, NpyWriter, check_folder, write_rows, write_tokens  # noqa: E402  pylint: disable=wrong-import-position
from xlc_data.__main__ import main  # noqa: E402  pylint: disable=wrong-import-position


def call(*arguments):
    """(exit code, what was printed)"""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([str(word) for word in arguments])
    return code, said.getvalue()


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


class Tokens(Folder):
    def read(self, path):
        content = path.read_bytes()
        magic, version, count = struct.unpack_from("<3i", content)
        dtype = {(20240520, 1): "<u2", (20240801, 7): "<u4"}[magic, version]
        tokens = numpy.frombuffer(content, dtype, offset=1024)
        self.assertEqual(len(tokens), count)
        return list(tokens)

    def test_texts_are_their_bytes(self):
        first, second = self.write("a.txt", "añ\nb"), self.write("b.txt", "c")
        out = self.folder / "train.bin"
        self.assertEqual(call("tokens", first, second, "-o", out), (0, f"{out}: 6 tokens\n"))
        self.assertEqual(bytes(self.read(out)), "añ\nbc".encode())

    def test_a_separator_stands_behind_each_record(self):
        lines = self.write("a.jsonl", '{"body": "ab"}\n\n{"body": "c"}\n')
        out = self.folder / "train.bin"
        self.assertEqual(call("tokens", lines, "-o", out, "--field", "body", "--separator", 0)[0], 0)
        self.assertEqual(self.read(out), [97, 98, 0, 99, 0])

    def test_many_words_take_32_bits(self):
        with LlmcWriter(self.folder / "a", 65535) as narrow, LlmcWriter(self.folder / "b", 65536) as wide:
            narrow.write([65534]), wide.write([65535])
        self.assertEqual((self.folder / "a").stat().st_size, 1026)
        self.assertEqual(self.read(self.folder / "b"), [65535])

    def test_what_is_wrong_is_said_and_leaves_no_file(self):
        out = self.folder / "train.bin"
        for name, text, words in [("a.jsonl", "{", "a.jsonl:1: not JSON"), ("b.jsonl", "[1]", "b.jsonl:1: a line must be a JSON object"),
                                  ("c.jsonl", '{"x": 1}', "c.jsonl: record 0: no field 'text'; the fields are x")]:
            code, said = call("tokens", self.write(name, text), "-o", out)
            self.assertEqual(code, 1)
            self.assertIn(words, said)
            self.assertFalse(out.exists())
        self.assertIn("no such file", call("tokens", self.folder / "none", "-o", out)[1])
        code, said = call("tokens", self.write("a.txt", "ab"), "-o", out, "--separator", 256)
        self.assertEqual(code, 1)
        self.assertIn("a token of 256, but tokens must be from 0 to 255", said)

    def test_a_long_text_is_read_in_pieces(self):
        path, out = self.write("long.txt", "0123456789abcde\n" * 200000), self.folder / "train.bin"
        self.assertEqual(write_tokens([path], out), 3200000)
        self.assertEqual(bytes(self.read(out)), path.read_bytes())


class Rows(Folder):
    def load(self, name):
        return numpy.load(self.folder / f"{name}.npy").tolist()

    def test_rows_are_cut_and_padded(self):
        table = self.write("a.csv", 'text,label\nab,1\n"c,defg",0\n')
        self.assertEqual(call("rows", table, "-o", self.folder, "--max-length", 4)[0], 0)
        self.assertEqual(self.load("input_ids"), [[97, 98, 0, 0], [99, 44, 100, 101]])
        self.assertEqual(self.load("attention_mask"), [[1, 1, 0, 0], [1, 1, 1, 1]])
        self.assertEqual(self.load("token_type_ids"), [[0] * 4] * 2)
        self.assertEqual(self.load("labels"), [[97, 98, -100, -100], [99, 44, 100, 101]])
        self.assertEqual(write_rows(table, self.folder, 4, label="label"), 2)
        self.assertEqual(self.load("labels"), [1, 0])

    def test_a_tokenizer_says_which_text_a_token_is_of(self):
        class Two:
            words, separator, padding = 10, None, 9

            def encode(self, text, pair=None, length=None):
                return [1, 2], [0, 1]
        lines = self.write("a.jsonl", json.dumps({"q": "x", "a": "y"}))
        write_rows(lines, self.folder, 3, Two(), text="q", pair="a")
        self.assertEqual((self.load("input_ids"), self.load("token_type_ids")), ([[1, 2, 9]], [[0, 1, 0]]))

    def test_a_class_is_a_number(self):
        code, said = call("rows", self.write("a.csv", "text,label\na,good\n"), "-o", self.folder, "--label", "label")
        self.assertEqual(code, 1)
        self.assertIn("record 0: the class is 'good', but must be an integer", said)

    def test_numpy_reads_what_is_written(self):
        with NpyWriter(self.folder / "a.npy", (2,), "u1") as file:
            file.write([1, 255])
            for wrong in ([1], [1, 256], [-1, 0]):
                self.assertRaises(ValueError, file.write, wrong)
        loaded = numpy.load(self.folder / "a.npy")
        self.assertEqual((loaded.dtype, loaded.tolist()), (numpy.uint8, [[1, 255]]))


class Check(Folder):
    INPUTS = [("ids", "INT64", [3]), ("x", "FLOAT", [None, 2])]

    def test_what_a_model_reads_is_there(self):
        numpy.save(self.folder / "ids.npy", numpy.zeros((4, 3), "u2"))
        numpy.save(self.folder / "x.npy", numpy.zeros((4, 5, 2), "f4"))
        self.assertEqual(check_folder(self.folder, self.INPUTS), [])

    def test_what_is_wrong_is_listed(self):
        self.assertIn("No such file", check_folder(self.folder, self.INPUTS)[0])
        numpy.save(self.folder / "ids.npy", numpy.zeros((4, 2), "f4"))
        numpy.save(self.folder / "x.npy", numpy.zeros((5, 5, 2), "f4"))
        said = "\n".join(check_folder(self.folder, self.INPUTS))
        for words in ("ids.npy: elements are '<f4', but input 'ids' is INT64", "ids.npy: the shape is [4, 2], but input 'ids' needs [rows, 3]",
                      "x.npy: has 5 rows, but"):
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
