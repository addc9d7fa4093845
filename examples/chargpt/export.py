"""Makes chargpt.onnx, a GPT over characters, without initial values. Running the example does not need it.

    python3 export.py chargpt.onnx      needs xlc_export (pip install ../../python) and onnxscript

The module is exported in training mode, so its dropouts are in the file. The values of the parameters would lie in
chargpt.onnx.data, which is removed again: chargpt.yaml draws them (`init: {from: random}`).
"""

import pathlib
import sys

import onnx
import torch
import torch.nn.functional as F
import xlc_export
from torch import nn

VOCABULARY, CONTEXT = 128, 64
LAYERS, WIDTH, HEADS = 4, 128, 4
DROPOUT = 0.1


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x):
        q, k, v = (part.view(-1, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.qkv(x).split(WIDTH, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(y.transpose(1, 2).reshape(-1, CONTEXT, WIDTH))

    def forward(self, x):
        x = x + F.dropout(self.attend(self.ln_1(x)), DROPOUT, self.training)
        return x + F.dropout(self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh")), DROPOUT, self.training)


class CharGpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.characters, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, characters):
        x = self.characters(characters) + self.positions(torch.arange(CONTEXT))
        return self.head(self.ln(self.layers(F.dropout(x, DROPOUT, self.training))))


def main(path):
    rows = torch.arange(2 * CONTEXT).view(2, CONTEXT) % VOCABULARY
    xlc_export.export(CharGpt().train(), (rows,), path, input_names=["characters"], output_names=["logits"],
                      dynamic_shapes=({0: "batch"},), reference=False, external_data=True)
    pathlib.Path(f"{path}.data").unlink()
    model = onnx.load(path, load_external_data=False)
    for each in model.graph.node:  # what xlc does not read
        kept = [entry for entry in each.metadata_props if entry.key not in ("namespace", "pkg.torch.onnx.class_hierarchy")]
        del each.metadata_props[:]
        each.metadata_props.extend(kept)
    onnx.save(model, path)


if __name__ == "__main__":
    main(sys.argv[1])
