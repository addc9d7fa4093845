"""Images, sound and what joins them with text: transformers, convolutional networks, U-Nets, contrastive pairs."""

import timm
import timm.models.mlp_mixer as mixers
import torch
import torchvision.models as tv
import transformers as t
from torch import nn
from torch.nn import functional as F
from torchvision.models.efficientnet import EfficientNet, MBConvConfig

from family import ADAMW, ROWS, Family, classify_images, floats, generator, tokens

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
VIT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 16,
       "patch_size": 4, "num_labels": 10, "initializer_range": 0.1, **NO_DROPOUT}


def transformers_of_images():
    for name, model_class, config_class, more in (
            ("vit", t.ViTForImageClassification, t.ViTConfig, {}),
            ("deit", t.DeiTForImageClassification, t.DeiTConfig, {}),
            ("beit", t.BeitForImageClassification, t.BeitConfig, {"drop_path_rate": 0.0}),
            ("dinov2", t.Dinov2ForImageClassification, t.Dinov2Config, {"drop_path_rate": 0.0, "mlp_ratio": 2}),
            ("data2vec", t.Data2VecVisionForImageClassification, t.Data2VecVisionConfig, {"drop_path_rate": 0.0})):
        yield classify_images(name, lambda model_class=model_class, config_class=config_class, more=more:
                              model_class(config_class(**VIT, **more)), size=16, has_logits=name == "vit")
    yield classify_images("swin", lambda: t.SwinForImageClassification(
        t.SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4,
                     mlp_ratio=2.0, drop_path_rate=0.0, num_labels=10, **NO_DROPOUT)))
    yield classify_images("convnext", lambda: t.ConvNextForImageClassification(
        t.ConvNextConfig(patch_size=2, hidden_sizes=[16, 32], depths=[2, 2], num_stages=2, num_labels=10,
                         layer_scale_init_value=0.1)))
    yield classify_images("convnextv2", lambda: t.ConvNextV2ForImageClassification(
        t.ConvNextV2Config(patch_size=2, hidden_sizes=[16, 32], depths=[2, 2], num_stages=2, num_labels=10)))
    yield classify_images("poolformer", lambda: t.PoolFormerForImageClassification(
        t.PoolFormerConfig(hidden_sizes=[16, 32], depths=[1, 1], num_encoder_blocks=2, patch_sizes=[7, 3],
                           strides=[4, 2], padding=[2, 1], drop_path_rate=0.0, num_labels=10)))
    yield classify_images("segformer", lambda: t.SegformerForImageClassification(
        t.SegformerConfig(hidden_sizes=[16, 32], depths=[1, 1], num_encoder_blocks=2, sr_ratios=[2, 1],
                          patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2],
                          drop_path_rate=0.0, classifier_dropout_prob=0.0, num_labels=10, **NO_DROPOUT)))
    image = {"img_size": 16, "patch_size": 4, "num_classes": 10, "embed_dim": 32}
    yield classify_images("mixer", lambda: mixers.MlpMixer(num_blocks=2, mlp_ratio=(0.5, 2.0), **image), size=16)
    yield classify_images("resmlp", lambda: mixers.MlpMixer(num_blocks=2, mlp_ratio=2, block_layer=mixers.ResBlock,
                                                           norm_layer=mixers.Affine, **image), size=16)
    yield classify_images("cait", lambda: timm.create_model("cait_xxs24_224", depth=2, num_heads=4, **image), size=16)


def small_efficientnet():
    blocks = [MBConvConfig(1, 3, 1, 16, 16, 1, 1.0, 1.0), MBConvConfig(4, 3, 2, 16, 24, 2, 1.0, 1.0),
              MBConvConfig(4, 5, 2, 24, 32, 1, 1.0, 1.0)]
    return EfficientNet(blocks, dropout=0.0, stochastic_depth_prob=0.0, num_classes=10, last_channel=64)


class Inception(nn.Module):
    """Branches of convolutions without bias, joined."""

    def __init__(self):
        super().__init__()
        self.one, self.three = nn.Conv2d(3, 8, 1, bias=False), nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(torch.relu(torch.cat([self.three(x), self.one(x)], 1)).mean((2, 3)))


def convolutional():
    norms = {"is_training": True, "couples": True}
    yield classify_images("resnet18", lambda: tv.resnet18(num_classes=10), **norms)
    yield classify_images("resnet18-frozen", lambda: tv.resnet18(num_classes=10))
    yield classify_images("mobilenet", lambda: tv.mobilenet_v2(num_classes=10, dropout=0.0, width_mult=0.25), **norms)
    yield classify_images("efficientnet", small_efficientnet, **norms)
    yield classify_images("densenet", lambda: tv.DenseNet(growth_rate=8, block_config=(2, 2), num_init_features=16,
                                                         num_classes=10), **norms)
    # At a size of 32, two elements under a max pool come within 1e-7 of each other in step 4, and either may win.
    yield classify_images("shufflenet", lambda: tv.shufflenetv2.ShuffleNetV2([1, 2, 1], [8, 16, 32, 64, 64], num_classes=10),
                          size=48, **norms)
    yield classify_images("regnet", lambda: timm.create_model("regnetx_002", num_classes=10), **norms)
    yield classify_images("squeezenet", lambda: tv.squeezenet1_1(num_classes=10, dropout=0.0))
    yield classify_images("inception", Inception, size=8)


