"""Flips one bit of PROGRAM.safetensors at each of 200 places and starts the program, which must find every one.

    flip_bits.py PROGRAM DATA

All 64 bits of the length, and places spread over the header, its last byte (which is padding) and the data. Of a flip in
the data, the message names the tensor.
"""

import json
import pathlib
import random
import subprocess
import sys

PLACES = 200


def find_tensor(header, offset):
    for name, entry in header.items():
        if name != "__metadata__" and entry["data_offsets"][0] <= offset < entry["data_offsets"][1]:
            return name
    raise AssertionError(offset)


def main():
    program, data = pathlib.Path(sys.argv[1]), sys.argv[2]
    path = pathlib.Path(f"{program}.safetensors")
    good = path.read_bytes()
    begin = 8 + int.from_bytes(good[:8], "little")
    header = json.loads(good[8:begin])
    assert good[begin - 1:begin] == b" ", "the header of this model has no padding: take another"
    draw = random.Random(1)
    bits = list(range(64)) + [8 * (begin - 1) + bit for bit in range(8)]
    bits += [8 * draw.randrange(8, begin) + draw.randrange(8) for _ in range(PLACES // 3)]
    bits += [8 * draw.randrange(begin, len(good)) + draw.randrange(8) for _ in range(PLACES - len(bits))]
    found = 0
    try:
        for bit in bits:
            bad = bytearray(good)
            bad[bit // 8] ^= 1 << bit % 8
            path.write_bytes(bad)
            run = subprocess.run([program, "--data", data, "--steps", "1"], capture_output=True, text=True, timeout=20)
            where = bit // 8 - begin
            words = f"'{find_tensor(header, where)}' is damaged" if where >= 0 else f"{path}: error: "
            if run.returncode == 1 and words in run.stderr and not run.stdout:
                found += 1
            else:
                print(f"bit {bit}: code {run.returncode}: {run.stdout}{run.stderr}")
    finally:
        path.write_bytes(good)
    print(f"{found} of {len(bits)} found")


if __name__ == "__main__":
    main()
