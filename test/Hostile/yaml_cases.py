"""Specs for examples/mlp/logits.onnx. Where a value is wrong, the message stands at its line."""

from cases import accept, refuse

LOSS = "loss: {type: cross_entropy, logits: logits, labels: y}\n"

WRONG_NUMBERS = {"minus one": "-1", "a half": "1.5", "a word": "two", "a list": "[1]", "an empty list": "[]", "a mapping": "{a: 1}", "null": "null",
                 "true": "true", "2^63": "9223372036854775808", "2^64 + 1": "18446744073709551617", "thirty digits": "1" * 30, "1e3": "1e3",
                 "hexadecimal": "0x10", "NaN": ".nan", "infinity": ".inf", "a quoted number": "'2 '", "a unit": "2GB"}
COUNTS = ["dp", "pp", "tp", "dp_shard", "zero_stage", "batch.global", "batch.micro", "runtime.threads_per_rank", "pipeline.chunks"]
WRONG_RATES = {"a word": "fast", "a list": "[0.1]", "a mapping": "{a: 1}", "null": "null", "NaN": ".nan", "infinity": ".inf", "minus infinity": "-.inf",
               "true": "true", "too large": "1e999"}
RATES = ["optimizer.lr", "optimizer.weight_decay", "optimizer.momentum", "clip_norm"]
WRONG_WORDS = {"a number": "3", "a list": "[sgd]", "an unknown word": "adamax", "upper case": "SGD", "null": "null", "empty": "''", "an escape": '"s\\egd"'}
WORDS = ["optimizer.type", "loss.type", "pipeline.schedule", "zero.reduce"]


def nested(path, value):
    """The key in flow style on the second line, after what makes the spec good."""
    keys = path.split(".")
    head = LOSS if keys[0] != "loss" else "dp: 1\n"
    if path == "clip_norm":
        keys = ["optimizer", "clip_norm"]
    return head + f"{keys[0]}: " + "".join(f"{{{key}: " for key in keys[1:]) + value + "}" * (len(keys) - 1) + "\n"


