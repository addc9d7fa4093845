"""xlc_checkpoint, with numpy and xxhash alone: what it writes is what it reads and what programs read, whatever layout wrote it, and damage is
found. The tests of programs need xlc: XLC, that of the path, or that of build/."""

import fcntl
import itertools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import xlc_checkpoint  # noqa: E402  pylint: disable=wrong-import-position
from xlc_checkpoint._optimizers import Row, applied_steps  # noqa: E402  pylint: disable=wrong-import-position
from xlc_checkpoint._pieces import Pieces  # noqa: E402  pylint: disable=wrong-import-position
from xlc_checkpoint._write import write  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
XLC = pathlib.Path(os.environ.get("XLC") or shutil.which("xlc") or ROOT / "build" / "bin" / "xlc")
MODEL = ROOT / "test" / "Inputs" / "models" / "mlp"
MEMBERS = {"progress": {"step": 3, "applied": 2, "samples": 24}, "random": {"seed": 5}, "optimizer": {"type": "sgd", "states": ["momentum"]},
           "schedule": "constant", "made_by": {"xlc": "0.1.0", "layout": "imported", "precision": "fp32", "target": "test"}}
TYPES = {"<f4": "F32", "<f8": "F64", "<f2": "F16", "<u2": "BF16"}


def tensor(name, kind, values):
    return name, kind, TYPES[values.dtype.str], list(values.shape), values.tobytes


def some_tensors():
    random = numpy.random.default_rng(0)
    weight = random.standard_normal((3, 5), dtype="f4")
    return [tensor("a.weight", "parameter", weight), tensor("a.weight", "momentum", weight * 2),
            tensor('sc"ale ä', "parameter", numpy.array(1.5, "f8")), tensor("half", "parameter", numpy.array([1, -0.5], "f2")),
            tensor("empty", "parameter", numpy.zeros((0, 3), "f4")), tensor("mean", "buffer", numpy.arange(4, dtype="f4"))]


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def assert_fails(self, words, call, *arguments):
        with self.assertRaises(xlc_checkpoint.Failure) as raised:
            call(*arguments)
        self.assertIn(words, str(raised.exception))


