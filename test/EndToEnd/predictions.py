"""--predict writes PyTorch's logits, for all rows in order, in every layout; metrics equal those that a loop over the
logits counts. The output of --generate follows from the logits.
"""

import array
import json
import math
import struct

import cases
import evaluation
import files
import program

MODELS = {"gpt2-tiny": "logits", "bert-tiny": "logits", "cnn": "logits-torchscript-train"}
NEAR = 1e-5  # of a logit, and of the square root of a row's sum of squares
ROWS = 37
DP_ALONE = [{"dp": 2}, {"dp": 2, "zero_stage": 1}, {"dp": 4, "zero_stage": 2},
            {"dp": 4, "zero_stage": 3, "zero": evaluation.PERSISTENT}, {"dp": 4, "zero_stage": 3, "dp_shard": 2, "zero": evaluation.PERSISTENT}]


def spec_of(setting, folder, keys, micro, metrics=("loss",)):
    case = cases.Case(folder, MODELS[folder], "sgd")
    spec = program.spec_of(setting, case, program.read_trace(setting, case)) | keys
    spec["batch"] = {"micro": micro, "global": 2 * micro * keys.get("dp", 1)}
    spec["data"] = {name: spec["data"]["train"] for name in ("train", "validation")}
    return spec | {"eval": {"metrics": list(metrics), "outputs": ["logits"]}}


def model_of(setting, folder):
    return setting.models / folder / f"{MODELS[folder]}.onnx"


def predict(setting, made, folder, *options, rows=ROWS, variables=None):
    """Shape and elements of the logits, and what the evaluation came to."""
    data = evaluation.rows_of(setting, folder, setting.scratch / f"rows-{rows}", 0, rows)
    outputs = made.folder / "outputs"
    found = made.evaluate("--predict", outputs, "--validation", data, *options, variables=variables)
    if sorted(path.name for path in outputs.iterdir()) != ["logits.npy"]:
        raise program.CommandFailed(f"--predict left {sorted(outputs.iterdir())}")
    descr, shape, values = files.read_npy(outputs / "logits.npy")
    if descr != "<f4":
        raise program.CommandFailed(f"logits are of type {descr}")
    return shape, values, found


def compare(setting, folder, shape, values):
    expected = json.loads((setting.models / folder / "predictions.json").read_text())
    if list(shape) != expected["shape"]:
        yield f"logits have shape {shape}, PyTorch's {expected['shape']}"
        return
    width = len(values) // shape[0]
    for row in range(shape[0]):
        own = values[row * width:(row + 1) * width]
        for place, element in zip(expected["places"], expected["elements"][row]):
            if not abs(own[place] - element) <= NEAR:
                yield f"row {row}, element {place} is {own[place]}, PyTorch's {element}"
        if not abs(math.fsum(own) - expected["sums"][row]) <= NEAR * width:
            yield f"row {row} adds up to {math.fsum(own)}, PyTorch's to {expected['sums'][row]}"
        squares = [math.sqrt(total) for total in (math.fsum(x * x for x in own), expected["squares"][row])]
        if not abs(squares[0] - squares[1]) <= NEAR * math.sqrt(width):
            yield f"row {row} has the norm {squares[0]}, PyTorch's {squares[1]}"


def equals_pytorch(setting, folder, layout, flags=(), variables=None):
    made = program.Program(setting, "train", model_of(setting, folder), spec_of(setting, folder, layout.keys, layout.micro), flags)
    shape, values, _ = predict(setting, made, folder, *layout.options, variables=variables)
    yield from compare(setting, folder, shape, values)


def equals_pytorch_on_gpus(setting, folder):
    image = setting.scratch / "image.so"
    variables = {"XLC_CUDA_LIBRARIES": setting.xlc.parents[1] / "lib" / "simulated", "XLC_SIMULATE_IMAGE": image, "XLC_SIMULATE_DEVICES": 2}
    layout = evaluation.Layout("gpus", {"dp": 2, "zero_stage": 1}, 4, ("--threads",))
    yield from equals_pytorch(setting, folder, layout, ["--target", "cuda", "--simulator-image", image], variables)


def has_the_same_bytes(setting, folder):
    """Layouts that differ in dp and ZeRO alone."""
    bits = []
    for at, keys in enumerate([{}, *DP_ALONE]):
        made = program.Program(setting, f"train-{at}", model_of(setting, folder), spec_of(setting, folder, keys, 2))
        bits.append(predict(setting, made, folder)[1].tobytes())
        if bits[-1] != bits[0]:
            yield f"{keys}: other bytes than on one rank"


def count(logits, classes, labels, k, ignored=-100):
    """Targets, and those of them whose label has the largest logit, and one of the k largest; ties by the lower class."""
    targets = first = among = 0
    for at, label in enumerate(labels):
        if label == ignored:
            continue
        own = logits[at * classes:(at + 1) * classes]
        rank = sum(logit > own[label] or (logit == own[label] and c < label) for c, logit in enumerate(own))
        targets, first, among = targets + 1, first + (rank < 1), among + (rank < k)
    return targets, first, among


