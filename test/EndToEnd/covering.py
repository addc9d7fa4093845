"""A pairwise covering array: few runs that contain every possible pair of choices.

Each choice of one dimension (model, mesh, stage, ...) meets each choice of every other in at least one run, unless a
constraint forbids the two to meet. The greedy construction takes the run that covers the most uncovered pairs; a fixed
scattering of the runs breaks ties, so the array is varied and the same everywhere (Cohen et al., The AETG system,
1997).
"""

import itertools


def pairs_of(run):
    """Every two choices of a run, as ((dimension, choice), (dimension, choice)) by index."""
    return set(itertools.combinations(enumerate(run), 2))


def cover(dimensions, allows):
    """Runs (tuples, one choice per dimension) that cover all pairs which some allowed run has.

    `dimensions`: a list of lists of choices. `allows(run)`: whether a run makes sense.
    """
    allowed = [run for run in itertools.product(*dimensions) if allows(run)]
    by_pair = {}
    for index, run in enumerate(allowed):
        for pair in pairs_of(run):
            by_pair.setdefault(pair, []).append(index)
    open_pairs = dict.fromkeys(sorted(by_pair, key=lambda pair: (len(by_pair[pair]), str(pair))))
    runs = []
    while open_pairs:
        rarest = next(iter(open_pairs))  # the pair that fewest runs have
        best = max(by_pair[rarest], key=lambda index: (sum(pair in open_pairs for pair in pairs_of(allowed[index])),
                                                       index * 2654435761 % 2**32))  # Knuth's multiplicative hash
        runs.append(allowed[best])
        for pair in pairs_of(allowed[best]):
            open_pairs.pop(pair, None)
    return runs
