"""xlc_checkpoint beside PyTorch. A run that moves between the two: ten steps in a program of one rank, ten in PyTorch, ten in a program of two
ranks that shard everything, against thirty of PyTorch. And what `xlc checkpoint export` writes, read by those who read such files."""

import json
import pathlib
import sys
import tempfile
import unittest
import warnings

import numpy
import torch
import transformers
import xlc_export
from huggingface_hub import load_state_dict_from_file
from safetensors.torch import load_file
from torch.distributed import checkpoint

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import xlc_checkpoint  # noqa: E402  pylint: disable=wrong-import-position

BATCH, STEPS, LENGTH, WORDS = 8, 30, 12, 64
OPTIMIZERS = {
    "adamw": ({"type": "adamw", "lr": 1e-3, "weight_decay": 0.1}, lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.1)),
    "adam": ({"type": "adam", "lr": 1e-3}, lambda p: torch.optim.Adam(p, lr=1e-3)),
    "sgd": ({"type": "sgd", "lr": 0.05, "momentum": 0.9}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "nesterov": ({"type": "nesterov", "lr": 0.05, "momentum": 0.9}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
    "adagrad": ({"type": "adagrad", "lr": 0.01}, lambda p: torch.optim.Adagrad(p, lr=0.01)),
}


# Ranks of the last ten steps hold a part of everything.
SHARDED = {"dp": 2, "zero_stage": 3, "zero": {"persistence_threshold": 0}}


class Gpt2(transformers.GPT2LMHeadModel):
    """With a tied embedding."""

    def forward(self, ids, labels):
        return super().forward(input_ids=ids, labels=labels, use_cache=False).loss


class Bert(transformers.BertForSequenceClassification):
    def forward(self, ids, labels):
        return torch.nn.functional.cross_entropy(super().forward(input_ids=ids).logits, labels)


class Norms(torch.nn.Module):
    """Running averages, a buffer of which no program has a state, a frozen parameter, and one that nothing reads."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 10)
        self.unread = torch.nn.Parameter(torch.ones(3))
        self.frozen = torch.nn.Parameter(torch.linspace(0.5, 1.5, 16), requires_grad=False)
        self.register_buffer("mask", torch.tensor([1.0, 0.0, 1.0, 1.0] * 4))

    def forward(self, ids, labels):
        return torch.nn.functional.cross_entropy(self.last(torch.relu(self.norm(self.first(ids))) * self.mask * self.frozen), labels)


def make_gpt2():
    torch.manual_seed(0)
    return Gpt2(transformers.GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=WORDS, n_positions=16, resid_pdrop=0., embd_pdrop=0.,
                                        attn_pdrop=0., bos_token_id=0, eos_token_id=0, initializer_range=0.1)).eval()


def make_bert():
    torch.manual_seed(0)
    return Bert(transformers.BertConfig(num_hidden_layers=2, num_attention_heads=2, hidden_size=32, intermediate_size=64, vocab_size=WORDS,
                                        max_position_embeddings=16, hidden_dropout_prob=0., attention_probs_dropout_prob=0., num_labels=2,
                                        initializer_range=0.1)).eval()


def make_norms():
    torch.manual_seed(0)
    return Norms().train()


def rows_of(make):
    """Of all steps: {input: array}"""
    random = numpy.random.default_rng(0)
    count = BATCH * STEPS
    ids = random.integers(0, WORDS, (count, LENGTH))
    if make is make_gpt2:
        return {"ids": ids, "labels": ids}
    if make is make_bert:
        return {"ids": ids, "labels": random.integers(0, 2, count)}
    return {"ids": random.standard_normal((count, 6), dtype="float32"), "labels": random.integers(0, 10, count)}


class Run:
    """A model, its rows and its programs, in a folder."""

    def __init__(self, folder, make, optimizer="adamw"):
        self.folder, self.make, self.rows = folder, make, rows_of(make)
        self.spec, self.make_optimizer = OPTIMIZERS[optimizer]
        for name, values in self.rows.items():
            numpy.save(folder / f"{name}.npy", values)
        module = make()
        axes = tuple({0: "batch", 1: "sequence"} if values.shape[1:] == (LENGTH,) else {0: "batch"} for values in self.rows.values())
        with warnings.catch_warnings(action="ignore"):
            xlc_export.export(module, tuple(self.batch(0).values()), folder / "model.onnx", input_names=["ids", "labels"],
                              output_names=["loss"], dynamic_shapes=axes, verbose=False, reference=False)

    def batch(self, step):
        return {name: torch.from_numpy(values[step * BATCH:(step + 1) * BATCH]) for name, values in self.rows.items()}

    def train_program(self, name, steps, *options, **layout):
        """Losses and gradient norms of the steps that it does; checkpoints in the folder `name`."""
        dims = {} if self.make is make_norms else {"sequence": LENGTH}
        spec = {"optimizer": self.spec, "loss": {"output": "loss"}, "dims": dims, "data": {"train": str(self.folder)},
                "batch": {"global": BATCH, "micro": BATCH // layout.get("dp", 1)}, "checkpoint": {"dir": name}, **layout}
        (self.folder / f"{name}.yaml").write_text(json.dumps(spec))
        program.run(program.XLC, "compile", "model.onnx", "--spec", f"{name}.yaml", "-o", f"train-{name}", folder=self.folder)
        program.run(f"./train-{name}", "--steps", steps, "--log", f"{name}.jsonl", *options, folder=self.folder)
        return [(line["loss"], line["grad_norm"]) for line in map(json.loads, (self.folder / f"{name}.jsonl").read_text().splitlines())]

    def begin(self):
        module = self.make()
        return module, self.make_optimizer([p for p in module.parameters() if p.requires_grad])

    def train_torch(self, module, optimizer, first, last):
        done = []
        for step in range(first, last):
            optimizer.zero_grad()
            loss = module(**self.batch(step))
            loss.backward()
            norm = sum(float(p.grad.double().square().sum()) for p in module.parameters() if p.grad is not None) ** 0.5
            optimizer.step()
            done.append((loss.item(), norm))
        return done


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def assert_equal_tensors(self, got, wanted):
        self.assertEqual(got.keys(), wanted.keys())
        for key, tensor in wanted.items():
            self.assertTrue(torch.equal(got[key], tensor), key)


class There(Folder):
    """Ten steps each: a program, PyTorch, a program."""

    def check(self, make, optimizer, strict=True, like=True, **layout):
        run = Run(self.folder, make, optimizer)
        wanted = run.train_torch(*run.begin(), 0, STEPS)
        got = run.train_program("first", 10)
        module, torchs = run.begin()
        progress = xlc_checkpoint.to_torch(self.folder / "first", module, torchs, strict)
        self.assertEqual(progress, {"step": 10, "applied": 10, "samples": 10 * BATCH})
        got += run.train_torch(module, torchs, 10, 20)
        back = xlc_checkpoint.from_torch(self.folder / "back", module, torchs, 20, samples=None if like else 20 * BATCH,
                                         like=self.folder / "first" if like else None)
        program.run(program.XLC, "checkpoint", "verify", back, folder=self.folder)
        got += run.train_program("last", STEPS, "--resume", back, **layout)
        far = [program.distance([each[i] for each in got], [each[i] for each in wanted]) for i in (0, 1)]
        print(f"{make.__name__[5:]} {optimizer}: losses {far[0]:.1e}, gradient norms {far[1]:.1e}", flush=True)
        self.assertLessEqual(far[0], 5e-6)
        self.assertLessEqual(far[1], 5e-5)
        return run

    def test_gpt2_with_adamw(self):
        self.check(make_gpt2, "adamw", **SHARDED)

    def test_gpt2_without_an_earlier_checkpoint(self):
        self.check(make_gpt2, "adamw", like=False, **SHARDED)

    def test_gpt2_with_momentum(self):
        self.check(make_gpt2, "sgd", **SHARDED)

    def test_bert_with_adagrad(self):
        self.check(make_bert, "adagrad", **SHARDED)

    def test_norms(self):
        """Each micro-batch is normalised by itself, so that one rank goes on."""
        for optimizer in ("adam", "nesterov", "adamw"):
            with self.subTest(optimizer=optimizer), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                self.check(make_norms, optimizer, strict=False)


class Different(Folder):
    """What does not fit is said before anything is copied, up to three differences."""

    def setUp(self):
        super().setUp()
        self.module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
        self.optimizer = torch.optim.AdamW(self.module.parameters())
        self.path = xlc_checkpoint.from_torch(self.folder, self.module, self.optimizer, 7, samples=56)

    def assert_fails(self, words, call, *arguments, **named):
        with self.assertRaises(xlc_checkpoint.Failure) as raised:
            call(*arguments, **named)
        self.assertIn(words, str(raised.exception))

    def test_another_model(self):
        other = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
        before = [p.clone() for p in other.parameters()]
        self.assert_fails("'0.weight' has shape [4, 3] in the checkpoint, but the module needs [5, 3]; '0.bias' has shape [4] in the checkpoint, but the module needs [5]; "
                          "the module has no parameter '1.weight'; and 3 more", xlc_checkpoint.to_torch, self.folder, other)
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(before, other.parameters())))
        self.assert_fails("step-00000007: belongs to a different model", xlc_checkpoint.from_torch, self.folder / "x", other, self.optimizer, 8,
                          like=self.path)
        larger = torch.nn.Sequential(*self.module, torch.nn.Linear(2, 2))
        self.assert_fails("it has no parameter '2.weight'; it has no parameter '2.bias'", xlc_checkpoint.to_torch, self.path, larger)
        self.assertEqual(xlc_checkpoint.to_torch(self.path, larger, strict=False)["step"], 7)

    def test_another_optimizer(self):
        all_of, first = list(self.module.parameters()), list(self.module[0].parameters())
        for other, words in (
                (torch.optim.SGD(all_of, momentum=0.9), "its optimizer is adamw (m, v), but PyTorch's is sgd (momentum)"),
                (torch.optim.AdamW(first), "it has states of '1.weight', which PyTorch's optimizer does not train"),
                (torch.optim.RMSprop(all_of), "programs do not support the optimizer RMSprop")):
            self.assert_fails(words, xlc_checkpoint.to_torch, self.path, self.module, other)
        part = xlc_checkpoint.from_torch(self.folder / "part", self.module, torch.optim.AdamW(first), 1, 8)
        self.assert_fails("it has no states of '1.weight', which PyTorch's optimizer trains; it has no states of '1.bias'",
                          xlc_checkpoint.to_torch, part, self.module, self.optimizer)

    def test_what_is_written_comes_back(self):
        """States of tensors that are not contiguous, of a tie, and of two groups in another order."""
        weight = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4).t())
        module = torch.nn.ParameterDict({"a": weight, "b": torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16)), "tie": weight})
        optimizer = torch.optim.Adam([{"params": [module["b"]], "lr": 0.1}, {"params": [weight]}])
        for _ in range(3):
            (weight.square().sum() + module["b"].sum()).backward()
            optimizer.step()
        path = xlc_checkpoint.from_torch(self.folder / "odd", module, optimizer, 5, 40)
        self.assertEqual(xlc_checkpoint.load(path).progress, {"step": 5, "applied": 3, "samples": 40})
        other = torch.nn.Parameter(torch.zeros(4, 3))
        copy = torch.nn.ParameterDict({"a": other, "b": torch.nn.Parameter(torch.zeros(2, dtype=torch.bfloat16)), "tie": other})
        again = torch.optim.Adam(copy.parameters())
        xlc_checkpoint.to_torch(path, copy, again)
        self.assert_equal_tensors(dict(copy.items()), dict(module.items()))
        for name in ("a", "b"):
            self.assert_equal_tensors(again.state[copy[name]], optimizer.state[module[name]])

    def test_samples_are_known(self):
        self.assert_fails("samples=STEPS * GLOBAL_BATCH", xlc_checkpoint.from_torch, self.folder, self.module, self.optimizer, 8)
        path = xlc_checkpoint.from_torch(self.folder, self.module, self.optimizer, 9, like=self.path)
        self.assertEqual(xlc_checkpoint.load(path).progress["samples"], 72)


class Exported(Folder):
    """What `xlc checkpoint export` writes has the checkpoint's bits for those who read such files."""

    def make(self, make):
        self.run_of = Run(self.folder, make)
        self.run_of.train_program("ck", 2, **SHARDED)
        self.checkpoint = xlc_checkpoint.load(self.folder / "ck")
        return {key: torch.from_numpy(self.checkpoint[key]) for key, each in self.checkpoint.tensors.items() if each["kind"] == "parameter"}

    def export(self, *arguments):
        program.run(program.XLC, "checkpoint", "export", self.checkpoint.folder, *arguments, folder=self.folder)

    def test_safetensors_loads_it(self):
        wanted = self.make(make_gpt2)
        self.export("-o", "model.safetensors")
        self.assert_equal_tensors(load_file(self.folder / "model.safetensors"), wanted)
        self.export("-o", "half.safetensors", "--dtype", "bf16", "--states")
        got = load_file(self.folder / "half.safetensors")
        self.assert_equal_tensors({key: got[key] for key in wanted}, {key: values.to(torch.bfloat16) for key, values in wanted.items()})
        self.assertEqual(got.keys(), self.checkpoint.keys())

    def test_from_pretrained_loads_it(self):
        for make, name in ((make_gpt2, "GPT2LMHeadModel"), (make_bert, "BertForSequenceClassification")):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                wanted = self.make(make)
                for size in ("20KiB", "1GB"):
                    self.export("-o", f"hf-{size}", "--shard-size", size)
                    self.run_of.make().config.save_pretrained(self.folder / f"hf-{size}")
                    loaded, about = getattr(transformers, name).from_pretrained(self.folder / f"hf-{size}", output_loading_info=True)
                    self.assertFalse([*about["missing_keys"], *about["unexpected_keys"], *about["mismatched_keys"]], about)
                    self.assert_equal_tensors({key: values.data for key, values in loaded.named_parameters()}, wanted)
                    print(f"{name} {size}: {len(list((self.folder / f'hf-{size}').glob('*.safetensors')))} files", flush=True)

    def test_dcp_loads_it(self):
        wanted = self.make(make_gpt2)
        self.export("-o", "hf", "--shard-size", "20KiB")
        state = {key: torch.zeros_like(values) for key, values in wanted.items()}
        with warnings.catch_warnings(action="ignore"):
            checkpoint.load(state, storage_reader=checkpoint.HuggingFaceStorageReader(str(self.folder / "hf")), no_dist=True)
        self.assert_equal_tensors(state, wanted)

    def test_readers_that_ask_for_the_format_load_it(self):
        wanted = self.make(make_bert)
        self.export("-o", "model.safetensors")
        self.assert_equal_tensors(load_state_dict_from_file(self.folder / "model.safetensors"), wanted)


if __name__ == "__main__":
    unittest.main()
