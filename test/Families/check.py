"""Compiles and trains every file that make.py left, in every composition, and compares with PyTorch.

    check.py --xlc build/bin/xlc --models FOLDER --results results.json [--jobs 2] [NAME...]
    check.py ... --target cuda                     on the simulated GPUs, each a thread
    check.py ... --target cuda --precision bf16    losses and norms alone, against float64

Beside the compositions stands what the file's reference says (docs/Export.md): agrees, differs, or not compared; where it differs and the program
of one rank is right, that is a false alarm, and a defect.

Each cell is one of: right; refused (exit code 1 to 3, with its message); warned (another run than PyTorch's, and a warning of what the file lost); wrong; internal (exit code 70, a signal, a program
that fails); overflow (in float16 a step was skipped). A cell is judged against PyTorch's float64 run; where rows meet (batch norm, contrastive losses) a cut run is
judged against PyTorch with the same cut. Results are kept by file and compiler, so that a second call goes on.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
from safetensors.numpy import load_file

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "EndToEnd"))
import program  # noqa: E402  (to_yaml: specs as users write them)

LOSS_TOLERANCE, NORM_TOLERANCE = 5e-6, 5e-5  # relative, against float64
NARROW_LOSS, NARROW_NORM = 2e-2, 2e-1  # of sixteen bits, or so many times what rounding to float32 does, as the type is coarser
COARSER = {"bf16": 2**16, "fp16": 2**13}
# A fixed scale: the first one that PyTorch tries skips steps.
PRECISIONS = {"bf16": "bf16", "fp16": {"compute": "fp16", "loss_scale": 256}}
LOST = re.compile("export|the file does not|taken as|forgets")  # in warnings
NOISE = 3  # times what PyTorch's own float32 is away, where that is more
ADAM_OUTLIERS = 12  # elements that Adam may amplify, see docs/Families.md

ZERO = {"persistence_threshold": 0, "bucket_size": "64KiB"}


@dataclasses.dataclass
class Composition:
    name: str
    spec: dict
    micro: int  # samples of a micro-batch; the global batch has 8

    def pieces(self, batch):
        return batch // self.micro


COMPOSITIONS = [
    Composition("dp1", {}, 8),
    Composition("dp1 mb2", {}, 4),
    Composition("dp2 z1", {"dp": 2, "zero_stage": 1}, 4),
    Composition("dp4 z3", {"dp": 4, "zero_stage": 3, "zero": ZERO}, 1),
    Composition("tp2", {"tp": 2}, 8),
    Composition("pp2", {"pp": 2, "pipeline": {"schedule": "1f1b"}}, 2),
    Composition("dp2 pp2 tp2 z3", {"dp": 2, "pp": 2, "tp": 2, "zero_stage": 3, "zero": ZERO,
                                   "pipeline": {"schedule": "1f1b"}}, 2),
]

# What `xlc plan` says of the reference beside the file; the compositions above are compiled without it.
REFERENCE = Composition("reference", {}, 8)

# What a file cannot tell: PyTorch's truth is not in it, so that no compiler could train it right. Name and form are patterns.
EXPORTERS_FAULT = [
    ("loss-l2", "loss|loss-unoptimized|loss-torchscript", "the sum of squared weights is folded to a constant"),
    ("loss-smooth", "loss|loss-unoptimized", "label smoothing is dropped"),
    ("small-frozen|whisper|marian|pegasus|roformer|patchtst|kind-low-rank|kind-magnitude|kind-scaled|kind-prompts",
     "loss|loss-unoptimized|loss-torchscript", "requires_grad=False is not written"),
    ("small-no-grad", "loss|loss-unoptimized|loss-torchscript", "no_grad is not written"),
    ("small-detach|small-straight-through|kind-binarised|kind-siamese", "loss-torchscript", "detach is not written"),
    ("kind-teacher", "loss-torchscript", "no_grad is not written"),
    ("gpt2-bfloat16", "loss", "constants are rounded to bfloat16: 1 / sqrt(sqrt(8)) is 0.59375"),
    ("gpt2-bfloat16", "loss-xlc-torchscript", "a cast to bfloat16 has PyTorch's number of that type, 15, which is ONNX's complex128"),
    ("(gpt2|bert|vit|mha|encoder)-dropout", "loss|logits", "the dropout of scaled_dot_product_attention is not written"),
    ("siglip", "loss-torchscript", "exp(logit_scale) and logit_bias are folded to constants"),
    ("poolformer", "loss-torchscript", "the names of its layer scales are not written"),
    ("cohere", "loss-xlc-torchscript", "expand(batch, -1) is written as expand(batch, 2)"),
    ("patchtst", "loss-torchscript|loss-xlc-torchscript", "unfold(-2) is written for another dimension: onnxruntime does not load it"),
]


@dataclasses.dataclass
class Cell:
    family: str
    form: str
    composition: Composition

    @property
    def key(self):
        return f"{self.family}|{self.form}|{self.composition.name}"


@dataclasses.dataclass
class Way:
    """What is compiled, and how it runs."""
    xlc: pathlib.Path
    target: str
    precision: str
    patience: int  # seconds

    @property
    def stamp(self):
        """Of a result that need not be found again."""
        return " ".join([hashlib.sha256(self.xlc.read_bytes()).hexdigest()[:16], *[self.target] * (self.target != "cpu"),
                         *[self.precision] * (self.precision != "fp32")])

    @property
    def options(self):
        """Of `xlc compile`."""
        return ["--target", "cuda", "--simulator-image", "image.so"] if self.target == "cuda" else []

    @property
    def variables(self):
        """Of the program, which is in its folder."""
        simulated = {"XLC_CUDA_LIBRARIES": str(self.xlc.parents[1] / "lib" / "simulated"), "XLC_SIMULATE_IMAGE": "./image.so",
                     "XLC_SIMULATE_DEVICES": "8", "XLC_SIMULATE_ORDER": "random", "XLC_SIMULATE_PATIENCE": str(self.patience)}
        return simulated if self.target == "cuda" else {}


def fault_of(cell, forms):
    """Why PyTorch's truth is not in this file, or None."""
    distance = forms.get(cell.form, {}).get("onnxruntime")
    for name, form, reason in EXPORTERS_FAULT:
        if re.fullmatch(name, cell.family) and re.fullmatch(form, cell.form):
            return reason
    return f"onnxruntime's loss is {distance:.0e} from PyTorch's" if distance is not None and distance > 1e-4 else None


