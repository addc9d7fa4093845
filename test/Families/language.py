"""Transformers over tokens: decoders, encoders, encoder-decoders, mixtures of experts, state spaces.

Each is the smallest configuration that still has the family's own parts: two or three layers, several heads, fewer
key-value heads where the family has them, a padding id where it has one (ids of the rows reach it).
"""

import torch
import transformers as t
from torch.nn import functional as F

from family import ADAMW, BATCH_SEQUENCE, ROWS, Family, causal_lm, classify_text, tokens, translate

ENDS = {"bos_token_id": 0, "eos_token_id": 0}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
LLAMA = {"vocab_size": 90, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "initializer_range": 0.1, **ENDS}
BERT = {"vocab_size": 90, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "max_position_embeddings": 32, "num_labels": 3, "initializer_range": 0.1, **NO_DROPOUT}
BART = {"vocab_size": 90, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 32,
        "dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0, "init_std": 0.1, "pad_token_id": 1,
        "decoder_start_token_id": 2, "bos_token_id": 0, "eos_token_id": 2, "forced_eos_token_id": None}
GPT2 = {"n_layer": 2, "n_head": 4, "n_embd": 32, "vocab_size": 90, "n_positions": 32, "resid_pdrop": 0.0,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0, "initializer_range": 0.1, **ENDS}
NO_LOGITS_BIAS = {"trainable": ["*", "!model.bias"]}  # a buffer of zeros, whose name the old exporter does not write
EXPERTS = {"num_experts_per_tok": 2, "output_router_logits": False}


def batched(config):
    """Experts as batched products: the form of transformers without loops over data."""
    config._experts_implementation = "batched_mm"
    return config


def llama_like(config_class, **more):
    return lambda: config_class(**{**LLAMA, **more})


def decoders():
    yield causal_lm("gpt2", t.GPT2LMHeadModel, lambda: t.GPT2Config(**GPT2), has_logits=True)
    yield causal_lm("gpt2-adamw", t.GPT2LMHeadModel, lambda: t.GPT2Config(**GPT2), optimizer=dict(ADAMW))
    yield causal_lm("gpt2-odd", t.GPT2LMHeadModel, lambda: t.GPT2Config(**{**GPT2, "n_head": 3, "n_embd": 51}), vocabulary=87,
                    length=19, optimizer=dict(ADAMW, clip_norm=0.5))
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        yield causal_lm("gpt2-" + str(dtype).split(".")[1], t.GPT2LMHeadModel, lambda: t.GPT2Config(**GPT2), dtype=dtype)
    yield causal_lm("llama", t.LlamaForCausalLM, llama_like(t.LlamaConfig), has_logits=True)
    yield causal_lm("mistral", t.MistralForCausalLM, llama_like(t.MistralConfig, sliding_window=6), has_logits=True)
    yield causal_lm("qwen2", t.Qwen2ForCausalLM, llama_like(t.Qwen2Config))
    yield causal_lm("qwen3", t.Qwen3ForCausalLM, llama_like(t.Qwen3Config, head_dim=12, tie_word_embeddings=True))
    yield causal_lm("gemma", t.GemmaForCausalLM, llama_like(t.GemmaConfig, num_key_value_heads=1, head_dim=8, pad_token_id=0),
                    has_logits=True)
    yield causal_lm("gemma2", t.Gemma2ForCausalLM,
                    llama_like(t.Gemma2Config, head_dim=8, sliding_window=6, query_pre_attn_scalar=8, pad_token_id=0))
    yield causal_lm("phi", t.PhiForCausalLM,
                    llama_like(t.PhiConfig, num_key_value_heads=4, partial_rotary_factor=0.5, resid_pdrop=0.0,
                               embd_pdrop=0.0, attention_dropout=0.0), has_logits=True)
    yield causal_lm("phi3", t.Phi3ForCausalLM,
                    llama_like(t.Phi3Config, resid_pdrop=0.0, embd_pdrop=0.0, pad_token_id=0))
    yield causal_lm("neox", t.GPTNeoXForCausalLM,
                    lambda: t.GPTNeoXConfig(vocab_size=90, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                            num_attention_heads=4, rotary_pct=0.25, hidden_dropout=0.0,
                                            attention_dropout=0.0, initializer_range=0.1, **ENDS), has_logits=True)
    yield causal_lm("gptj", t.GPTJForCausalLM, lambda: t.GPTJConfig(**{**GPT2, "rotary_dim": 4}))
    yield causal_lm("gpt-neo", t.GPTNeoForCausalLM,
                    lambda: t.GPTNeoConfig(vocab_size=90, hidden_size=32, num_layers=2, num_heads=4, window_size=6,
                                           attention_types=[[["global", "local"], 1]], max_position_embeddings=32,
                                           resid_dropout=0.0, embed_dropout=0.0, attention_dropout=0.0,
                                           initializer_range=0.1, **ENDS))
    yield causal_lm("gpt-bigcode", t.GPTBigCodeForCausalLM, lambda: t.GPTBigCodeConfig(**GPT2))
    yield causal_lm("codegen", t.CodeGenForCausalLM, lambda: t.CodeGenConfig(**{**GPT2, "rotary_dim": 4, "n_ctx": 32}))
    yield causal_lm("opt", t.OPTForCausalLM,
                    lambda: t.OPTConfig(vocab_size=90, hidden_size=32, num_hidden_layers=2, ffn_dim=64,
                                        num_attention_heads=4, max_position_embeddings=64, dropout=0.0,
                                        attention_dropout=0.0, word_embed_proj_dim=32, init_std=0.1, pad_token_id=1, **ENDS),
                    has_logits=True)
    yield causal_lm("bloom", t.BloomForCausalLM,
                    lambda: t.BloomConfig(vocab_size=90, hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0.0,
                                          attention_dropout=0.0, initializer_range=0.1, pad_token_id=3, **ENDS))
    yield causal_lm("falcon", t.FalconForCausalLM,
                    lambda: t.FalconConfig(vocab_size=90, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                           multi_query=True, parallel_attn=True, bias=False, alibi=False,
                                           new_decoder_architecture=False, hidden_dropout=0.0, attention_dropout=0.0,
                                           initializer_range=0.1, **ENDS))
    yield causal_lm("mpt", t.MptForCausalLM,
                    lambda: t.MptConfig(d_model=32, n_heads=4, n_layers=2, expansion_ratio=2, max_seq_len=32,
                                        vocab_size=90, initializer_range=0.1))
    yield causal_lm("olmo", t.OlmoForCausalLM, llama_like(t.OlmoConfig, pad_token_id=1))
    yield causal_lm("olmo2", t.Olmo2ForCausalLM, llama_like(t.Olmo2Config, pad_token_id=1))
    yield causal_lm("stablelm", t.StableLmForCausalLM, llama_like(t.StableLmConfig, partial_rotary_factor=0.5))
    yield causal_lm("starcoder2", t.Starcoder2ForCausalLM,
                    llama_like(t.Starcoder2Config, residual_dropout=0.0, embedding_dropout=0.0, attention_dropout=0.0))
    yield causal_lm("granite", t.GraniteForCausalLM, llama_like(t.GraniteConfig, embedding_multiplier=2.0, logits_scaling=2.0))
    yield causal_lm("cohere", t.CohereForCausalLM, llama_like(t.CohereConfig, pad_token_id=0))
    yield causal_lm("nemotron", t.NemotronForCausalLM, llama_like(t.NemotronConfig))
    yield causal_lm("biogpt", t.BioGptForCausalLM,
                    lambda: t.BioGptConfig(**{**BERT, "num_labels": 2}, layerdrop=0.0, activation_dropout=0.0))


