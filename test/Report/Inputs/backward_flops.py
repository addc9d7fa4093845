# FLOPs in products of a step, by stage: backward_flops.py < REPORT.json. Splitting backward moves none of them.
import json
import sys

for group in json.load(sys.stdin)["groups"]:
    print(group["stage"], group["flops"]["products"])