def dims_of(folder, path):
    """Values of the symbolic dimensions but the batch, read off the rows."""
    import onnx
    result = {}
    for value in onnx.load(path, load_external_data=False).graph.input:
        rows = folder / f"{value.name}.npy"
        if rows.exists():
            shape = numpy.load(rows, mmap_mode="r").shape
            for i, dimension in enumerate(value.type.tensor_type.shape.dim):
                if i and dimension.dim_param:
                    result[dimension.dim_param] = shape[i]
    return result


def spec_of(cell, folder, trace):
    optimizer = dict(trace["optimizer"])
    spec = {"batch": {"global": trace["global_batch"], "micro": cell.composition.micro}, "optimizer": optimizer,
            "data": {"train": {name: folder / f"{name}.npy" for name in trace["inputs"]}}, **cell.composition.spec}
    spec["loss"] = trace["loss_spec"] if cell.form == "logits" else {"output": "loss"}
    if trace["pieces"] > 1:
        spec["loss"] = {**spec["loss"], "scope": "micro_batch"}
    if dims := dims_of(folder, folder / f"{cell.form}.onnx"):
        spec["dims"] = dims
    return spec | trace["spec"] | (trace["old_spec"] if cell.form == "loss-torchscript" else {})


def trace_of(cell, folder):
    """PyTorch's run that this cell is judged by; it is not there where PyTorch cannot run the cut."""
    trace = json.loads((folder / "trace.json").read_text())
    pieces = cell.composition.pieces(trace["global_batch"]) if trace["couples"] else 1
    return folder / ("trace.json" if pieces == 1 else f"trace-{pieces}.json")


def run(command, folder, patience, variables=None):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience, cwd=folder,
                              check=False, env={**os.environ, **(variables or {})})
        return done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        return -1, f"longer than {patience} s"


