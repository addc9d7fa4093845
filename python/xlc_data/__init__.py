"""Makes data that programs of xlc train on: streams of tokens, and rows of .npy files. See `python -m xlc_data --help`."""

from ._check import check_folder
from ._npy import NpyWriter
from ._rows import write_rows
from ._tokens import LlmcWriter, write_tokens

__all__ = ["LlmcWriter", "NpyWriter", "check_folder", "write_rows", "write_tokens"]