def list_cases():
    yield accept("only the loss", LOSS.encode())
    yield accept("comments", b"# first\n" + LOSS.encode() + b"# last")
    yield accept("line ends of Windows", LOSS.replace("\n", "\r\n").encode() + b"dp: 2\r\n")
    yield accept("block style", b"loss:\n  type: cross_entropy\n  logits: logits\n  labels: y\ndp: 2\n")
    yield accept("quoted keys", b'"dp": 2\n' + LOSS.encode())
    yield accept("a document mark", b"---\n" + LOSS.encode())
    yield accept("a thousand comments", b"# x\n" * 1000 + LOSS.encode())
    yield accept("the largest mesh that can be planned", b"dp: 65536\n" + LOSS.encode())

    for key in COUNTS:
        for what, value in WRONG_NUMBERS.items():
            yield refuse(f"{key} is {what}", nested(key, value).encode(), ":2:")
    for key in ("dp", "pp", "tp", "batch.global", "batch.micro"):
        yield refuse(f"{key} is zero", nested(key, "0").encode(), ":2:")
    for key in RATES:
        for what, value in WRONG_RATES.items():
            yield refuse(f"{key} is {what}", nested(key, value).encode(), ":2:")
    for key in WORDS:
        for what, value in WRONG_WORDS.items():
            yield refuse(f"{key} is {what}", nested(key, value).encode(), ":2:")
    for section in ("batch", "optimizer", "loss", "zero", "pipeline", "data", "init", "cluster", "runtime", "dims"):
        for what, value in {"a number": "3", "a word": "word", "a list": "[1, 2]"}.items():
            if (section, what) not in {("init", "a word")}:
                head = LOSS if section != "loss" else "dp: 1\n"
                yield refuse(f"section {section} is {what}", (head + f"{section}: {value}\n").encode(), ":2:")
        yield refuse(f"an unknown key in {section}", (("dp: 1\n" if section == "loss" else LOSS) + f"{section}: {{surprise: 1}}\n").encode(), ":2:")
    for typo in ("zero_stag", "batchs", "optimiser", "DP", "los", " ", "dp ", "data parallel", "0", "~", "<<"):
        yield refuse(f"the key {typo!r}", (LOSS + f"'{typo}': 1\n").encode(), ":2:")

    syntax = {
        "an open bracket": "dp: [1\n", "an open brace": "dp: {a: 1\n", "an open quote": "dp: 'two\n", "a tab": "\tdp: 2\n", "two values": "dp: 2 3: 4\n",
        "a list at the top": "- dp: 2\n", "a word at the top": "hello\n", "a lone colon": ": 2\n", "a key twice": "dp: 2\ndp: 2\n",
        "a key twice in a section": "batch: {micro: 1, micro: 1}\n", "an anchor": "dp: &a 2\n", "an alias": "dp: *a\n", "anchor and alias": "dp: &a 2\ntp: *a\n",
        "a merge": "<<: {dp: 2}\n", "a tag": "dp: !!int 2\n", "a tag of one's own": "dp: !run 2\n", "a binary tag": "dp: !!binary Mg==\n",
        "two documents": "dp: 2\n---\ndp: 3\n", "a directive": "%YAML 9.9\n---\ndp: 2\n", "a complex key": "? [dp]\n: 2\n", "a block scalar": "dp: |\n  2\n",
        "wrong indentation": "batch:\n  micro: 1\n global: 2\n", "an unknown escape": 'dp: "\\q"\n',
        "a hundred laughs": "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'}, *{'a' if i == 0 else f'b{i - 1}'}]\n" for i in range(30)),
    }
    for what, text in syntax.items():
        yield refuse(what, text.encode(), "error:")
    raw = {"NUL": b"dp: 2\0\n", "an escaped NUL": b'data: {train: "a\\0b"}\n', "an escaped NUL in a key": b'"d\\0p": 1\n', "NUL alone": b"\0", "an escape": b"dp: \x1b[31m2\n", "a bell": b"dp: 2\a\n", "delete": b"dp: 2\x7f\n", "C1": b"dp: \xc2\x9b2\n",
           "turned text": b"a\xe2\x80\xaeb: 2\n", "no UTF-8": b"dp: \xff\xfe\n", "an overlong form": b"dp: \xc0\xb2\n", "a surrogate": b"dp: \xed\xa0\x80\n",
           "UTF-16": "dp: 2\n".encode("utf-16"), "UTF-32": "dp: 2\n".encode("utf-32"), "Latin-1": "dp: ü\n".encode("latin1"),
           "a lone carriage return": b"dp: 2\rtp: 1\n", "an ELF file": b"\x7fELF\x02\x01\x01" + b"\0" * 64, "a PNG file": b"\x89PNG\r\n\x1a\n",
           "a megabyte of zeros": b"\0" * 1000000, "random bytes": bytes((i * 167 + 13) % 256 for i in range(4096))}
    for what, content in raw.items():
        yield refuse(what, content, "error:")
    for key, value in {"data.train.x": "a\\0b.npy", "data.train": "a\\0b", "init.from": "a\\0b.safetensors", "cluster.device": "a\\0b.yaml", "dims.a": "\\x00"}.items():
        yield refuse(f"an escaped NUL in {key}", nested(key, f'"{value}"').encode(), "a NUL byte is not allowed in a spec")
    yield refuse("an escaped NUL in a key", (LOSS + 'data: {train: {"x\\0": x.npy}}\n').encode(), "a NUL byte is not allowed in a spec")
    for what, content in {"lists": "[" * 1000000, "closed lists": "[" * 5000 + "]" * 5000, "mappings": "{a: " * 100000, "blocks": "".join(" " * i + "a:\n" for i in range(2000)),
                          "a name": "x" * 1000000 + ": 1\n", "a value": "dp: " + "1" * 1000000 + "\n", "keys": "".join(f"k{i}: 1\n" for i in range(100000)),
                          "a list of names": "trainable: [" + "x, " * 200000 + "]\n" + "dp: -1\n", "brackets": "]" * 100000}.items():
        yield refuse(f"too much: {what}", content.encode(), "error:")

    yield refuse("data of a stranger", (LOSS + "data: {train: {x: x.npy, y: y.npy, z: none.npy}}\n").encode(), ":2:39: error: data.train has a file for 'z', which is not an input of the model; its inputs are 'x', 'y'")
    model = {
        "a loss that is no output": "loss: {output: lossy}\n", "logits that are no output": LOSS.replace("logits: logits", "logits: logit"),
        "a dimension that the model does not have": LOSS + "dims: {seqence: 32}\n", "tie of strangers": LOSS + "tie: [[a, b]]\n",
        "tie of one": LOSS + "tie: [['0.weight', '0.weight']]\n", "untie of a stranger": LOSS + "untie: [a]\n", "padding of a stranger": LOSS + "padding: {a: 1}\n",
        "nothing to train": LOSS + "trainable: ['!*']\n", "an empty list to train": LOSS + "trainable: []\n", "a cut at a stranger": LOSS + "pp: 2\npipeline: {cuts: [a]}\n",
        "a layout of a stranger": LOSS + "tp: 2\nlayout: {a: {axis: tp, dim: 0}}\n", "shards that do not divide": LOSS + "dp: 4\nzero_stage: 1\ndp_shard: 3\n",
        "a batch that does not divide": LOSS + "dp: 2\nbatch: {global: 3, micro: 1}\n", "too many micro-batches": LOSS + "batch: {global: 2000000, micro: 1}\n",
        "ranks beyond 64 bits": LOSS + "dp: 4294967296\npp: 4294967296\ntp: 2\n", "a stage of nothing": LOSS + "pp: 64\n",
        "a schedule without a pipeline": LOSS + "pipeline: {schedule: gpipe}\n", "keys of another optimizer": LOSS + "optimizer: {type: sgd, beta1: 0.9}\n",
        "a file of parameters that is not there": LOSS + "init: {from: none.safetensors}\n", "a negative norm": LOSS + "optimizer: {clip_norm: -1}\n",
        "targets without labels": LOSS + "data: {train: {tokens: a.bin, input: x, targets: next}}\n",
        "a stream for nobody": LOSS + "data: {train: {tokens: a.bin}}\n", "a stream for a stranger": LOSS + "data: {train: {tokens: a.bin, input: ids}}\n",
        "a stream for floats": LOSS + "data: {train: {tokens: a.bin, input: x, labels: y}}\n", "tokens of nothing": LOSS + "data: {train: {tokens: [], input: x}}\n",
        "tokens in a mapping": LOSS + "data: {train: {tokens: {a: 1}, input: x}}\n", "tokens of 64 bits": LOSS + "data: {train: {tokens: a.bin, input: x, type: uint64}}\n",
        "a fill of text": LOSS + "data: {train: {tokens: a.bin, input: x, fill: {y: one}}}\n", "a fill of infinity": LOSS + "data: {train: {tokens: a.bin, input: x, fill: {y: .inf}}}\n",
        "an end of neither": LOSS + "data: {end: stop}\n", "a seed below 0": LOSS + "data: {seed: -1}\n", "shuffling by number": LOSS + "data: {shuffle: 1}\n",
        "validation for a stranger": LOSS + "data: {validation: {z: z.npy}}\n",
        "beta of two": LOSS + "optimizer: {beta1: 2}\n", "labels that are logits": LOSS.replace("labels: y", "labels: logits"),
    }
    for what, text in model.items():
        yield refuse(what, text.encode(), "error:")