def quote(value):
    """Names of parameters may hold what YAML takes for its own."""
    if isinstance(value, dict):
        return {f'"{key}"' if "*" in str(key) else key: quote(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [quote(entry) for entry in value]
    return f'"{value}"' if isinstance(value, str) and set(value) & set("*:!") else value


def write_spec(way, cell, folder, trace, path):
    precision = {"precision": PRECISIONS[way.precision]} if way.precision in PRECISIONS else {}
    reference = {} if cell.composition is REFERENCE else {"reference": "off"}
    keys = spec_of(cell, folder, trace) | precision | reference
    path.write_text("".join(f"{key}: {program.to_yaml(quote(value))}\n" for key, value in keys.items()))


def compare_reference(way, cell, models):
    """Outcome of the comparison with the file's reference."""
    folder = (models / cell.family).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        spec = pathlib.Path(scratch) / "spec.yaml"
        write_spec(way, cell, folder, json.loads(trace_of(cell, folder).read_text()), spec)
        code, said = run([way.xlc, "plan", folder / f"{cell.form}.onnx", "--spec", spec], scratch, way.patience)
    known = {0: "agrees" if "note: as PyTorch" in said else "not compared", 4: "differs"}
    return {"outcome": known.get(code) or ("refused" if code in (1, 2, 3) else "internal"), "code": code, "said": said[-1500:]}


def train(way, cell, models):
    """Outcome of one cell: a dict with `outcome` and what led to it."""
    if cell.composition is REFERENCE:
        return compare_reference(way, cell, models)
    folder = (models / cell.family).resolve()
    trace = json.loads(trace_of(cell, folder).read_text())
    with tempfile.TemporaryDirectory() as scratch:
        spec = pathlib.Path(scratch) / "spec.yaml"
        write_spec(way, cell, folder, trace, spec)
        code, said = run([way.xlc, "compile", folder / f"{cell.form}.onnx", "--spec", spec, "-o", "train", *way.options], scratch, way.patience)
        if code:
            return {"outcome": "refused" if code in (1, 2, 3) else "internal", "code": code, "said": said[-1500:]}
        code, trained = run(["./train", "--steps", trace["steps"], "--log", "log.jsonl", "--save", "final.safetensors"], scratch,
                            way.patience, way.variables)
        if code:
            return {"outcome": "internal", "code": code, "said": trained[-1500:]}
        log = [json.loads(line) for line in (pathlib.Path(scratch) / "log.jsonl").read_text().splitlines()]
        found = load_file(f"{scratch}/final.safetensors")
    suffix = "" if trace["pieces"] == 1 else f"-{trace['pieces']}"
    final, initial = (load_file(folder / f"{name}.safetensors") for name in (f"final{suffix}", "initial"))
    judged = judge(trace, log, found, final, initial) if way.precision == "fp32" else judge_narrow(trace, log, COARSER[way.precision])
    if judged["outcome"] == "wrong" and (warning := find_warning(said)):
        judged |= {"outcome": "warned", "warning": warning}
    return judged | {"said": said[-1500:]}


def find_warning(said):
    """The first warning of what the file lost; others are of ranks without work, of types, of rows that meet."""
    found = [line.split("warning: ")[1] for line in said.splitlines() if "warning: " in line]
    return next((text for text in found if LOST.search(text)), "")


def worst(found, expected):
    """Largest relative distance; a NaN is the largest."""
    distances = [abs(a - b) / max(abs(b), 1e-12) for a, b in zip(found, expected)]
    return float("inf") if len(found) != len(expected) or any(d != d for d in distances) else max(distances)


def judge(trace, log, found, final, initial):
    loss, norm = (worst([step[key] for step in log], trace[key]) for key in ("loss", "grad_norm"))
    limits = [max(limit, NOISE * worst(trace[f"{key}_float32"], trace[key]))
              for key, limit in (("loss", LOSS_TOLERANCE), ("grad_norm", NORM_TOLERANCE))]
    complaints = [f"{name} is {distance:.1e} away, {limit:.1e} allowed"
                  for name, distance, limit in (("loss", loss, limits[0]), ("norm", norm, limits[1])) if not distance <= limit]
    complaints += list(compare_parameters(trace, found, final, initial))
    return {"outcome": "wrong" if complaints else "right", "loss": loss, "norm": norm, "complaints": complaints[:6]}


def judge_narrow(trace, log, coarser):
    """Sixteen bits: losses and norms alone, and roughly."""
    found, complaints = {}, []
    if any(step["grad_norm"] is None for step in log):
        return {"outcome": "overflow", "complaints": ["gradients are beyond float16 at the loss scale"]}
    for key, limit in (("loss", NARROW_LOSS), ("grad_norm", NARROW_NORM)):
        found[key] = worst([step[key] for step in log], trace[key])
        limit = max(limit, coarser * worst(trace[f"{key}_float32"], trace[key]))
        if not found[key] <= limit:
            complaints.append(f"{key} is {found[key]:.1e} away, {limit:.1e} allowed")
    return {"outcome": "wrong" if complaints else "right", "loss": found["loss"], "norm": found["grad_norm"], "complaints": complaints}


def compare_parameters(trace, found, final, initial):
    """Names, shapes, values. `found` has buffers too; parameters that PyTorch leaves as they are may be left out."""
    is_adam, rate = trace["optimizer"]["type"] != "sgd", trace["optimizer"]["lr"]
    outliers = ADAM_OUTLIERS if is_adam else 0
    for name, expected in final.items():
        if name not in found and numpy.array_equal(expected, initial[name].astype(expected.dtype)):
            continue
        if name not in found:
            yield f"{name} is missing"
            continue
        if found[name].shape != expected.shape:
            yield f"{name} has shape {found[name].shape}, PyTorch's has {expected.shape}"
            continue
        difference = trace["parameter_difference"][name]
        if is_adam and difference > rate / 10:
            continue
        distances = numpy.abs(found[name].astype(numpy.float64) - expected)
        limit = max(4 * difference + 1e-6, 1e-5 if not is_adam else 0)
        far = int((~(distances <= limit)).sum())
        outliers -= far
        if far and outliers < 0:
            yield f"{name} is {distances.max():.1e} away in {far} elements, {limit:.1e} allowed"


def is_false_alarm(results, key):
    """Whether the reference differs though one rank trains as PyTorch does."""
    family, form, name = key.split("|")
    beside = results.get(f"{family}|{form}|{COMPOSITIONS[0].name}", {})
    return name == REFERENCE.name and results[key]["outcome"] == "differs" and beside.get("outcome") == "right"


def cells_of(models, names):
    for folder in sorted(models.iterdir()):
        if not (folder / "trace.json").exists() or (names and folder.name not in names):
            continue
        for form, row in json.loads((folder / "forms.json").read_text()).items():
            if "error" not in row:
                has_reference = "reference" in row and row["reference"] is None  # else why there is none
                for composition in COMPOSITIONS + [REFERENCE] * has_reference:
                    cell = Cell(folder.name, form, composition)
                    if trace_of(cell, folder).exists():
                        yield cell


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlc", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True, help="what make.py made")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="JSON; cells that it holds for this xlc are kept")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu", help="cuda: the simulated GPUs")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), default="fp32", help="sixteen bits are compared roughly")
    parser.add_argument("--patience", type=int, default=300, metavar="SECONDS",
                        help="of one command, and of simulated GPUs that wait for each other; a ResNet-18 of eight ranks takes minutes there")
    parser.add_argument("--form", action="append", help="only files of this name, such as loss-xlc; may be repeated")
    parser.add_argument("--composition", action="append", help="only this one, such as dp1; may be repeated")
    parser.add_argument("--keep-right", action="store_true", help="do not run again what another xlc had right")
    parser.add_argument("names", nargs="*", help="families; all where none is given")
    options = parser.parse_args()
    way = Way(options.xlc.resolve(), options.target, options.precision, options.patience)
    stamp = way.stamp
    results = json.loads(options.results.read_text()) if options.results.exists() else {}

    def is_known(cell):
        known = results.get(cell.key, {})
        return known.get("xlc") == stamp or (options.keep_right and known.get("outcome") == "right")

    cells = [cell for cell in cells_of(options.models, options.names)
             if not is_known(cell) and (not options.form or cell.form in options.form)
             and (not options.composition or cell.composition.name in options.composition)]
    cells.sort(key=lambda cell: [*COMPOSITIONS, REFERENCE].index(cell.composition))  # the page fills evenly
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(train, way, cell, options.models): cell for cell in cells}
        for number, done in enumerate(concurrent.futures.as_completed(running), 1):
            cell = running[done]
            if done.exception():  # such as a model that is made anew meanwhile
                print(f"[{number}/{len(cells)}] {cell.key}: not checked: {done.exception()}", flush=True)
                continue
            forms = json.loads((options.models / cell.family / "forms.json").read_text())
            result = done.result() | {"xlc": stamp, "fault": fault_of(cell, forms)}
            results[cell.key] = result
            why = result.get("complaints") or result["said"].splitlines()[-1:] if result["outcome"] != "right" else ""
            print(f"[{number}/{len(cells)}] {cell.key}: {result['outcome']} {why}", flush=True)
            if number % 20 == 0 or number == len(cells):
                options.results.write_text(json.dumps(results, indent=1))
    trained = {key: result for key, result in results.items() if not key.endswith(f"|{REFERENCE.name}")}
    wrong = [key for key, result in results.items() if result["outcome"] in ("wrong", "internal") and not result["fault"]]
    alarms = [key for key in results if is_false_alarm(results, key)]
    for key in alarms:
        print(f"false alarm: {key}")
    print(f"{sum(r['outcome'] == 'right' for r in trained.values())} of {len(trained)} cells right, {len(wrong)} wrong or internal, "
          f"{len(alarms)} false alarms")
    return 1 if wrong or alarms else 0


if __name__ == "__main__":
    sys.exit(main())
