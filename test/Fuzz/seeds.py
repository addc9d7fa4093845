"""Seeds of the coverage-guided fuzzers, made from what the project has: `make(reader, folder, xlc)` writes small files which
the reader accepts, or nearly. Programs that `xlc` compiles give plans and sealed tensors; without `xlc` there are none of these.
"""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST_MODEL = 48 << 10
MLP = ROOT / "examples" / "mlp" / "logits.onnx"
CNN = ROOT / "test" / "Inputs" / "models" / "cnn" / "logits-unoptimized.onnx"
LOSS = "loss: {type: cross_entropy, logits: logits, labels: y}\nbatch: {global: 8, micro: 2}\n"
PROGRAMS = [(MLP, LOSS), (MLP, LOSS + "dp: 2\nzero_stage: 3\nzero: {persistence_threshold: 0}\n"),
            (MLP, LOSS + "pp: 2\npipeline: {cuts: [relu]}\noptimizer: {type: adam, clip_norm: 1.0}\n"),
            (CNN, LOSS + "dp: 2\nzero_stage: 1\n"),
            (ROOT / "examples" / "gpt2" / "loss.onnx", (ROOT / "examples" / "gpt2" / "3d.yaml").read_text())]


def make_npy(descr, shape, elements, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + elements


def npy_files():
    yield make_npy("<f4", "(2, 3)", bytes(24))
    yield make_npy("<f8", "()", bytes(8), 2)
    yield make_npy("<i8", "(0, 5)", b"", 3)
    yield make_npy("<i4", "(3,)", bytes(12))
    yield (ROOT / "examples" / "mlp" / "y.npy").read_bytes()


def token_files():
    """A length of 32 bits, so many bytes of X.bin, then X.idx where that is not empty (targets/Tokens.cpp)."""
    folder = ROOT / "test" / "EndToEnd" / "Tokens"
    for binary, index in ((folder / "llmc-1.bin", None), (folder / "llmc-7.bin", None), (folder / "megatron.bin", folder / "megatron.idx")):
        content = binary.read_bytes()[:1200]
        if index is None:
            content = content[:8] + struct.pack("<I", 176 // (2 if "1" in binary.name else 4)) + content[12:]
        yield struct.pack("<I", len(content)) + content + (index.read_bytes() if index else b"")
    yield struct.pack("<I", 4) + bytes(4)
    yield struct.pack("<I", 86) + make_npy("<u2", "(5,)", bytes(10))


def make_tensors(header, elements):
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + elements


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_files():
    yield make_tensors({}, b"")
    yield make_tensors({"w": entry("F32", [2, 2], 0, 16), "b": entry("BF16", [], 16, 18)}, bytes(18))
    yield make_tensors({"__metadata__": {"format": "pt"}, "ids": entry("I64", [2], 4, 20), "é": entry("BOOL", [4], 0, 4)}, bytes(20))
    yield make_tensors({"none": entry("F64", [0, 7], 0, 0), "u": entry("U8", [3], 0, 3)}, bytes(3))


def compiled(xlc):
    """(program, tensors) of each of PROGRAMS, as bytes."""
    if not xlc:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model, spec in PROGRAMS:
            (folder / "spec.yaml").write_text(spec)
            subprocess.run([xlc, "compile", model, "--spec", folder / "spec.yaml", "-o", folder / "train"], check=True,
                           stderr=subprocess.DEVNULL)
            yield (folder / "train").read_bytes(), (folder / "train.safetensors").read_bytes()


def find_plan(program):
    """The bytes of `xlc_plan`, which are read-only: in the first segment, where addresses are places in the file."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(program)
        file.flush()
        table = subprocess.run(["/usr/lib/llvm-22/bin/llvm-nm", "-S", file.name], check=True, capture_output=True, text=True).stdout
    begin, size = (int(digits, 16) for digits in re.search(r"(\w+) (\w+) R xlc_plan\n", table).groups())
    plan = program[begin:begin + size]
    assert plan[4:8] == b"XLCP", "a plan begins with FlatBuffers' name for it"
    return plan


def yaml_files():
    for path in sorted([*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("test/**/*.yaml")]):
        if "regressions" not in path.parts:
            yield path.read_bytes()
    yield "\n".join(re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "Spec.md").read_text(), re.S).groups()).encode()


def onnx_files():
    for path in sorted([*ROOT.glob("examples/**/*.onnx"), *ROOT.glob("test/**/*.onnx")]):
        if path.stat().st_size <= LARGEST_MODEL and "regressions" not in path.parts:
            yield path.read_bytes()


MAKERS = {
    "npy": lambda xlc: npy_files(),
    "tokens": lambda xlc: token_files(),
    "safetensors": lambda xlc: [*safetensors_files(), *[tensors for _, tensors in compiled(xlc)][:1]],
    "yaml": lambda xlc: yaml_files(),
    "plan": lambda xlc: [find_plan(program) for program, _ in compiled(xlc)],
    "onnx": lambda xlc: onnx_files(),
}


def make(reader, folder, xlc=None):
    """Writes the seeds and what earlier runs found; returns how many."""
    shutil.rmtree(folder, ignore_errors=True)  # those of another day
    folder.mkdir(parents=True)
    kept = ROOT / "test" / "Fuzz" / "regressions" / reader
    files = [*MAKERS[reader](xlc), *[path.read_bytes() for path in sorted(kept.glob("*")) if path.is_file()]]
    for number, content in enumerate(files):
        (folder / f"seed-{number}").write_bytes(content)
    return len(files)


def words(reader):
    """Further lines of the dictionary: the keys and words of the spec, the operators."""
    name, pattern = {"yaml": ("Spec.md", r"`([a-z0-9_.*\[\]-]+)`"), "onnx": ("Operators.md", r"(?m)^\| (\w+) ")}.get(reader, (None, None))
    if not name:
        return []
    found = re.findall(pattern, (ROOT / "docs" / name).read_text())
    parts = {part for word in found for part in word.strip("[]").split(".") if re.fullmatch(r"[\w-]+", part)}
    return [f'"{part}{": " if reader == "yaml" else ""}"' for part in sorted(parts)]
