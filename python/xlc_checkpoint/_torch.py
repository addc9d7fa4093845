"""Between a checkpoint and a module and its optimizer. Tensors have PyTorch's names in a checkpoint, tied ones the first of theirs; states of
the optimizer are named after their parameters, so that neither groups nor their order matter."""

from ._failure import Failure
from ._manifest import KINDS
from ._optimizers import STEP, Row, applied_steps
from ._read import load
from ._write import write

MOST_NAMED = 3
TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def to_torch(folder, module, optimizer=None, strict=True):
    """Copies a checkpoint (see `load`) into a module's parameters and running averages, and into the states of the optimizer where one is
    given; returns its progress, {"step", "applied", "samples"}. Types stay those of the module. Other buffers stay as they are: masks, and the
    count of batches of a norm; and, where not `strict`, parameters that the checkpoint lacks, which the program does not read.

    Raises Failure if names, shapes or the optimizer differ, with up to three differences, before anything is copied; and if a block is
    damaged, which may be after others have been copied."""
    import torch  # pylint: disable=import-outside-toplevel
    checkpoint = load(folder)
    targets = find_targets(module)
    report(checkpoint, [*compare(checkpoint, module, targets, strict), *(compare_optimizer(checkpoint, optimizer, targets) if optimizer else [])])
    row, states = Row(optimizer) if optimizer else None, {}
    with torch.no_grad():
        for key, tensor in checkpoint.tensors.items():
            target = targets[tensor["name"]]
            if tensor["kind"] in KINDS:
                target.copy_(torch.from_numpy(checkpoint[key]))
            elif row:
                states.setdefault(tensor["name"], {})[row.states[tensor["kind"]]] = torch.zeros_like(target).copy_(torch.from_numpy(checkpoint[key]))
    for name, state in states.items():
        if row.counts:
            state[STEP] = step_of(targets[name], optimizer, checkpoint.progress["applied"])
        optimizer.state[targets[name]] = state
    return dict(checkpoint.progress)


def from_torch(folder, module, optimizer, step, samples=None, *, applied=None, seed=0, like=None):
    """Writes a module and the states of its optimizer as a checkpoint of one rank, `folder`/step-N, which is returned: a program of any layout
    goes on from it with --resume. `step`: done until then; `samples`: rows read until then; `applied`: steps that were not skipped, by default
    as the optimizer counts them; `seed`: of what the program draws.

    `like`: a checkpoint of the same model and optimizer, from which come seed, schedule and data, which tensors there are, and, where `samples`
    is missing, how many rows a step reads. Without it the checkpoint knows no data, so that none are compared, and has all parameters of the
    module, also such as the program does not read, and all running averages of its norms.

    Raises Failure if programs do not support the optimizer, or if it or the module differs from `like`."""
    reference, row, targets = load(like) if like else None, Row(optimizer), find_targets(module)
    if reference:
        report(reference, [*compare(reference, module, targets, strict=False), *compare_optimizer(reference, optimizer, targets)])
    known = reference.manifest if reference else {"random": {"seed": seed}, "schedule": "imported"}
    applied = next(each for each in (applied, applied_steps(optimizer), step) if each is not None)
    tensors = list(list_tensors(reference, module, optimizer, row, targets))
    members = {"progress": {"step": step, "applied": applied, "samples": count_samples(samples, step, reference)}, "random": known["random"],
               "optimizer": {"type": row.type, "states": list(row.states)}, "schedule": known["schedule"],
               **({"data": known["data"]} if "data" in known else {}),
               "made_by": {"xlc": "0.1.0", "layout": "imported", "precision": precision_of(tensors), "target": "pytorch"}}
    return write(folder, step, tensors, members)


def find_targets(module):
    """{name: parameter or buffer}, tied ones under each of their names."""
    return dict([*module.named_buffers(remove_duplicate=False), *module.named_parameters(remove_duplicate=False)])


