"""Whether the table of phases lists every part of the spec that a phase's own function reads: reads.py ROOT

The column `reads` decides from which module a search plans again (lib/Phases/Forks.cpp): a part that it omits would be planned
from a stale one. Seen are the functions of Phases.cpp, each with those of the file that it calls; what it passes the spec on to is not.
"""

import pathlib
import re
import sys

# Members of Spec, and what the table calls what they hold.
NAMES = {
    "chunksPerRank": "pipeline", "deviceMemory": "cluster.device_memory", "deviceOrCpu": "cluster.device", "dpShardOrAll": "dp_shard",
    "hasFusedAttention": "runtime.attention", "isDeterministic": "runtime.deterministic", "loss": "loss.chunk", "microBatches": "micro-batches",
    "overlaps": "runtime.overlap", "threadsPerRankOrDefault": "runtime.threads_per_rank", "weightsBeside": "runtime.weight_gradients",
    "zeroStage": "zero_stage",
}
# What a phase reads and its module does not depend on.
EXCUSED = {
    "Import": {"dp", "dp_shard", "pp", "tp"},  # the mesh, which Forks sets anew
    "Differentiate": {"cluster.device_memory", "precision"},  # whether a copy of the module is kept
}
FUNCTION = re.compile(r"^[\w:<>]+ (?:xlc::)?(\w+)\([^;{]*\) \{\n(.*?)^\}", re.M | re.S)
ROW = re.compile(r'\{"(\w+)", "[^"]*", "[^"]*",\s*((?:"[^"]*"\s*)+),.*?Fault::\w+,\s+(\w+)', re.S)


def parts_of(name, functions, seen):
    """What the function and those that it calls read of the spec."""
    if name not in functions or name in seen:
        return set()
    seen.add(name)
    parts = {NAMES.get(member, member) for member in re.findall(r"\bspec\.(\w+)", functions[name])}
    for called in re.findall(r"\b(\w+)\(", functions[name]):
        parts |= parts_of(called, functions, seen)
    return parts


def main(root):
    text = (pathlib.Path(root) / "lib" / "Phases" / "Phases.cpp").read_text()
    functions, rows = dict(FUNCTION.findall(text)), ROW.findall(text[text.index("phases[] = {"):])
    missing = [f"{phase} reads {part}, which its row does not list" for phase, reads, function in rows
               for part in sorted(parts_of(function, functions, set()) - set(re.sub(r'"\s*"|"', "", reads).strip().split(", ")))
               if part not in EXCUSED.get(phase, ())]
    print("\n".join(missing) or f"{len(rows)} phases list what they read")
    return 1 if missing or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
