"""Random networks with a layout each: a case. The same seed and number give the same case.

    flat     inputs, a dozen moves on whatever values there are, terms of what is left over
    layers   inputs, a stream, a random block repeated with parameters of its own (or the same ones), a head

Pipelines and tensor parallelism ask for repeated layers, so those layouts get the second kind.
"""

import math
import random as randoms
from dataclasses import dataclass, field

import exporting
import layouts
import moves
import network as networks
import selecting
from builder import Builder, Reject, draw_rows
from network import Node
from weights import weight

ATTEMPTS = 60


@dataclass
class Case:
    network: networks.Network
    layout: layouts.Layout
    data: dict = field(default_factory=dict)
    steps: int = layouts.STEPS
    form: str = "xlc"  # of exporting.FORMS
    shared: list | None = None  # two inputs that were one tensor at export

    def spec(self):
        spec = self.layout.to_spec()
        if self.network.labels:
            spec["loss"] = {"type": "cross_entropy", "logits": self.network.loss, "labels": self.network.labels}
        return spec


def try_moves(b, pool, wanted, table=None):
    """Takes random moves until `wanted` new values are in the pool."""
    singles, pairs = (moves.MOVES, moves.PAIRS) if table is None else table
    singles = singles + moves.DRAWS * b.draws
    made = 0
    for _ in range(ATTEMPTS):
        if made == wanted:
            return
        mark = b.mark()
        move = b.random.choices([move for move, _ in singles + pairs], [share for _, share in singles + pairs])[0]
        # What came last is built on most often, and what nobody reads yet before what is read.
        x = pool[-1] if b.random.random() < 0.5 else b.random.choice(pool)
        try:
            result = move(b, x, pool) if any(move is pair for pair, _ in pairs) else move(b, x)
        except Reject:
            b.undo(mark)
            continue
        if b.kind(result) != "f":
            result = b.emit("Cast", result, to=1)
        pool.append(result)
        made += 1


def unread(b, pool):
    read = {name for node in b.network.nodes for name in node.inputs}
    return [name for name in pool if name not in read]


# Losses --------------------------------------------------------------------------------------------------------------


def mean_of(b, x):
    """Of all elements, in one of the ways to write it. Every sample counts as much as every other."""
    form = b.random.randrange(3)
    axes = list(range(b.rank(x)))
    if form == 0:
        return scalar(b, "ReduceMean", x, b.integers(*axes), keepdims=0)
    if form == 1:
        return scalar(b, "ReduceMean", x, keepdims=0)
    free = b.free_axes(x)
    y = b.emit("ReduceMean", x, b.integers(*free), keepdims=0) if free else x
    return scalar(b, "ReduceMean", y, b.integers(0), keepdims=0)


def scalar(b, op, *inputs, **attributes):
    """Of a loss: here samples meet, so the builder does not look."""
    name = b.name("loss")
    node = Node(op, list(inputs), [name], attributes)
    b.values[name] = [b.compute(node, which)[0] for which in (0, 1)]
    b.network.nodes.append(node)
    return name


def square_term(b, x):
    dims = b.dims(x)
    if dims[:1] == [-1] and b.random.random() < 0.5:
        x = b.emit("Sub", x, b.input(dims))
    return mean_of(b, b.emit("Mul", x, x) if b.random.random() < 0.5 else b.emit("Pow", x, b.number(2.0)))


def plain_term(b, x):
    return mean_of(b, x)


def bounded_term(b, x):
    return mean_of(b, b.emit(b.random.choice(["Tanh", "Softplus", "Sigmoid", "Abs", "Sin"]), x))


def cross_entropy_term(b, x):
    """Over the last dimension, flattened to [rows, classes]."""
    dims = b.dims(x)
    if len(dims) < 2 or dims[0] != -1 or dims[-1] < 2:
        raise Reject("no scores")
    labels = b.input(dims[:-1], "i", dims[-1])
    scores = moves.reshape_to(b, x, [-math.prod(dims[1:-1]), dims[-1]]) if len(dims) > 2 else x
    flat = b.emit("Reshape", labels, b.integers(-1)) if len(dims) > 2 else labels
    if b.random.random() < 0.7:
        return scalar(b, "SoftmaxCrossEntropyLoss", scores, flat, reduction="mean")
    return scalar(b, "NegativeLogLikelihoodLoss", b.emit("LogSoftmax", scores, axis=1), flat, reduction="mean")


TERMS = [(square_term, 4), (plain_term, 1), (bounded_term, 2), (cross_entropy_term, 4)]


def add_term(b, x, table):
    for _ in range(ATTEMPTS):
        mark = b.mark()
        try:
            return b.random.choices([term for term, _ in table], [share for _, share in table])[0](b, x)
        except Reject:
            b.undo(mark)
    raise Reject("no term")