def trained_by(optimizer):
    """The parameters that it moves."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"] if parameter.requires_grad]


def report(checkpoint, differences):
    if differences:
        more = f"; and {len(differences) - MOST_NAMED} more" if len(differences) > MOST_NAMED else ""
        raise Failure(f"{checkpoint.folder}: belongs to a different model or optimizer: {'; '.join(differences[:MOST_NAMED])}{more}")


def compare(checkpoint, module, targets, strict):
    """What differs of the model, a text each."""
    there = set()
    for name, kind, shape in ((each["name"], each["kind"], each["shape"]) for each in checkpoint.tensors.values() if each["kind"] in KINDS):
        if name not in targets:
            yield f"the module has no {kind} '{name}'"
            continue
        there.add(id(targets[name]))
        if list(targets[name].shape) != shape:
            yield f"'{name}' has shape {shape} in the checkpoint, but the module needs {list(targets[name].shape)}"
    if strict:
        yield from (f"it has no parameter '{name}'" for name, parameter in module.named_parameters() if id(parameter) not in there)


def compare_optimizer(checkpoint, optimizer, targets):
    """What differs of the optimizer: its type, and whose states there are."""
    row, says = Row(optimizer), checkpoint.manifest["optimizer"]
    if (row.type, sorted(row.states)) != (says["type"], sorted(says["states"])):
        yield f"its optimizer is {describe(says['type'], says['states'])}, but PyTorch's is {describe(row.type, row.states)}"
        return
    trained, there = {id(parameter) for parameter in trained_by(optimizer)}, {}
    for tensor in checkpoint.tensors.values():
        if tensor["name"] in targets:
            there.setdefault(id(targets[tensor["name"]]), (tensor["name"], set()))[1].add(tensor["kind"])
    for parameter, (name, kinds) in there.items():
        has = kinds - set(KINDS)
        if has and parameter not in trained:
            yield f"it has states of '{name}', which PyTorch's optimizer does not train"
        elif parameter in trained and has != set(row.states):
            yield f"it has no states of '{name}', which PyTorch's optimizer trains"


def describe(kind, states):
    return f"{kind} ({', '.join(states)})" if states else kind


def step_of(parameter, optimizer, applied):
    """How often a parameter was moved, where PyTorch's optimizer looks for it."""
    import torch  # pylint: disable=import-outside-toplevel
    group = next(group for group in optimizer.param_groups if any(each is parameter for each in group["params"]))
    is_beside = group.get("capturable") or group.get("fused")
    return torch.tensor(float(applied), dtype=torch.float32, device=parameter.device if is_beside else "cpu")


def list_tensors(reference, module, optimizer, row, targets):
    """(name, kind, dtype, shape, read) of each tensor, as `write` takes them."""
    for name, kind in list_kinds(reference, module, optimizer, row):
        target = targets[name].detach()
        tensor = target if kind in KINDS else optimizer.state.get(targets[name], {}).get(row.states[kind])
        if tensor is None:  # the optimizer has not begun
            tensor = target.new_zeros(target.shape)
        dtype = next((stored for stored, known in TYPES.items() if str(tensor.dtype) == f"torch.{known}"), None)
        if dtype is None:
            raise Failure(f"'{name}' has type {tensor.dtype}, but must be one of {', '.join(TYPES.values())}")
        yield name, kind, dtype, list(tensor.shape), lambda tensor=tensor: bytes_of(tensor)


def list_kinds(reference, module, optimizer, row):
    """(name, kind) of each tensor of the checkpoint."""
    if reference:
        yield from ((tensor["name"], tensor["kind"]) for tensor in reference.tensors.values())
        return
    trained = {id(parameter) for parameter in trained_by(optimizer)}
    for name, parameter in module.named_parameters():
        yield name, "parameter"
        yield from ((name, kind) for kind in row.states if id(parameter) in trained)
    for name, part in module.named_modules():
        for average in ("running_mean", "running_var"):
            if getattr(part, "track_running_stats", False) and getattr(part, average, None) is not None:
                yield f"{name}.{average}" if name else average, "buffer"


def bytes_of(tensor):
    """Its elements in their order, as numpy's array of bytes."""
    import torch  # pylint: disable=import-outside-toplevel
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()


def count_samples(samples, step, reference):
    if samples is not None:
        return samples
    if not reference or not reference.progress["step"]:
        raise Failure("the number of rows that the run has read is unknown: pass samples=STEPS * GLOBAL_BATCH, or like=CHECKPOINT of a run")
    return reference.progress["samples"] * step // reference.progress["step"]


def precision_of(tensors):
    return ", ".join(sorted({TYPES[dtype] for _, kind, dtype, *_ in tensors if kind == "parameter"}))
