"""Cases of operators that read or change elements at indices."""

from case import Case
from tensors import Array, bools, build, floats, indices, ints, reals, reshaped, scalar, scattered, whole

X = reals([3, 4], seed=11)
CUBE = reals([2, 3, 4], seed=12)
COUNTS = whole([3, 4], -9, 9, seed=13)


def wrapped(i, size):
    return i + size if i < 0 else i


def take(axis):
    def want(x, picks):
        d, rank = axis % x.rank, len(picks.shape)
        return build(x.shape[:d] + picks.shape + x.shape[d + 1:],
                     lambda i: x[i[:d] + (wrapped(picks[i[d:d + rank]], x.shape[d]),) + i[d + rank:]], x.kind)
    return want


def take_elements(axis):
    def want(x, picks):
        d = axis % x.rank
        return build(picks.shape, lambda i: x[i[:d] + (wrapped(picks[i], x.shape[d]),) + i[d + 1:]], x.kind)
    return want


def take_nd(batch):
    def want(x, picks):
        depth, lead = picks.shape[-1], picks.rank - 1

        def element(i):
            index = tuple(wrapped(picks[i[:lead] + (k,)], x.shape[batch + k]) for k in range(depth))
            return x[i[:batch] + index + i[lead:]]
        return build(picks.shape[:-1] + x.shape[batch + depth:], element, x.kind)
    return want


def combine(reduction):
    """What is there and an update: of several updates of one place the last one stands, or all are combined."""
    return {"none": lambda old, new: new, "add": lambda old, new: old + new, "max": max, "min": min}[reduction]


def put_elements(axis, reduction="none"):
    def want(x, picks, updates):
        d, changes = axis % x.rank, {}
        for i in indices(picks.shape):
            to = i[:d] + (wrapped(picks[i], x.shape[d]),) + i[d + 1:]
            changes[to] = combine(reduction)(changes.get(to, x[to]), updates[i])
        return scattered(x, changes)
    return want


def put_nd(reduction="none"):
    def want(x, picks, updates):
        depth, lead, changes = picks.shape[-1], picks.rank - 1, {}
        for i in indices(updates.shape):
            to = tuple(wrapped(picks[i[:lead] + (k,)], x.shape[k]) for k in range(depth)) + i[lead:]
            changes[to] = combine(reduction)(changes.get(to, x[to]), updates[i])
        return scattered(x, changes)
    return want


def one_hot(axis):
    def want(picks, depth, values):
        depth, d = int(depth.data[0]), axis % (picks.rank + 1)
        return build(picks.shape[:d] + (depth,) + picks.shape[d:], lambda i: values.data[
            int(wrapped(picks[i[:d] + i[d + 1:]], depth) == i[d])], values.kind)
    return want


def compressed(axis):
    def want(x, condition):
        if axis is None:
            kept = [v for v, c in zip(x.data, condition.data) if c]
            return Array([len(kept)], kept, x.kind)
        places, d = [k for k, c in enumerate(condition.data) if c], axis % x.rank
        return build(x.shape[:d] + (len(places),) + x.shape[d + 1:],
                     lambda i: x[i[:d] + (places[i[d]],) + i[d + 1:]], x.kind)
    return want


def nonzero(x):
    places = [i for i in indices(x.shape) if x[i]]
    return build([x.rank, len(places)], lambda i: places[i[1]][i[0]], "i")


def matrix(*rows, kind="i"):
    return Array([len(rows), len(rows[0])], [x for row in rows for x in row], kind)


# With known indices, with computed ones, and with a data type beside float.
GATHERS = [
    # Of indices that are an input itself, negative ones are refused when the program runs.
    *[Case("Gather", x, picks, axis=axis, fixed=[1], want=take(axis)) for x in (X, COUNTS)
      for axis, picks in ((0, ints(2, 0, -1)), (1, matrix((3, 0), (-2, 1))), (-1, scalar(1, "i")))],
    *[Case("Gather", x, picks, axis=axis, want=take(axis)) for x in (X, COUNTS)
      for axis, picks in ((0, ints(2, 0, 1)), (1, matrix((3, 0), (2, 1))), (-1, scalar(1, "i")))],
    Case("Gather", X, ints(2, 0, kind="I"), want=take(0)),
    Case("Gather", bools([5]), ints(4, 0), want=take(0)),
    *[Case("GatherElements", x, picks, axis=axis, fixed=fixed, want=take_elements(axis))
      for x in (X, COUNTS) for fixed in ((), (1,)) for axis, picks in
      ((0, matrix((2, 0, -1, 1))), (1, matrix((3, 0), (-2, 1), (0, 0))), (-1, matrix((1, 1, 3), (0, -4, 2))))],
    # The same indices in every leading place.
    *[Case("GatherElements", CUBE, build([2, 3, 5], lambda i: (i[1] + i[2]) % 4, "i"), axis=2, fixed=fixed,
           want=take_elements(2)) for fixed in ((), (1,))],
    Case("GatherElements", X, matrix((1, 1, 0, 2)), want=take_elements(0)),
    *[Case("GatherND", x, picks, batch_dims=batch, fixed=fixed, want=take_nd(batch))
      for fixed in ((), (1,)) for x, batch, picks in
      ((X, 0, matrix((2, 1), (0, -1))), (X, 0, matrix((1,), (-3,))), (COUNTS, 0, ints(1, 3)),
       (CUBE, 1, matrix((2, 1), (0, -1))), (CUBE, 1, Array([2, 2, 1], [0, -1, 1, 1], "i")),
       (CUBE, 0, Array([2, 1, 2], [0, 2, -1, 0], "i")), (CUBE, 2, build([2, 3, 1], lambda i: i[0] + i[1], "i")))],
    Case("GatherND", X, matrix((2, 1)), want=take_nd(0)),
]

