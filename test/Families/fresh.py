"""Models that were taken as they come, after all others passed: what a compiler meets that was not written for them."""

import timm
import timm.models.mlp_mixer as mixers
import timm.models.nfnet as nfnet
import torch
import torchvision.models as tv
import transformers as t
from timm.layers import GatedMlp
from torch import nn
from torch.nn import functional as F

from family import BATCH_SEQUENCE, ROWS, Family, classify_images, classify_text, floats, generator, tokens
from language import BERT, GPT2, LLAMA


def classify_last(name, model_class, config):
    """A decoder that classifies by the last word which is no padding: a row of the scores by a computed index."""
    ids = tokens(ROWS, 16, 90, lowest=4)
    lengths = torch.randint(8, 17, (ROWS,), generator=generator(5))
    mask = (torch.arange(16)[None] < lengths[:, None]).long()
    return Family(name, lambda: model_class(config()),
                  lambda model, ids, mask, labels: F.cross_entropy(
                      model(input_ids=ids, attention_mask=mask, use_cache=False).logits, labels),
                  {"input_ids": torch.where(mask == 1, ids, 0), "attention_mask": mask, "labels": ids.sum(1) % 3},
                  {"input_ids": BATCH_SEQUENCE, "attention_mask": BATCH_SEQUENCE, "labels": ("batch",)})


class TextTower(nn.Module):
    """The text half of CLIP: each row's word with the highest id is its sentence."""

    def __init__(self):
        super().__init__()
        self.text = t.CLIPTextModelWithProjection(t.CLIPTextConfig(
            vocab_size=90, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=16, projection_dim=16, eos_token_id=89, bos_token_id=0, pad_token_id=1))
        self.head = nn.Linear(16, 3)

    def forward(self, ids):
        return self.head(self.text(input_ids=ids).text_embeds)


def limited_mean(model, ids, mask, labels):
    """A mean over the words that count, at least one: as sentence encoders and taggers write it."""
    hidden = model(ids)
    losses = F.cross_entropy(hidden.transpose(1, 2), labels, reduction="none")
    return (losses * mask).sum() / mask.sum().clamp(min=1)


def text():
    yield classify_last("gpt2-classify", t.GPT2ForSequenceClassification,
                        lambda: t.GPT2Config(**GPT2, num_labels=3, pad_token_id=0))
    yield classify_last("llama-classify", t.LlamaForSequenceClassification,
                        lambda: t.LlamaConfig(**LLAMA, num_labels=3, pad_token_id=0))
    ids = tokens(ROWS, 12, 88, lowest=4)
    ids[:, -1] = 89
    yield Family("clip-text", TextTower, lambda model, x, y: F.cross_entropy(model(x), y),
                 {"input_ids": ids, "labels": ids.sum(1) % 3}, {"input_ids": BATCH_SEQUENCE, "labels": ("batch",)})
    words = tokens(ROWS, 12, 60)
    counted = (torch.rand(ROWS, 12, generator=generator(8)) < 0.7).long()
    yield Family("tagger", lambda: nn.Sequential(nn.Embedding(60, 24), nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 60)),
                 limited_mean, {"input_ids": words, "mask": counted, "labels": words.roll(-1, 1)},
                 {name: BATCH_SEQUENCE for name in ("input_ids", "mask", "labels")})
    yield classify_text("xlnet", t.XLNetForSequenceClassification,
                        lambda: t.XLNetConfig(vocab_size=90, d_model=32, n_layer=2, n_head=4, d_inner=64, dropout=0.0,
                                              num_labels=3, summary_last_dropout=0.0, initializer_range=0.1))
    yield classify_text("squeezebert", t.SqueezeBertForSequenceClassification,
                        lambda: t.SqueezeBertConfig(**BERT, embedding_size=32))
    yield classify_text("mobilebert", t.MobileBertForSequenceClassification,
                        lambda: t.MobileBertConfig(**BERT, embedding_size=16, intra_bottleneck_size=16, num_feedforward_networks=2))
    funnel = classify_text("funnel", t.FunnelForSequenceClassification,
                           lambda: t.FunnelConfig(
                               vocab_size=90, block_sizes=[1, 1], num_decoder_layers=1, d_model=32, n_head=4,
                               d_head=8, d_inner=64, hidden_dropout=0.0, attention_dropout=0.0,
                               activation_dropout=0.0, num_labels=3))
    funnel.dims |= {"input_ids": ("batch", None), "attention_mask": ("batch", None)}
    yield funnel


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = t.PatchTSTForRegression(t.PatchTSTConfig(
            num_input_channels=3, context_length=32, patch_length=8, patch_stride=8, num_hidden_layers=2, d_model=32,
            num_attention_heads=4, ffn_dim=64, num_targets=2, attention_dropout=0.0, path_dropout=0.0, ff_dropout=0.0,
            head_dropout=0.0, positional_dropout=0.0, norm_type="layernorm", loss="mse"))

    def forward(self, x):
        return self.model(past_values=x).regression_outputs


def images_and_series():
    x = floats(ROWS, 32, 3)
    yield Family("patchtst", Forecast, lambda model, x, y: F.mse_loss(model(x), y), {"x": x, "y": x[:, -1, :2].clone()},
                 {"x": ("batch", None, None), "y": ("batch", None)})
    yield classify_images("swin-v2", lambda: tv.swin_transformer.SwinTransformer(
        [2, 2], 16, [2, 2], [2, 4], [4, 4], mlp_ratio=2.0, dropout=0.0, attention_dropout=0.0, stochastic_depth_prob=0.0,
        num_classes=10, block=tv.swin_transformer.SwinTransformerBlockV2, downsample_layer=tv.swin_transformer.PatchMergingV2),
        old_spec={"trainable": ["*", "!*relative_coords_table"]})
    yield classify_images("xcit", lambda: timm.create_model("xcit_nano_12_p16_224", img_size=32, depth=2, num_heads=4,
                                                            embed_dim=32, num_classes=10))
    yield classify_images("gmlp", lambda: mixers.MlpMixer(num_blocks=2, mlp_ratio=4, img_size=16, patch_size=4, embed_dim=32,
                                                         num_classes=10, block_layer=mixers.SpatialGatingBlock,
                                                         mlp_layer=GatedMlp), size=16)
    yield classify_images("nfnet", lambda: nfnet.NormFreeNet(
        nfnet.NfCfg(depths=(1, 1), channels=(32, 64), stem_type="3x3", stem_chs=16, group_size=8, bottle_ratio=0.5,
                    attn_layer="se", attn_kwargs={}), num_classes=10, drop_rate=0.0, drop_path_rate=0.0))


def families():
    for rows in (text, images_and_series):
        yield from rows()
