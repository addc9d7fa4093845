"""Types of elements, as safetensors spells them. numpy has no bfloat16: its elements are read as the float32 of the same value, and
written from their bits."""

import numpy

BFLOAT16 = "BF16"
STORED = {"F64": "<f8", "F32": "<f4", "F16": "<f2", BFLOAT16: "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U8": "|u1"}


def stored_type(dtype):
    """The numpy type with the bits of `dtype`; None: no checkpoint has it."""
    return numpy.dtype(STORED[dtype]) if dtype in STORED else None


def value_of(array, dtype):
    """An array of the stored type, as numbers."""
    return (array.astype("<u4") << 16).view("<f4") if dtype == BFLOAT16 else array
