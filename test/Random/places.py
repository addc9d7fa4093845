"""Makes the modules of two other test folders importable: the encoder of ONNX files and the readers of what programs write."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "test" / "Import" / "Operators"), str(ROOT / "test" / "EndToEnd")]
