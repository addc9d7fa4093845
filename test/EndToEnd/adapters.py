"""Adapters of PEFT over a frozen base: examples/lora, in several layouts and in sixteen bits.

Losses are those of PEFT's run, the base is saved with unchanged bits, the optimizer's memory is that of the adapters
only, and a checkpoint is exported as an adapter with PEFT's names.
"""

import json
import pathlib
import sys

import program
from program import state_dict

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "lora"
MODEL, EXPECTED, CONFIG = EXAMPLE / "loss.onnx", EXAMPLE / "expected.json", EXAMPLE / "adapter_config.json"
TIE = "model.base_model.model.lm_head.weight"
STEPS = json.loads(EXPECTED.read_text())["steps"]
LAYOUTS = [{}, {"dp": 2, "zero_stage": 3, "zero": "{persistence_threshold: 0}", "batch": "{global: 8, micro: 4}"},
           {"tp": 2}, {"pp": 2, "batch": "{global: 8, micro: 2}"}]


def is_of_adapter(name):
    return ".lora_" in name


def read_initial():
    """The model's parameters: {name: (shape, values)}."""
    return {name: (tuple(shape), values) for name, (_, shape, values) in state_dict.initializers(MODEL).items() if "base_model" in name}


def make(setting, name, layout):
    """A program of one of the example's specs, in a layout."""
    lines = (EXAMPLE / f"{name}.yaml").read_text().splitlines()
    spec = dict(line.split(": ", 1) for line in lines if not line.startswith("#"))
    spec["data"] = spec["data"].replace("..", str(EXAMPLE.parent))
    return program.Program(setting, "program", MODEL, spec | layout)


def compare_saved(trained, initial):
    """Complaints about --save and --save-trained."""
    saved, alone = trained.parameters(), trained.parameters("trained")
    if saved.keys() - initial.keys() != {TIE}:
        yield f"--save has {sorted(saved)}, the model {sorted(initial)}"
    for name, (shape, values) in initial.items():
        if (list(saved[name][1]) == values) == is_of_adapter(name) or saved[name][0] != shape:
            yield f"{name} is {'as it was read' if is_of_adapter(name) else 'not as it was read'}"
    if alone != {name: tensor for name, tensor in saved.items() if is_of_adapter(name)}:
        yield f"--save-trained has {sorted(alone)[:3]}, ..., or other values than --save"


def compare_adapter(setting, trained, checkpoint):
    """Complaints about what `xlc checkpoint export --adapter` makes."""
    folder = trained.folder / "adapter"
    program.run([setting.xlc, "checkpoint", "export", checkpoint, "--adapter", "--adapter-config", CONFIG, "-o", folder])
    found = program.files.read_safetensors(folder / "adapter_model.safetensors")
    expected = {name.removeprefix("model.").replace(".default.", "."): tensor for name, tensor in trained.parameters("trained").items()}
    if found != expected:
        yield f"the adapter has {sorted(found)[:3]}, ..., not {sorted(expected)[:3]}, ..., or other values"
    if (folder / "adapter_config.json").read_bytes() != CONFIG.read_bytes():
        yield "adapter_config.json is no copy"


def follows_peft(setting, name, layout):
    trained = make(setting, name, layout)
    folder = trained.folder / "checkpoints"
    trained.train(STEPS, "--checkpoint-dir", folder, "--save-trained", trained.folder / "trained.safetensors")
    program.run([sys.executable, EXAMPLE.parent / "compare.py", trained.folder / "run.jsonl", EXPECTED, "bf16" if "bf16" in name else "fp32"])
    yield from compare_saved(trained, read_initial())
    yield from compare_adapter(setting, trained, folder / f"step-{STEPS:08}")


def keeps_states_of_adapters(setting):
    """Of the plans of both specs, as they lie in the example."""
    sizes = {name: len(values) for name, (_, values) in read_initial().items()}
    everything, adapters = sum(sizes.values()), sum(size for name, size in sizes.items() if is_of_adapter(name))
    for name, element, states in (("lora", 4, 2), ("lora-bf16", 2, 3)):  # m and v, and masters
        plan = program.run([setting.xlc, "plan", MODEL, "--spec", EXAMPLE / f"{name}.yaml", "--json"])
        memory = json.loads(plan)["groups"][0]["memory"]["by_cause"]
        if memory["optimizer"] != 4 * states * adapters:
            yield f"{name}: the optimizer has {memory['optimizer']} B, not {4 * states * adapters}"
        padded = len(sizes) * 64  # at most, of what aligns parameters
        if not 0 <= memory["parameters"] - element * everything <= padded:
            yield f"{name}: parameters have {memory['parameters']} B, not {element * everything}"


def list_checks(everything):
    checks = [("adapters: memory is that of the adapters", keeps_states_of_adapters)]
    for name, layouts in (("lora", LAYOUTS if everything else LAYOUTS[:2]), ("lora-bf16", LAYOUTS[:2 if everything else 1])):
        checks += [(f"adapters: {name}, {' '.join(f'{key} {value}' for key, value in layout.items() if key in ('dp', 'tp', 'pp')) or 'one rank'}",
                    lambda setting, name=name, layout=layout: follows_peft(setting, name, layout)) for layout in layouts]
    return checks
