"""Writes what may be wrong with the data of models/mlp (x: rows of 20 floats, y: labels below 10) into a folder.

    bad_data.py FOLDER

One .npy file per mistake, named after it.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "EndToEnd"))
import files  # noqa: E402  (a neighbour's)

ROWS = 40


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    files.write_npy(folder / "x.npy", "<f4", (ROWS, 20), [0.0] * ROWS * 20)  # nothing is wrong with it
    labels = [row % 10 for row in range(ROWS)]
    files.write_npy(folder / "id-too-large.npy", "<i8", (ROWS,), labels[:7] + [10] + labels[8:])
    files.write_npy(folder / "id-negative.npy", "<i4", (ROWS,), labels[:39] + [-1])
    files.write_npy(folder / "floats.npy", "<f4", (ROWS,), labels)
    files.write_npy(folder / "one-row.npy", "<i8", (1,), labels[:1])
    files.write_npy(folder / "narrow.npy", "<f4", (ROWS, 19), [0.0] * ROWS * 19)
    files.write_npy(folder / "flat.npy", "<f4", (ROWS * 20,), [0.0] * ROWS * 20)
    whole = (folder / "narrow.npy").read_bytes()
    (folder / "cut.npy").write_bytes(whole[:-4])
    (folder / "half.npy").write_bytes(whole.replace(b"<f4", b"<c8"))
    (folder / "fortran.npy").write_bytes(whole.replace(b"False", b"True "))
    (folder / "text.npy").write_text("1, 2, 3\n")
    (folder / "empty.npy").write_bytes(b"")


if __name__ == "__main__":
    main()