def is_counted(setting, folder, sizes):
    """What an evaluation counts on four ranks is what a loop over the logits counts, of any number of rows."""
    k = {"bert-tiny": 2}.get(folder, 3)  # it has two classes
    made = program.Program(setting, "train", model_of(setting, folder),
                           spec_of(setting, folder, {"dp": 4, "zero_stage": 1}, 2, ("loss", "accuracy", f"top{k}")))
    for rows in sizes:
        shape, values, found = predict(setting, made, folder, rows=rows)
        name = {"cnn": "y"}.get(folder, "labels")
        labels = files.read_npy(setting.scratch / f"rows-{rows}" / f"{name}.npy")[2]
        if folder == "gpt2-tiny":  # position t predicts label t + 1
            length = shape[1]
            labels = array.array("q", [label for row in range(rows) for label in (*labels[row * length + 1:(row + 1) * length], -100)])
        expected = count(values, shape[-1], labels, k)
        if (found["targets"], found["top_1"], found[f"top_{k}"]) != expected:
            yield f"{rows} rows: counted {found}, of the logits {expected}"


def generates(setting):
    """With temperature 0 the tokens of --generate are those with the largest logit, found by a loop over --predict; with another the
    same on one rank and on two tensor-parallel ranks. A prompt longer than a row counts with its end."""
    folder, length, count_of = "gpt2-tiny", 32, 6
    prompt = setting.scratch / "prompt.npy"
    files.write_npy(prompt, "<i4", (40,), [(7 * i * i + 3) % 256 for i in range(40)])
    made = {}
    for name, keys in (("one", {}), ("tp", {"tp": 2})):
        made[name] = program.Program(setting, name, model_of(setting, folder), spec_of(setting, folder, keys, 1))
    said = {}
    for name, options in (("greedy", ("--temperature", 0)), ("drawn", ("--temperature", 0.9, "--top-k", 40, "--seed", 5))):
        tokens = [program.run([each.path, "--generate", count_of, "--prompt", prompt, *options]) for each in made.values()]
        if tokens[0] != tokens[1] or len(tokens[0].split()) != count_of:
            yield f"{name}: one rank generates {tokens[0]}, two {tokens[1]}"
        said[name] = [int(token) for token in tokens[0].split()]
    tokens = list(files.read_npy(prompt)[2])
    data = setting.scratch / "window"
    data.mkdir()
    for _ in range(count_of):
        for name in ("input_ids", "labels"):
            files.write_npy(data / f"{name}.npy", "<i8", (1, length), tokens[-length:])
        program.run([made["one"].path, "--predict", data / "outputs", "--validation", data])
        logits = files.read_npy(data / "outputs" / "logits.npy")[2][-256:]
        tokens.append(max(range(256), key=lambda c: (logits[c], -c)))
    if tokens[40:] != said["greedy"]:
        yield f"generates {said['greedy']}, the largest logits are those of {tokens[40:]}"
    if said["drawn"] == said["greedy"]:
        yield "drawn tokens are the likeliest ones, one by one"
    made["one"].train(1)
    saved = made["one"].folder / "run.safetensors"
    unsigned = saved.read_bytes().replace(b'"xlc.', b'"own.')  # without the checksums of the program
    saved.write_bytes(unsigned[:-4] + struct.pack("<f", math.nan))
    complaint = program.run([made["one"].path, "--generate", 1, "--prompt", prompt, "--init", saved], 7)
    if "the logits of generated token 1 are not finite" not in complaint:
        yield f"a parameter that is not finite: {complaint}"


def list_checks(everything):
    """All of them, or each layout once, with models in turns."""
    checks, folders = [], list(MODELS)
    for at, layout in enumerate(evaluation.LAYOUTS):
        fitting = folders[:2] if layout.only else folders
        checks += [(f"predictions: {folder} {layout.name}", lambda setting, folder=folder, layout=layout: equals_pytorch(setting, folder, layout))
                   for folder in (fitting if everything else [fitting[at % len(fitting)]])]
    checks += [(f"predictions: {folder} on simulated GPUs", lambda setting, folder=folder: equals_pytorch_on_gpus(setting, folder))
               for folder in (folders if everything else folders[:1])]
    checks += [(f"predictions: {folder} has the same bytes", lambda setting, folder=folder: has_the_same_bytes(setting, folder))
               for folder in (folders if everything else folders[1:2])]
    checks += [(f"predictions: {folder} is counted", lambda setting, folder=folder: is_counted(setting, folder, range(1, 41) if everything else (1, 16, 37)))
               for folder in (folders if everything else folders[:1])]
    return checks + [("predictions: generated tokens", generates)]