def encoders():
    names = {"distilbert": (t.DistilBertForSequenceClassification,
                            lambda: t.DistilBertConfig(vocab_size=90, dim=32, hidden_dim=64, n_layers=2, n_heads=4,
                                                       max_position_embeddings=32, dropout=0.0, attention_dropout=0.0,
                                                       seq_classif_dropout=0.0, num_labels=3, initializer_range=0.1)),
             "bert": (t.BertForSequenceClassification, lambda: t.BertConfig(**BERT)),
             "roberta": (t.RobertaForSequenceClassification, lambda: t.RobertaConfig(**BERT, pad_token_id=0)),
             "camembert": (t.CamembertForSequenceClassification, lambda: t.CamembertConfig(**BERT, pad_token_id=1)),
             "mpnet": (t.MPNetForSequenceClassification, lambda: t.MPNetConfig(**BERT)),
             "ernie": (t.ErnieForSequenceClassification, lambda: t.ErnieConfig(**BERT)),
             "deberta-v2": (t.DebertaV2ForSequenceClassification,
                            lambda: t.DebertaV2Config(**BERT, relative_attention=True, position_buckets=8,
                                                      norm_rel_ebd="layer_norm", share_att_key=True,
                                                      pos_att_type="p2c|c2p", position_biased_input=False,
                                                      pooler_dropout=0.0, pooler_hidden_size=32, cls_dropout=0.0))}
    for name, (model_class, config) in names.items():
        yield classify_text(name, model_class, config, has_logits=name in ("bert", "roberta"))

    def masked(name, model_class, config):
        family = causal_lm(name, model_class, config, optimizer=dict(ADAMW))
        family.loss = lambda model, ids, labels: model(input_ids=ids, labels=labels).loss
        return family

    yield masked("electra", t.ElectraForMaskedLM, lambda: t.ElectraConfig(**BERT, embedding_size=24))
    yield masked("albert", t.AlbertForMaskedLM, lambda: t.AlbertConfig(**BERT, embedding_size=24))
    yield masked("roformer", t.RoFormerForMaskedLM, lambda: t.RoFormerConfig(**BERT, embedding_size=32))


