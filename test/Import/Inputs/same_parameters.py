"""Whether Import finds the same parameters, with the same shapes, in several files under one spec: SPEC MODEL..."""

import re
import subprocess
import sys

PARAMETER = re.compile(r'tensor<((?:\d+x)*)f32> \{[^}]*graph\.param = "([^"]*)"')


def main():
    found = []
    for model in sys.argv[2:]:
        done = subprocess.run(["xlc", "plan", model, "--spec", sys.argv[1], "--stop-after=Import"], capture_output=True,
                              text=True, check=True)
        signature = done.stdout[done.stdout.index("func.func @forward"):].split("\n", 1)[0]
        found.append(sorted((name, sizes) for sizes, name in PARAMETER.findall(signature)))
    for model, parameters in zip(sys.argv[2:], found):
        if parameters != found[0]:
            sys.exit(f"{model} differs in {sorted(set(parameters) ^ set(found[0]))[:6]}")
    print(f"{len(found[0])} parameters, the same in {len(found)} files")


if __name__ == "__main__":
    main()