# One place may be named more than once, and negative places count from the end.
ROWS = matrix((2, 0, -1, 1), (2, 1, 2, 1), (-1, 0, 0, 1))
SCATTERS = [
    *[Case("ScatterElements", X, picks, reals(picks.shape, seed=20), axis=axis, fixed=fixed, want=put_elements(axis))
      for fixed in ((), (1,)) for axis, picks in ((0, matrix((2, 0, -1, 1))), (1, matrix((3, 0), (-2, 1))))],
    *[Case("ScatterElements", X, picks, reals(picks.shape, seed=20), axis=axis, fixed=fixed, has_slope=False,
           want=put_elements(axis))
      for fixed in ((), (1,)) for axis, picks in ((0, ROWS), (1, matrix((3, 3, 0, -1), (1, -3, 1, 1))))],
    Case("ScatterElements", X, matrix((1, 1, 0, 2)), reals([1, 4]), want=put_elements(0)),
    Case("ScatterElements", X, matrix((1, 1, 0, 2)), reshaped(floats(7, 7, 7, 7), [1, 4]), fixed=[2], want=put_elements(0)),
    Case("ScatterElements", CUBE, build([2, 2, 3], lambda i: (i[0] + i[1] + i[2]) % 3, "i"), reals([2, 2, 3], seed=24), axis=1,
         has_slope=False, want=put_elements(1)),
    *[Case("ScatterElements", x, ROWS, updates, want=put_elements(0))
      for x, updates in ((COUNTS, whole([3, 4], 0, 9)), (bools([3, 4]), bools([3, 4], seed=25)))],
    *[Case("ScatterElements", X, picks, reals(picks.shape, seed=20), axis=axis, fixed=fixed, reduction="add", since=16,
           want=put_elements(axis, "add"))
      for fixed in ((), (1,)) for axis, picks in ((0, matrix((2, 0, 1, 1), (2, 1, 1, -1))), (-1, matrix((3, 3, 0))))],
    *[Case("ScatterElements", x, ROWS, updates, fixed=fixed, reduction=reduction, since=18, want=put_elements(0, reduction))
      for fixed in ((), (1,)) for reduction in ("max", "min")
      for x, updates in ((X, reals([3, 4], seed=26)), (COUNTS, whole([3, 4], -9, 9)))],
    *[Case("ScatterND", x, picks, updates, fixed=fixed, want=put_nd())
      for fixed in ((), (1,)) for x, picks, updates in
      ((X, matrix((2, 1), (0, -1)), floats(7, 8)), (X, matrix((2,), (0,)), reals([2, 4], seed=21)),
       (COUNTS, matrix((2,), (0,), (2,)), whole([3, 4], 0, 9)), (CUBE, matrix((1, 0), (0, 2)), reals([2, 4], seed=22)))],
    *[Case("ScatterND", X, picks, updates, fixed=fixed, has_slope=False, want=put_nd()) for fixed in ((), (1,))
      for picks, updates in ((matrix((2, 1), (0, 3), (2, 1), (0, -1)), floats(7, 8, 9, 10)),
                             (matrix((2,), (0,), (-1,)), reals([3, 4], seed=27)))],
    Case("ScatterND", COUNTS, matrix((2,), (-3,)), whole([2, 4], 0, 9), fixed=[1], want=put_nd()),
    *[Case("ScatterND", X, matrix((2,), (0,), (2,)), reals([3, 4], seed=23), fixed=fixed, reduction=reduction,
           since=16 if reduction == "add" else 18, want=put_nd(reduction))
      for fixed in ((), (1,)) for reduction in ("add", "max", "min")],
]

OTHERS = [
    *[Case("OneHot", picks, depth, values, **({} if axis is None else {"axis": axis}), fixed=[1],
           want=one_hot(-1 if axis is None else axis))
      for picks in (ints(2, 0, -1, 5), matrix((1, 2), (0, 3)))
      for axis, depth, values in ((None, scalar(4, "i"), floats(0, 1)), (0, ints(3), ints(2, 9)),
                                  (1, scalar(4.0), floats(-1, 2)))],
    *[Case("Compress", x, condition, **({} if axis is None else {"axis": axis}), fixed=[1], want=compressed(axis))
      for x in (X, COUNTS) for axis, condition in
      ((0, Array([3], [1, 0, 1], "b")), (1, Array([2], [0, 1], "b")), (-1, Array([4], [1, 1, 0, 1], "b")),
       (None, Array([6], [0, 1, 0, 0, 0, 1], "b")))],
    *[Case("NonZero", x, want=nonzero) for x in (bools([3, 3]), whole([2, 2, 3], -1, 2), floats(0, 1.5, 0, -2))],
]

CASES = GATHERS + SCATTERS + OTHERS
