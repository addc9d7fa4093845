"""Writes rows to an .npy file as they come, so that a data set is never in memory. The number of rows stands in a header of fixed length,
which is written again at the end."""

import struct

import numpy

HEADER = 128  # bytes, a multiple of 64


class NpyWriter:
    """A file of rows of one shape and type; `with` ends it."""

    def __init__(self, path, row_shape, dtype):
        self.row_shape, self.dtype, self.rows = tuple(row_shape), numpy.dtype(dtype), 0
        self.file = open(path, "wb")  # pylint: disable=consider-using-with
        self._write_header()

    def write(self, row):
        array = numpy.asarray(row)
        if array.shape != self.row_shape:
            raise ValueError(f"a row has shape {array.shape}, but the rows before it have shape {self.row_shape}")
        if array.size and self.dtype.kind in "iu" and not self._holds(array):
            raise ValueError(f"numbers from {array.min()} to {array.max()} do not fit into {self.dtype}")
        self.file.write(array.astype(self.dtype).tobytes())
        self.rows += 1

    def _holds(self, array):
        limits = numpy.iinfo(self.dtype)
        return array.min() >= limits.min and array.max() <= limits.max

    def _write_header(self):
        shape = (self.rows, *self.row_shape)
        text = repr({"descr": self.dtype.str, "fortran_order": False, "shape": shape})
        self.file.seek(0)
        self.file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", HEADER - 10) + text.ljust(HEADER - 11).encode() + b"\n")

    def close(self):
        self._write_header()
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()
