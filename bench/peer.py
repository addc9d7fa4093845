"""Trains GPT-2 with PyTorch for a few steps and prints their seconds; started by bench/peers and scripts/device with a Python that has it.

    peer.py versions
    peer.py {fp32,autocast,cast} {eager,compiled} [OPTIONS]      --help lists them

`autocast`: float32 parameters, bfloat16 where torch.autocast says so. `cast`: parameters, gradients and AdamW's states are bfloat16.
It works on a GPU where there is one. The optimizer is AdamW in its fused form, which is the fastest. A first few steps, --warm, are not
counted: they compile, touch memory and have libraries choose kernels.
"""

import argparse
import contextlib
import json
import platform
import time

import torch
import transformers

import gpt2

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = {"gpt2": {"n_layer": gpt2.LAYERS, "n_embd": gpt2.WIDTH, "n_head": 12}, "gpt2-xl": {"n_layer": 48, "n_embd": 1600, "n_head": 25}}


def make_model(options):
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=gpt2.VOCABULARY, **SIZES[options.model], resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False)
    model = transformers.GPT2LMHeadModel(config).train()
    model.loss_type = "ForCausalLM"  # what it takes anyway, with a warning that breaks the graph
    return (model.bfloat16() if options.form == "cast" else model).to(DEVICE)


def choose_attention(name):
    """Only this one of the fused kernels of a GPU is left."""
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_flash_sdp(name == "flash")
    torch.backends.cuda.enable_cudnn_sdp(name == "cudnn")


def train(options):
    model = make_model(options)
    optimizer = torch.optim.AdamW(model.parameters(), lr=gpt2.RATE, fused=True)
    rows = options.rows * options.micro_batches
    ids = torch.randint(0, gpt2.VOCABULARY, (rows, options.sequence), generator=torch.Generator().manual_seed(0)).to(DEVICE)

    narrowing = torch.autocast(DEVICE, torch.bfloat16) if options.form == "autocast" else contextlib.nullcontext()
    called = torch.compile(model, fullgraph=True) if options.how == "compiled" else model
    for step in range(options.warm + options.steps):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        total = 0
        for part in ids.split(options.rows):
            with narrowing:
                loss = called(input_ids=part, labels=part).loss / options.micro_batches
            loss.backward()
            total += loss.detach()
        optimizer.step()
        value = total.item()
        if step >= options.warm:
            yield time.perf_counter() - begin
    if not value < 12:  # the logarithm of the vocabulary is 10.8
        raise ValueError(f"the loss is {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("form", choices=("versions", "fp32", "autocast", "cast"))
    parser.add_argument("how", choices=("eager", "compiled"), nargs="?", default="eager")
    parser.add_argument("--model", choices=SIZES, default="gpt2")
    parser.add_argument("--rows", type=int, default=4, help="of a micro-batch")
    parser.add_argument("--micro-batches", type=int, default=1, help="of a step")
    parser.add_argument("--sequence", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--attention", choices=("any", "flash", "cudnn"), default="any", help="on a GPU")
    parser.add_argument("--warm", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    if options.form == "versions":
        onednn = next(line.strip("- ") for line in map(str.strip, torch.__config__.show().splitlines()) if "MKL-DNN" in line)
        print(f"Python {platform.python_version()}, PyTorch {torch.__version__}, transformers {transformers.__version__}, {onednn}")
        return
    torch.set_num_threads(options.threads)
    if options.attention != "any":
        choose_attention(options.attention)
    print(json.dumps(list(train(options))))


if __name__ == "__main__":
    main()
