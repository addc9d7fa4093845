"""Writes safetensors files: the same tensors give the same bytes. https://huggingface.co/docs/safetensors"""

import json

import torch

_DTYPES = {torch.float64: "F64", torch.int64: "I64", torch.float32: "F32", torch.int32: "I32", torch.float16: "F16",
           torch.bfloat16: "BF16", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}


def dump(tensors, metadata):
    """The file's bytes: `tensors` by name, `metadata` maps names to texts. Wide types come first, so that all are aligned."""
    header, pieces, end = {"__metadata__": metadata}, [], 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [end, end + len(data)]}
        pieces.append(data)
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *pieces])