def add_loss(b, layout, sinks):
    """A weighted sum of terms; a function of it where one rank sees the whole batch at once."""
    terms, table = [], TERMS
    if layout.is_cut and len(sinks) > 1 and b.random.random() < 0.8:  # a cross-entropy beside another mean is refused
        table = TERMS[:-1]
    for x in sinks:
        if b.batch_axis(x) is None:
            continue
        term = add_term(b, x, table)
        if b.random.random() < 0.3:
            term = scalar(b, "Mul", term, b.number(b.random.choice([0.5, 0.1, 2.0])))
        terms.append(term)
    if not terms:
        raise Reject("nothing depends on the inputs")
    loss = terms[0]
    for term in terms[1:]:
        loss = scalar(b, "Add", loss, term)
    if not layout.is_cut and b.random.random() < 0.4:
        value = b.values[loss][1].data[0]
        able = ["Tanh", "Exp"] + ["Sqrt", "Log"] * (value > 0.2)
        if abs(value) < 3:
            loss = scalar(b, b.random.choice(able), loss)
    b.network.loss = loss


def score_by_spec(b, x):
    """Leaves the loss to the spec: `x` are scores, and the labels no input of the model."""
    dims = b.dims(x)
    if len(dims) < 2 or dims[0] != -1 or dims[-1] < 2:
        raise Reject("no scores")
    b.network.loss, b.network.labels = x, b.input(dims[:-1], "i", dims[-1])


# Kinds of networks ---------------------------------------------------------------------------------------------------


def draw_input(b):
    kind = b.random.randrange(5)
    if kind == 0:
        return b.input([-1, b.random.choice([2, 3, 4, 5, 8])])
    if kind == 1:
        return b.input([-1, b.random.choice([1, 2, 3, 5]), b.random.choice([2, 3, 4, 7])])
    if kind == 2:
        return b.input([-1, b.random.choice([1, 2, 3]), b.random.choice([3, 4]), b.random.choice([3, 5])])
    if kind == 3:
        rows = b.random.choice([3, 5, 8])
        ids = b.input([-1, b.random.choice([1, 3, 4])], "i", rows)
        return b.emit("Gather", weight(b, [rows, b.random.choice([2, 4, 5])], 0.8), ids, axis=0)
    return b.input([-1])


def grow_flat(b, layout):
    pool = [draw_input(b) for _ in range(b.random.choice([1, 1, 2]))]
    if b.random.random() < 0.3:  # a stem of parameters alone
        pool.append(weight(b, [b.random.choice(moves.SIZES) for _ in range(b.random.choice([1, 2, 2, 3]))], 0.3))
    try_moves(b, pool, b.random.randrange(2, 14))
    finish(b, layout, pool)


def finish(b, layout, pool):
    """Joins what nothing reads into the loss."""
    sinks = [name for name in unread(b, pool) if b.batch_axis(name) is not None] or [pool[-1]]
    if b.random.random() < 0.12:
        try:
            return score_by_spec(b, sinks[-1])
        except Reject:
            pass
    b.random.shuffle(sinks)
    add_loss(b, layout, sinks[:3])


BLOCK = ([(moves.attention, 8), (moves.mlp, 8), (moves.parallel, 6), (moves.layer_norm, 6), (moves.rms_norm, 4), (moves.linear, 4),
          (moves.unary, 5), (moves.with_parameter, 4), (moves.softmax, 1), (moves.pool_sequence, 2), (moves.convolution, 1),
          (moves.gather, 1), (moves.split_and_use, 2), (moves.transpose, 1), (selecting.selected, 16), *selecting.MOVES],
         [(moves.combine, 4), (moves.choose, 1), (moves.stopped, 1), *selecting.PAIRS])


def attend(b, x):
    """Onto the stream, where it can be: an attention's queries are the sequence of sequence parallelism."""
    mark = b.mark()
    try:
        return b.emit("Add", x, moves.attention(b, x))
    except Reject:
        b.undo(mark)
        return x


def grow_block(b, x):
    """Some moves and then back onto the stream, with the same shape."""
    pool = [x]
    if b.tp > 1 and b.random.random() < 0.8:
        pool = [attend(b, x)]
    try_moves(b, pool, b.random.randrange(1, 6), BLOCK)
    fits = [name for name in pool[1:] if b.dims(name) == b.dims(x)]
    x = pool[0]
    if not fits:
        y = pool[-1]
        if b.rank(y) == b.rank(x) and b.dims(y)[:-1] == b.dims(x)[:-1]:
            fits = [moves.linear(b, y, b.dims(x)[-1])]
        else:
            fits = [moves.mlp(b, x)]
    y = b.emit("Add", x, fits[-1]) if b.random.random() < 0.7 else b.emit("Add", fits[-1], x)
    return moves.layer_norm(b, y) if b.random.random() < 0.3 else y


