"""Loads an adapter that `xlc checkpoint export --adapter` has written into PEFT: load.py FOLDER.

PyTorch trains the same adapter (export.py); the logits of both models on the first rows are to be equal within 1e-5. Exits with 1 where
they are not. Needs what export.py needs.
"""

import pathlib
import sys

import peft
import safetensors.torch
import torch

import export

ALLOWED = 1e-5


def logits(model):
    with torch.no_grad():
        return model.double()(input_ids=export.read_batches()[0], use_cache=False).logits


def main(folder):
    trained, _, _ = export.train()
    names = peft.get_peft_model_state_dict(trained).keys()
    found = safetensors.torch.load_file(folder / "adapter_model.safetensors").keys()
    print(f"{len(found)} tensors, {'named as PEFT names them' if found == names else f'PEFT has others: {sorted(found ^ names)}'}")
    expected = logits(trained)
    moved = (expected - logits(export.make_base())).abs().max().item()
    difference = (expected - logits(peft.PeftModel.from_pretrained(export.make_base(), folder))).abs().max().item()
    print(f"logits differ from PEFT's by at most {difference:.1e} ({ALLOWED:.0e} allowed); training moved them by up to {moved:.1e}")
    return 0 if found == names and difference <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
