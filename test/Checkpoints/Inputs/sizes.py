"""Whether the files of a checkpoint have the bytes that `xlc plan --json` says."""

import collections
import json
import pathlib
import sys

plan = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["checkpoint"]
by_rank = collections.Counter()
for path in pathlib.Path(sys.argv[2]).glob("*.safetensors"):
    by_rank[path.stem.split("-")[1]] += path.stat().st_size
print(f"files {sum(by_rank.values())} of {plan['files']}, of a rank {max(by_rank.values())} of {plan['rank']}")
sys.exit((sum(by_rank.values()), max(by_rank.values())) != (plan["files"], plan["rank"]))
