"""Functions of torch in words that both exporters have, where one of them drops an argument.

    cross_entropy(x, y, label_smoothing=s)      log_softmax, gather, mean
    cross_entropy(x, probabilities)             -(log_softmax(x) * probabilities).sum
    avg_pool2d(x, ..., divisor_override=d)      avg_pool2d(x, ...) * (elements of a window / d)
    scatter_reduce(x, ..., "mean")              a sum over a count
    scaled_dot_product_attention(..., dropout_p)  products, softmax, dropout
"""

import math

import torch
import torch.nn.functional as F


class Unwritable(Exception):
    """What has no such words: the text says what helps."""


def smooth_labels(given):
    """Of labels that are numbers of classes; no weights of classes."""
    scores, target, reduction = given["input"], given["target"], given["reduction"]
    share, ignored = given["label_smoothing"], given["ignore_index"]
    classes = 1 if scores.dim() > 1 else 0
    logs = F.log_softmax(scores, classes)
    counted = target != ignored
    own = logs.gather(classes, torch.where(counted, target, 0).unsqueeze(classes)).squeeze(classes)
    loss = torch.where(counted, own * (share - 1) - logs.mean(classes) * share, torch.zeros((), dtype=logs.dtype))
    if reduction != "none":  # one sum over one count, so that the loss can be cut
        loss = loss.sum() / (counted.sum() if reduction == "mean" else 1)
    return loss


def score_probabilities(given):
    """Of targets that are probabilities of classes."""
    scores, target, share = given["input"], given["target"], given["label_smoothing"]
    classes = 1 if scores.dim() > 1 else 0
    if share:
        target = target * (1 - share) + share / scores.shape[classes]
    weighted = F.log_softmax(scores, classes) * target
    if given["weight"] is not None:
        weighted = weighted * given["weight"].view(-1, *(1 for _ in range(scores.dim() - classes - 1)))
    loss = -weighted.sum(classes)
    return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[given["reduction"]]


def average_pool(func, args, kwargs):
    names = ("input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
    given = {"ceil_mode": False, **dict(zip(names, args)), **kwargs}
    divisor = given.pop("divisor_override", None)
    if divisor is None:
        return func(*args, **kwargs)
    if given["ceil_mode"]:
        raise Unwritable("pools with divisor_override and ceil_mode, which a file cannot represent together: pad the input "
                         "instead")
    size, dimensions = given["kernel_size"], 3 if func is F.avg_pool3d else 2
    size = (size,) * dimensions if isinstance(size, int) else tuple(size) * (dimensions if len(size) == 1 else 1)
    return func(**{**given, "count_include_pad": True}) * (math.prod(size) / divisor)


def scatter_mean(func, args, kwargs):
    given = {"include_self": True, **dict(zip(("input", "dim", "index", "src", "reduce"), args)), **kwargs}
    x, dim, index, src = (given[key] for key in ("input", "dim", "index", "src"))
    if given["reduce"] != "mean":
        return func(*args, **kwargs)
    hits = torch.zeros_like(x).scatter_add(dim, index, torch.ones_like(src))
    if given["include_self"]:
        return x.scatter_add(dim, index, src) / (hits + 1)
    base = torch.where(hits > 0, torch.zeros((), dtype=x.dtype), x)
    return base.scatter_add(dim, index, src) / hits.clamp(min=1)


def refuse_mean(func, args, kwargs):
    """In place, or by index."""
    if "mean" in (*args, kwargs.get("reduce")):
        raise Unwritable(f"computes means with {func.__name__}, which the exporter does not write correctly: use "
                         "scatter_reduce, or divide a sum by a count")
    return func(*args, **kwargs)


def average_instances(x):
    """The mean over the batch of the mean and of the variance of each instance [batch, channels, ...]."""
    axes, count = list(range(2, x.dim())), math.prod(x.shape[2:])
    mean = x.mean(axes, keepdim=True)
    variance = ((x - mean) ** 2).sum(axes) / (count - 1)
    return mean.flatten(1).mean(0), variance.mean(0)


attention = F.scaled_dot_product_attention  # PyTorch's own


def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Attention, with its dropout where a file can say it: the new exporter loses it, the old one its training_mode. A
    query that sees no key gets zeros."""
    if not dropout_p:
        return attention(query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa)
    if enable_gqa:
        key, value = (x.repeat_interleave(query.size(-3) // x.size(-3), -3) for x in (key, value))
    scores = (query @ key.transpose(-2, -1)) * (query.size(-1) ** -0.5 if scale is None else scale)
    zero = torch.zeros((), dtype=query.dtype, device=query.device)
    mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril() if is_causal else attn_mask
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.where(mask, zero, torch.full_like(zero, -torch.inf))
    weights = F.softmax(scores if mask is None else scores + mask, -1)
    if attn_mask is not None:
        weights = torch.where(torch.isnan(weights), zero, weights)
    return F.dropout(weights, dropout_p, True) @ value


FUNCTIONS = {
    F.avg_pool2d: average_pool, F.avg_pool3d: average_pool,
    torch.scatter_reduce: scatter_mean, torch.Tensor.scatter_reduce: scatter_mean,
    **dict.fromkeys((torch.Tensor.scatter_reduce_, torch.index_reduce, torch.Tensor.index_reduce,
                     torch.Tensor.index_reduce_), refuse_mean),
}
