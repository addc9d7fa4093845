"""Trains GPT-2 124M with PyTorch for a few steps and prints their seconds; started by bench/peers and scripts/device with a Python that has it.

    peer.py versions
    peer.py {fp32,autocast,cast} {eager,compiled} BATCH SEQUENCE THREADS WARM STEPS

`autocast`: float32 parameters, bfloat16 where torch.autocast says so. `cast`: parameters, gradients and AdamW's states are bfloat16.
It works on a GPU where there is one. The optimizer is AdamW in its fused form, which is the fastest. A first few steps, WARM, are not
counted: they compile, touch memory and have libraries choose kernels.
"""

import contextlib
import json
import platform
import sys
import time

import torch
import transformers

import gpt2

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_model(form):
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=gpt2.VOCABULARY, n_layer=gpt2.LAYERS, n_embd=gpt2.WIDTH, resid_pdrop=0,
                                     embd_pdrop=0, attn_pdrop=0, use_cache=False)
    model = transformers.GPT2LMHeadModel(config).train()
    model.loss_type = "ForCausalLM"  # what it takes anyway, with a warning that breaks the graph
    return (model.bfloat16() if form == "cast" else model).to(DEVICE)


def train(form, how, batch, sequence, warm, steps):
    model = make_model(form)
    optimizer = torch.optim.AdamW(model.parameters(), lr=gpt2.RATE, fused=True)
    ids = torch.randint(0, gpt2.VOCABULARY, (batch, sequence), generator=torch.Generator().manual_seed(0)).to(DEVICE)

    narrowing = torch.autocast(DEVICE, torch.bfloat16) if form == "autocast" else contextlib.nullcontext()
    called = torch.compile(model, fullgraph=True) if how == "compiled" else model
    for step in range(warm + steps):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with narrowing:
            loss = called(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        value = loss.item()
        if step >= warm:
            yield time.perf_counter() - begin
    if not value < 12:  # the logarithm of the vocabulary is 10.8
        sys.exit(f"the loss is {value}")


def main():
    if sys.argv[1:] == ["versions"]:
        onednn = next(line.strip("- ") for line in map(str.strip, torch.__config__.show().splitlines()) if "MKL-DNN" in line)
        print(f"Python {platform.python_version()}, PyTorch {torch.__version__}, transformers {transformers.__version__}, {onednn}")
        return
    form, how, *numbers = sys.argv[1:]
    batch, sequence, threads, warm, steps = map(int, numbers)
    torch.set_num_threads(threads)
    print(json.dumps(list(train(form, how, batch, sequence, warm, steps))))


if __name__ == "__main__":
    main()