class Cut(unittest.TestCase):
    """Small shapes, cuts and borders between pieces, all of them, beside numpy's own slices."""

    def cuts(self):
        for shape in itertools.product(range(1, 5), repeat=3):
            for dim, outer, parts in itertools.product(range(3), (1, 2), (2, 3)):
                if shape[dim] % outer == 0:
                    yield shape, [dim, outer, parts]

    def split(self, whole, dim, outer, parts):
        """The elements of each piece, with -1 for padding."""
        runs = numpy.split(whole, outer, dim)
        block = -(-runs[0].shape[dim] // parts)
        for index in range(parts):
            padded = []
            for run in runs:
                part = numpy.take(run, range(min(index * block, run.shape[dim]), min((index + 1) * block, run.shape[dim])), dim)
                padded.append(numpy.pad(part, [(0, block - part.shape[i] if i == dim else 0) for i in range(3)], constant_values=-1))
            yield numpy.concatenate(padded, dim).ravel()

    def test_pieces_become_the_tensor(self):
        for shape, cut in self.cuts():
            wanted = numpy.arange(numpy.prod(shape), dtype="f4").reshape(shape)
            for border in (1, 2, 5, 1000):
                pieces, whole = Pieces(list(shape), cut), numpy.full(wanted.size, -2, "f4")
                for index, data in enumerate(self.split(wanted, *cut)):
                    self.assertEqual(len(data), pieces.elements)
                    for begin in range(0, len(data), border):
                        pieces.put(whole, index, begin, data[begin:begin + border])
                self.assertEqual(whole.tolist(), wanted.ravel().tolist(), (shape, cut, border))

    def test_pieces_tile_the_tensor(self):
        pieces = Pieces([5, 2], [0, 1, 2])  # two of three rows
        for good in ([[0, 0, 0, 6], [1, 1, 0, 6]], [[1, 1, 4, 6], [0, 0, 0, 6], [0, 1, 0, 4]]):
            pieces.check(good)
        for wrong in ([], [[0, 0, 0, 6]], [[0, 0, 0, 6], [0, 1, 0, 5]], [[0, 0, 0, 6], [0, 0, 0, 6], [0, 1, 0, 6]], [[0, 0, 0, 6], [0, 1, 1, 6]],
                      [[0, 0, 0, 7], [0, 1, 0, 6]], [[0, 0, 0, 6], [0, 1, 0, 6], [0, 2, 0, 6]], [[0, 0, 0, 0], [0, 0, 0, 6], [0, 1, 0, 6]]):
            self.assertRaises(ValueError, pieces.check, wrong)
        for cut in ([1, 1, 1], [2, 1, 2], [0, 2, 2], [0, 0, 2], [0, 1, 0]):
            self.assertRaises(ValueError, Pieces, [5, 2], cut)


class Written(Folder):
    def write(self, step=3, tensors=None):
        return write(self.folder / "ck", step, tensors or some_tensors(), MEMBERS)

    def test_what_is_written_is_read(self):
        path, wanted = self.write(), some_tensors()
        checkpoint = xlc_checkpoint.load(path)
        self.assertEqual((path.name, checkpoint.progress), ("step-00000003", MEMBERS["progress"]))
        self.assertEqual(set(checkpoint), {"a.weight", "momentum/a.weight", 'sc"ale ä', "half", "empty", "mean"})
        for (key, array), (_, _, _, shape, read) in zip(checkpoint.items(), sorted(wanted, key=lambda each: each[1] == "momentum")):
            self.assertEqual((list(array.shape), array.tobytes()), (shape, read()), key)
        self.assertEqual(sorted(each.name for each in path.iterdir()),
                         ["checkpoint.json", "parameters-00000.safetensors", "states-00000.safetensors"])

    def test_bfloat16_is_a_float32_of_the_same_value(self):
        values = numpy.array([1, -2.5, 3e38, numpy.inf], "f4")
        loaded = xlc_checkpoint.load(self.write(tensors=[tensor("x", "parameter", (values.view("<u4") >> 16).astype("<u2"))]))["x"]
        self.assertEqual(loaded.dtype, numpy.float32)
        self.assertEqual(loaded[:2].tolist() + [loaded[3]], [1, -2.5, numpy.inf])

    def test_a_flipped_bit_anywhere_is_found(self):
        path = self.write()
        for file in sorted(path.iterdir()):
            good = file.read_bytes()
            for at in range(len(good)):
                file.write_bytes(good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1:])
                self.assert_fails(file.name, lambda: list(xlc_checkpoint.load(path).values()))
            file.write_bytes(good[:-1])
            self.assert_fails(file.name, xlc_checkpoint.load, path)
            file.write_bytes(good)
        self.assertEqual(len(list(xlc_checkpoint.load(path).values())), 6)

    def test_a_file_of_another_checkpoint_is_found(self):
        path, other = self.write(), self.write(4, [tensor("mean", "buffer", numpy.ones(4, "f4")), *some_tensors()[:5]])
        shutil.copy(other / "parameters-00000.safetensors", path)
        self.assert_fails("parameters-00000.safetensors: is damaged: its header has checksum", xlc_checkpoint.load, path)

    def test_each_block_is_verified(self):
        """Damage is named with file, tensor and bytes, and the tensor beside it is read."""
        large = numpy.arange(600000, dtype="f4")
        path = self.write(tensors=[tensor("large", "parameter", large), tensor("small", "parameter", large[:4])])
        self.assertTrue((xlc_checkpoint.load(path)["large"] == large).all())
        file = path / "parameters-00000.safetensors"
        data = bytearray(file.read_bytes())
        data[-100] ^= 1
        file.write_bytes(data)
        checkpoint = xlc_checkpoint.load(path)
        self.assert_fails("parameters-00000.safetensors: is damaged: 'large': its bytes 2097152 to 2400000", checkpoint.__getitem__, "large")
        self.assertEqual(checkpoint["small"].tolist(), [0, 1, 2, 3])

    def test_the_newest_that_is_whole_is_taken(self):
        paths = [self.write(step) for step in (3, 10, 200)]
        self.assertEqual(xlc_checkpoint.load(self.folder / "ck").folder, paths[2])
        (paths[2] / "checkpoint.json").unlink()
        self.assertEqual(xlc_checkpoint.load(self.folder / "ck").folder, paths[1])
        os.truncate(paths[1] / "states-00000.safetensors", 10)
        self.assertEqual(xlc_checkpoint.load(self.folder / "ck").folder, paths[0])
        shutil.copytree(paths[0], self.folder / "ck" / "step-00000003.before")
        self.assertEqual(xlc_checkpoint.load(self.folder / "ck").folder, paths[0])
        shutil.rmtree(paths[0])
        self.assertEqual(xlc_checkpoint.load(self.folder / "ck").folder.name, "step-00000003.before")
        self.assert_fails("step-00000010/states-00000.safetensors", lambda: [
            shutil.rmtree(self.folder / "ck" / "step-00000003.before"), xlc_checkpoint.load(self.folder / "ck")])
        self.assert_fails("cannot be read: No such file", xlc_checkpoint.load, self.folder / "none")

    def test_an_attempt_that_ends_early_leaves_what_was_there(self):
        def stop():
            raise OSError("no room")
        broken = [*some_tensors(), ("last", "momentum", "F32", [2], stop)]
        self.assertRaises(OSError, self.write, 3, broken)
        self.assertEqual([each.name for each in (self.folder / "ck").iterdir()], ["lock"])
        path = self.write()
        self.assertRaises(OSError, self.write, 3, broken)
        self.assertEqual(sorted(each.name for each in (self.folder / "ck").iterdir()), ["lock", "step-00000003"])
        self.assertEqual(len(xlc_checkpoint.load(path)), 6)
        (path / "checkpoint.json").rename(path / "torn")
        self.write(tensors=some_tensors()[:1])
        self.assertEqual(list(xlc_checkpoint.load(path)), ["a.weight"])
        self.write()
        self.assertEqual(sorted(each.name for each in (self.folder / "ck").iterdir()), ["lock", "step-00000003"])
        self.assertEqual(len(xlc_checkpoint.load(path)), 6)

    def test_one_run_writes_in_a_folder(self):
        self.write()
        with open(self.folder / "ck" / "lock", "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_fails("another run is writing checkpoints", self.write)


class Optimizers(Folder):
    def make(self, name, *bases, state=None, **group):
        optimizer = type(name, bases, {})()
        optimizer.param_groups, optimizer.state = [group, dict(group)], state or {}
        return optimizer

    def test_pytorchs_have_their_names(self):
        for optimizer, words, states in [
                (self.make("AdamW", type("Adam", (), {})), "adamw", ["m", "v"]),
                (self.make("Adam", decoupled_weight_decay=False), "adam", ["m", "v"]),
                (self.make("Adam", decoupled_weight_decay=True), "adamw", ["m", "v"]), (self.make("SGD", momentum=0), "sgd", []),
                (self.make("SGD", momentum=0.9, nesterov=False), "sgd", ["momentum"]), (self.make("Lion"), "lion", ["m"]),
                (self.make("SGD", momentum=0.9, nesterov=True), "nesterov", ["momentum"]), (self.make("Adagrad"), "adagrad", ["sum"])]:
            self.assertEqual((Row(optimizer).type, list(Row(optimizer).states)), (words, states))

    def test_what_no_program_has_is_said(self):
        self.assert_fails("programs do not support the optimizer RMSprop", Row, self.make("RMSprop"))
        self.assert_fails("amsgrad", Row, self.make("AdamW", amsgrad=True))
        uneven = self.make("SGD", momentum=0.9)
        uneven.param_groups[0]["momentum"] = 0
        self.assert_fails("groups of the optimizer differ in 'momentum'", Row, uneven)

    def test_steps_are_counted_once(self):
        self.assertEqual(applied_steps(self.make("Adam", state={"a": {"step": 4.0}, "b": {"step": 4}, "unread": {"step": 0}})), 4)
        self.assertIsNone(applied_steps(self.make("SGD", state={"a": {}})))
        self.assert_fails("some parameters 3 times and others 4", applied_steps, self.make("Adam", state={1: {"step": 3}, 2: {"step": 4}}))


@unittest.skipUnless(XLC.exists(), "there is no xlc")
class Programs(Folder):
    LAYOUTS = {"sharded": {"dp": 2, "zero_stage": 3, "zero": {"persistence_threshold": 0}}, "cut": {"tp": 2, "pp": 2}}

    def run_it(self, *command):
        done = subprocess.run([str(each) for each in command], cwd=self.folder, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def make(self, name):
        spec = {"batch": {"global": 8, "micro": 4}, "loss": {"type": "cross_entropy", "logits": "logits", "labels": "y"},
                "optimizer": {"type": "adamw"}, "checkpoint": {"dir": name}, **self.LAYOUTS[name]}
        (self.folder / f"{name}.yaml").write_text(json.dumps(spec))
        self.run_it(XLC, "compile", MODEL / "logits.onnx", "--spec", f"{name}.yaml", "-o", f"train-{name}")

    def train(self, name, steps, *options):
        (self.folder / "log.jsonl").unlink(missing_ok=True)
        self.run_it(f"./train-{name}", "--steps", steps, "--data", f"x={MODEL / 'x.npy'},y={MODEL / 'y.npy'}", "--log", "log.jsonl", *options)
        return [{key: value for key, value in json.loads(line).items() if "second" not in key}
                for line in (self.folder / "log.jsonl").read_text().splitlines()]

    def exported(self, checkpoint):
        self.run_it(XLC, "checkpoint", "export", checkpoint, "-o", "whole.safetensors", "--states")
        data = (self.folder / "whole.safetensors").read_bytes()
        begin = 8 + struct.unpack_from("<Q", data)[0]
        header = json.loads(data[8:begin])
        return {key: data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]] for key, entry in header.items()
                if key != "__metadata__"}

    def test_what_a_program_writes_is_read_and_written_for_the_other(self):
        for name in self.LAYOUTS:
            self.make(name)
        for name, other in (("sharded", "cut"), ("cut", "sharded")):
            for each in self.LAYOUTS:
                shutil.rmtree(self.folder / each, ignore_errors=True)
            self.train(name, 3)
            checkpoint = xlc_checkpoint.load(self.folder / name)
            self.assertEqual(checkpoint.progress, {"step": 3, "applied": 3, "samples": 24})
            wanted = self.exported(checkpoint.folder)
            self.assertEqual({key: array.tobytes() for key, array in checkpoint.items()}, wanted)
            self.assertGreater(len(checkpoint.manifest["files"]), 2)
            again = [tensor(each["name"], each["kind"], checkpoint[key]) for key, each in checkpoint.tensors.items()]
            members = {key: checkpoint.manifest[key] for key in (*MEMBERS, "data")}
            back = write(self.folder / f"from-{name}", 3, again, members)
            self.run_it(XLC, "checkpoint", "verify", back)
            self.assertEqual(self.exported(back), wanted)
            whole = self.train(other, 6, "--resume", checkpoint.folder)
            self.assertEqual(self.train(other, 6, "--resume", back), whole)
            self.assertEqual([each["step"] for each in whole], [4, 5, 6])


if __name__ == "__main__":
    unittest.main()