def encoder_decoders():
    yield translate("bart", t.BartForConditionalGeneration, lambda: t.BartConfig(**BART), has_logits=True,
                    old_spec=NO_LOGITS_BIAS)
    yield translate("blenderbot", t.BlenderbotForConditionalGeneration, lambda: t.BlenderbotConfig(**BART),
                    old_spec=NO_LOGITS_BIAS)
    yield translate("marian", t.MarianMTModel, lambda: t.MarianConfig(**{**BART, "pad_token_id": 3}))
    yield translate("pegasus", t.PegasusForConditionalGeneration, lambda: t.PegasusConfig(**{**BART, "pad_token_id": 0}))
    yield translate("t5", t.T5ForConditionalGeneration,
                    lambda: t.T5Config(vocab_size=90, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_decoder_layers=2,
                                       num_heads=4, dropout_rate=0.0, feed_forward_proj="gated-gelu",
                                       decoder_start_token_id=0), optimizer=dict(ADAMW))


class DenseTopTwo(torch.nn.Module):
    """Top 2 of 4 experts, computed densely: einsum over all experts, weights masked; and the auxiliary load loss."""

    def __init__(self):
        super().__init__()
        self.embed, self.gate = torch.nn.Embedding(80, 32), torch.nn.Linear(32, 4, bias=False)
        self.up = torch.nn.Parameter(torch.randn(4, 32, 48) * 0.15)
        self.down = torch.nn.Parameter(torch.randn(4, 48, 32) * 0.15)
        self.head = torch.nn.Linear(32, 80)

    def forward(self, ids):
        h = self.embed(ids)
        share = self.gate(h).softmax(-1)
        values, experts = share.topk(2, -1)
        weights = torch.zeros_like(share).scatter(-1, experts, values / values.sum(-1, keepdim=True))
        y = torch.einsum("bsef,efd->bsed", F.silu(torch.einsum("bsd,edf->bsef", h, self.up)), self.down)
        load = (share.mean((0, 1)) * (weights > 0).to(share.dtype).mean((0, 1))).sum() * 4
        return self.head(h + (y * weights[..., None]).sum(-2)), load


class LoopedTopTwo(torch.nn.Module):
    """The same by a loop over experts, each an MLP of its own that sees all tokens, as Mixtral's blocks were once written."""

    def __init__(self):
        super().__init__()
        self.embed, self.gate = torch.nn.Embedding(80, 32), torch.nn.Linear(32, 4, bias=False)
        self.experts = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.Linear(32, 48), torch.nn.SiLU(), torch.nn.Linear(48, 32)) for _ in range(4))
        self.head = torch.nn.Linear(32, 80)

    def forward(self, ids):
        h = self.embed(ids)
        share = self.gate(h).softmax(-1)
        values, chosen = share.topk(2, -1)
        hits = F.one_hot(chosen, 4).to(share.dtype)
        weights = (hits * (values / values.sum(-1, keepdim=True))[..., None]).sum(-2)
        y = h
        for i, expert in enumerate(self.experts):
            y = y + expert(h) * weights[..., i:i + 1]
        load = (share.mean((0, 1)) * hits.sum(-2).mean((0, 1))).sum() * 4
        return self.head(y), load


def next_token(logits, labels):
    return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1))


def experts_and_states():
    yield causal_lm("mixtral", t.MixtralForCausalLM, lambda: batched(t.MixtralConfig(**LLAMA, **EXPERTS, num_local_experts=4)))
    yield causal_lm("qwen2-moe", t.Qwen2MoeForCausalLM,
                    lambda: batched(t.Qwen2MoeConfig(**LLAMA, **EXPERTS, num_experts=4, moe_intermediate_size=24,
                                                     shared_expert_intermediate_size=48)))
    yield causal_lm("olmoe", t.OlmoeForCausalLM, lambda: batched(t.OlmoeConfig(**LLAMA, **EXPERTS, num_experts=4, pad_token_id=1)))

    def with_load(model, ids, labels):
        logits, load = model(ids)
        return next_token(logits, labels) + 0.01 * load

    loads = {**EXPERTS, "output_router_logits": True, "router_aux_loss_coef": 0.1}
    yield causal_lm("mixtral-load", t.MixtralForCausalLM, lambda: batched(t.MixtralConfig(**LLAMA, **loads, num_local_experts=4)),
                    couples=True)
    yield causal_lm("olmoe-load", t.OlmoeForCausalLM,
                    lambda: batched(t.OlmoeConfig(**LLAMA, **loads, num_experts=4, pad_token_id=1)), couples=True)
    rows = tokens(ROWS, 16, 80)
    for name, model in (("topk-moe", DenseTopTwo), ("topk-moe-loop", LoopedTopTwo)):
        yield Family(name, model, with_load, {"input_ids": rows, "labels": rows.clone()},
                     {"input_ids": BATCH_SEQUENCE, "labels": BATCH_SEQUENCE}, couples=True)
    mamba = causal_lm("mamba", t.MambaForCausalLM,
                      lambda: t.MambaConfig(vocab_size=90, hidden_size=24, state_size=4, num_hidden_layers=2, expand=2,
                                            conv_kernel=4, time_step_rank=4, pad_token_id=0))
    mamba.dims = {name: ("batch", None) for name in mamba.dims}
    yield mamba


def families():
    for rows in (decoders, encoders, encoder_decoders, experts_and_states):
        yield from rows()