class UNet(nn.Module):
    """Two levels; norms over groups or the batch; `time` adds an embedding as diffusion does."""

    def __init__(self, norm="group", up="transpose", out=4, time=False):
        super().__init__()

        def block(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b) if norm == "group" else nn.BatchNorm2d(b),
                                 nn.SiLU())

        aligned = {"align_corners": False} if up == "bilinear" else {}
        self.d1, self.d2, self.mid = block(3, 16), block(16, 32), block(32, 32)
        self.time = nn.Linear(16, 32) if time else None
        self.up = (nn.ConvTranspose2d(32, 16, 2, stride=2) if up == "transpose" else nn.Sequential(
            nn.Upsample(scale_factor=2, mode=up, **aligned), nn.Conv2d(32, 16, 3, padding=1)))
        self.u, self.o = block(32, 16), nn.Conv2d(16, out, 1)

    def forward(self, x, time=None):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        if time is not None:
            b = b + self.time(time)[:, :, None, None]
        return self.o(self.u(torch.cat([self.up(self.mid(b)), a], 1)))


def predict_noise(model, x, time, noise):
    waves = time[:, None].to(x.dtype) * torch.exp(torch.arange(8, dtype=x.dtype) * -0.7)[None]
    share = (1 - time.to(x.dtype) / 101)[:, None, None, None]
    mixed = share.sqrt() * x + (1 - share).sqrt() * noise
    return F.mse_loss(model(mixed, torch.cat([waves.sin(), waves.cos()], 1)), noise)


def u_nets():
    pixels = torch.randint(0, 4, (ROWS, 16, 16), generator=generator(9))
    for up in ("transpose", "nearest", "bilinear"):
        yield classify_images(f"unet-{up}", lambda up=up: UNet("group", up), size=16, labels=pixels)
    yield classify_images("unet-batch-norm", lambda: UNet("batch"), size=16, labels=pixels, is_training=True, couples=True)
    image = ("batch", None, None, None)
    yield Family("diffusion", lambda: UNet("group", "nearest", 3, True), predict_noise,
                 {"x": floats(ROWS, 3, 16, 16), "t": torch.randint(0, 100, (ROWS,), generator=generator(3)),
                  "noise": floats(ROWS, 3, 16, 16, seed=2)}, {"x": image, "t": ("batch",), "noise": image})


def sound():
    x, y = floats(ROWS, 400), torch.arange(ROWS) % 2
    speech = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
              "intermediate_size": 64, "conv_dim": (16, 16), "conv_stride": (4, 2), "conv_kernel": (8, 4),
              "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
              "hidden_dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0, "feat_proj_dropout": 0.0,
              "final_dropout": 0.0, "layerdrop": 0.0, "mask_time_prob": 0.0, "classifier_proj_size": 16, "num_labels": 2}
    for name, model_class, config_class in (
            ("wav2vec2", t.Wav2Vec2ForSequenceClassification, t.Wav2Vec2Config),
            ("hubert", t.HubertForSequenceClassification, t.HubertConfig)):
        yield Family(name, lambda model_class=model_class, config_class=config_class: model_class(config_class(**speech)),
                     lambda model, x, y: F.cross_entropy(model(x).logits, y), {"x": x, "y": y},
                     {"x": ("batch", None), "y": ("batch",)})
    features = floats(ROWS, 24, 16)
    yield Family("spectrogram", lambda: t.ASTForAudioClassification(
        t.ASTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, patch_size=8,
                    frequency_stride=8, time_stride=8, max_length=24, num_mel_bins=16, num_labels=2,
                    initializer_range=0.1, **NO_DROPOUT)),
        lambda model, x, y: F.cross_entropy(model(x).logits, y), {"x": features, "y": y},
        {"x": ("batch", None, None), "y": ("batch",)})
    labels = tokens(ROWS, 10, 80, lowest=4)
    decoder = torch.cat([torch.ones(ROWS, 1, dtype=torch.int64), labels[:, :-1]], 1)
    yield Family("whisper", lambda: t.WhisperForConditionalGeneration(
        t.WhisperConfig(vocab_size=80, num_mel_bins=16, d_model=32, encoder_layers=2, decoder_layers=2,
                        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                        max_source_positions=30, max_target_positions=32, dropout=0.0, attention_dropout=0.0,
                        activation_dropout=0.0, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
                        init_std=0.1)),
        lambda model, x, d, y: model(input_features=x, decoder_input_ids=d, labels=y, use_cache=False).loss,
        {"input_features": floats(ROWS, 16, 60), "decoder_input_ids": decoder, "labels": labels},
        {"input_features": ("batch", None, None), "decoder_input_ids": ("batch", None), "labels": ("batch", None)})


def pairs():
    ids = tokens(ROWS, 10, 68)
    ids[:, -1] = 69
    text = {"vocab_size": 70, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_attention_heads": 4, "max_position_embeddings": 16, "eos_token_id": 69, "bos_token_id": 0, "pad_token_id": 1}
    image = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 16,
             "patch_size": 8}
    inputs = {"input_ids": ids, "pixel_values": floats(ROWS, 3, 16, 16), "attention_mask": torch.ones_like(ids)}
    dims = {"input_ids": ("batch", None), "pixel_values": ("batch", None, None, None), "attention_mask": ("batch", None)}
    for name, model_class, config in (
            ("clip", t.CLIPModel, lambda: t.CLIPConfig(text_config=text, vision_config=image, projection_dim=16)),
            ("siglip", t.SiglipModel, lambda: t.SiglipConfig(text_config=text, vision_config=image))):
        yield Family(name, lambda model_class=model_class, config=config: model_class(config()),
                     lambda model, ids, pixels, mask: model(input_ids=ids, pixel_values=pixels, attention_mask=mask,
                                                            return_loss=True).loss,
                     inputs, dims, couples=True, optimizer=dict(ADAMW))


def families():
    for rows in (transformers_of_images, convolutional, u_nets, sound, pairs):
        yield from rows()
