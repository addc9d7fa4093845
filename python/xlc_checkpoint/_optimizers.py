"""How PyTorch's optimizers are named, and their states: a row for each optimizer that programs have too."""

from ._failure import Failure

# The class; the optimizer's type in a checkpoint; {state there: state of PyTorch}.
MOMENTS = {"m": "exp_avg", "v": "exp_avg_sq"}
ROWS = [
    ("AdamW", "adamw", MOMENTS),
    ("Adam", "adam", MOMENTS),
    ("Adagrad", "adagrad", {"sum": "sum"}),
    ("SGD", "sgd", {"momentum": "momentum_buffer"}),
    ("Lion", "lion", {"m": "exp_avg"}),  # as others have written it for PyTorch
]
STEP = "step"  # how often it was applied: a state of each parameter in PyTorch, one number in a checkpoint


class Row:
    """What a checkpoint has of an optimizer: `type`; `states`, {state: state of PyTorch}; `counts`: PyTorch's keeps STEP, too."""

    def __init__(self, optimizer):
        """Raises Failure: no program has that optimizer."""
        names = [each.__name__ for each in type(optimizer).__mro__]
        found = next(((kind, states) for name, kind, states in ROWS if name in names), None)
        if not found:
            raise Failure(f"programs do not support the optimizer {names[0]}; they support {', '.join(name for name, *_ in ROWS)}")
        self.type, self.states = found
        self.counts = self.type in ("adamw", "adam", "adagrad")
        if self.type == "adam" and all_of(optimizer, "decoupled_weight_decay"):
            self.type = "adamw"
        if self.type == "sgd":
            if not all_of(optimizer, "momentum"):
                self.states = {}
            elif all_of(optimizer, "nesterov"):
                self.type = "nesterov"
        if all_of(optimizer, "amsgrad"):
            raise Failure("programs do not support amsgrad: a checkpoint would lose its largest second moments")


def all_of(optimizer, option):
    """Whether an option is on; it has to be so in all groups, or in none."""
    values = {bool(group.get(option)) for group in optimizer.param_groups}
    if len(values) > 1:
        raise Failure(f"groups of the optimizer differ in '{option}', but a program has one value for all groups")
    return values.pop()


def applied_steps(optimizer):
    """How often it was applied; None where it does not count, or has not begun. Parameters that it never moved, which nothing reads, do not
    count. Raises Failure where the others differ."""
    counts = {int(state[STEP]) for state in optimizer.state.values() if STEP in state}
    moved = sorted(counts - {0})
    if len(moved) > 1:
        raise Failure(f"the optimizer has updated some parameters {moved[0]} times and others {moved[-1]}, but a program updates all in each step")
    return moved[0] if moved else 0 if counts else None