def repeat_block(b, nodes, x, y, share):
    """Appends copies of `nodes`, which compute from x, so that they compute from y; returns what `names` each got.
    Parameters are new ones, but for a `share` of them."""
    names = {x: y}
    for node in nodes:
        for name in node.inputs:
            if name in b.network.parameters and name not in names:
                names[name] = name if b.random.random() < share else like(b, name)
        made = b.emit(node.op, *(names.get(name, name) for name in node.inputs), outputs=len(node.outputs), **node.attributes)
        names |= zip(node.outputs, made if len(node.outputs) > 1 else [made])
    return names


def like(b, name):
    """Another parameter of the same shape and scale."""
    old = b.network.parameters[name]
    mean = sum(old.data) / len(old.data)
    centre = mean if mean > 0.5 else 0.0
    spread = math.sqrt(sum((value - centre) ** 2 for value in old.data) / len(old.data)) or 0.3
    return b.parameter(old.shape, spread, centre, leaf=name.rsplit(".", 1)[1])


def draw_stream(b, size):
    """[batch, length, size]"""
    length = b.random.choice([1, 2, 3, 4, 4] if b.tp == 1 else [1, 3, b.tp, 2 * b.tp, 2 * b.tp])
    if b.random.random() < 0.5:
        rows = b.random.choice([4, 5, 8])
        x = b.emit("Gather", b.parameter([rows, size], 0.7), b.input([-1, length], "i", rows), axis=0)
    else:
        width = b.random.choice([2, 3])
        x = b.emit("MatMul", b.input([-1, length, width]), b.parameter([width, size]))
    return b.emit("Add", x, b.parameter([1, length, size], 0.4)) if b.random.random() < 0.5 else x


def grow_layers(b, layout):
    size = layout.tp * b.random.choice([1, 2, 2, 3]) * (2 if layout.tp == 1 else 1)
    x = draw_stream(b, size)
    begin = len(b.network.nodes)
    y = grow_block(b, x)
    block = b.network.nodes[begin:]
    share = b.random.choice([0.0, 0.0, 0.0, 0.2, 1.0])
    stream = [x, y]
    for _ in range(max(b.random.choice([1, 1, 2]), layout.stages - 2)):
        stream.append(repeat_block(b, block, *stream[-2:], share)[y])
        block, y = b.network.nodes[-len(block):], stream[-1]
    if layout.pp > 1 and b.random.random() < 0.8:  # else in balance, where the units are found
        chosen = sorted(b.random.sample(range(len(stream)), layout.stages - 1))
        layout.spec["pipeline"]["cuts"] = [stream[i] for i in chosen]
    pool = [stream[-1]]
    if b.random.random() < (0.3 if b.tp == 1 else 0.5):  # sentence encoders
        pool = [b.emit("ReduceMean", stream[-1], b.integers(1), keepdims=b.random.randrange(2))]
    if b.random.random() < 0.5:
        try_moves(b, pool, b.random.randrange(1, 4))
    finish(b, layout, pool)


def choose_parameters(b, layout):
    """Leaves a parameter or two as they are, or trains some faster."""
    names = list(b.network.parameters)
    if not names:
        raise Reject("no parameter")
    if len(names) > 2 and b.random.random() < 0.12:
        layout.spec["trainable"] = ["*"] + ["!" + name for name in b.random.sample(names, b.random.choice([1, 2]))]
    elif b.random.random() < 0.15:
        layout.spec["optimizer"]["groups"] = [{"match": [f"*.{b.random.choice(names).rsplit('.', 1)[1]}"], "lr": 0.02}]


def choose_form(random, case, form):
    """One in four is written as torch.onnx.export would, which loses things."""
    drawn = random.choice(exporting.FORMS[1:]) if random.random() < 0.25 else "xlc"
    if "cuts" in case.layout.spec.get("pipeline", {}) or not exporting.can_write(case.network, form or drawn):  # cuts go by names
        return
    case.form = form or drawn
    if case.form != "xlc" and random.random() < 0.3:
        case.shared = exporting.share_inputs(case.network)


def generate(seed, number, has_gpus=False, form=None):
    """A case, or Reject where this number leads nowhere."""
    random = randoms.Random(f"{seed}/{number}")
    layout = layouts.draw(random)
    if has_gpus:
        layouts.draw_for_gpus(random, layout)
    b = Builder(random, layout.tp)
    b.draws = randoms.Random(f"{seed}/{number}/draws").random() < 0.45  # apart, so that the others stay what they are
    if layout.pp > 1 or layout.tp > 1 or random.random() < 0.25:
        grow_layers(b, layout)
    else:
        grow_flat(b, layout)
    b.network.prune()
    choose_parameters(b, layout)
    # Without a record, one number that several nodes read may be several parameters that began equal.
    is_clear = all(len(set(array.data)) > 1 for array in b.network.parameters.values())
    b.network.is_recorded = not is_clear or random.random() < 0.7
    case = Case(b.network, layout)
    count = layout.batch * (layouts.STEPS if random.random() < 0.7 else 1)
    case.data = {name: draw_rows(random, each, count) for name, each in b.network.inputs.items()}
    choose_form(random, case, form)
    return case
