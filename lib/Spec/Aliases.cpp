// The table, and the conversion of values whose form differs from ours: names of precisions, counts that are products
// of others, sizes in elements. Other tools: DeepSpeed, Accelerate, transformers, Lightning, Megatron, torchtitan.
#include "Aliases.h"

#include "Choices.h"
#include "Meant.h"
#include "xlc/Dialect/Graph/Optimizers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace xlc::spec {
namespace {

using Written = std::optional<std::string>;

const YamlNode *findChild(const YamlNode &node, StringRef key) {
  auto found = find_if(node.children, [&](const YamlNode &child) { return child.key == key; });
  return node.kind == YamlNode::Kind::Mapping && found != node.children.end() ? &*found : nullptr;
}

/// The first value of one of these names, in the file or in a mapping of it.
const YamlNode *findAnywhere(const YamlNode &root, ArrayRef<StringRef> names) {
  for (const YamlNode &child : root.children) {
    if (is_contained(names, StringRef(child.key)))
      return &child;
    if (child.kind == YamlNode::Kind::Mapping)
      if (const YamlNode *found = findAnywhere(child, names))
        return found;
  }
  return nullptr;
}

std::optional<int64_t> toInteger(const YamlNode *node) {
  double value = 0;
  if (!node || StringRef(node->text).getAsDouble(value) || !(std::abs(value) < 1e15) || value != std::trunc(value))
    return std::nullopt;
  return int64_t(value);
}

int64_t countOf(const YamlNode &root, ArrayRef<StringRef> names) {
  return std::max<int64_t>(1, toInteger(findAnywhere(root, names)).value_or(1));
}

bool isOff(const YamlNode &node) {
  std::string text = StringRef(node.text).lower();
  if (const YamlNode *device = findChild(node, "device"))
    return isOff(*device);
  return node.kind == YamlNode::Kind::Empty ||
         (node.kind == YamlNode::Kind::Scalar && is_contained({"false", "none", "no", "null", "0", ""}, text)) ||
         (node.kind != YamlNode::Kind::Scalar && node.children.empty());
}
bool isOn(const YamlNode *node) { return node && StringRef(node->text).equals_insensitive("true"); }

/// What is asked for, but not there yet, matters only where it is switched on.
Written writeUnlessOff(const ForeignValue &value) { return isOff(value.node) ? Written("") : std::nullopt; }

Written writePrecision(const ForeignValue &value) {
  if (isOff(value.node))
    return "";
  std::optional<StringRef> word = findWord(value.node.text, "fp32|bf16|fp16");
  return word ? Written(("precision: " + *word).str()) : std::nullopt;
}

bool saysAuto(const YamlNode &node) { return node.text == "auto"; }

template <const char *word> Written writeIfOn(const ForeignValue &value) {
  return isOn(&value.node) || saysAuto(value.node) ? word : "";
}
constexpr char kBf16[] = "precision: bf16", kF16[] = "precision: fp16", kTf32[] = "precision: {products: tf32}";
constexpr char kZero1[] = "zero_stage: 1";

/// Zero stands for a scale that moves.
Written writeLossScale(const ForeignValue &value) {
  std::optional<int64_t> scale = toInteger(&value.node);
  if (!scale)
    return std::nullopt;
  return writeAt("precision.loss_scale", *scale ? StringRef(value.node.text) : "dynamic");
}

Written writeInitialScale(const ForeignValue &value) {
  std::optional<int64_t> power = toInteger(&value.node);
  if (!power || *power < 0 || *power > 60)
    return std::nullopt;
  return writeAt("precision.loss_scale.initial", std::to_string(int64_t(1) << *power));
}

/// FSDP's strategies by number and by name.
Written writeStrategy(const ForeignValue &value) {
  struct Strategy {
    StringLiteral name, number, ours;
    bool isHybrid;
  };
  static constexpr Strategy strategies[] = {
      {"FULL_SHARD", "1", "zero_stage: 3", false},
      {"SHARD_GRAD_OP", "2", "zero_stage: 2", false},
      {"NO_SHARD", "3", "zero_stage: 0", false},
      {"HYBRID_SHARD", "4", "zero_stage: 3", true},
      {"HYBRID_SHARD_ZERO2", "5", "zero_stage: 2", true},
      {"true", "true", "zero_stage: 3", false},
      {"false", "false", "zero_stage: 3, zero: {reshard_after_forward: false}", false}};
  StringRef text = value.node.text;
  const auto *found =
      find_if(strategies, [&](const Strategy &row) { return text.equals_insensitive(row.name) || text == row.number; });
  if (found == std::end(strategies))
    return std::nullopt;
  int64_t perMachine = countOf(value.root, {"num_processes"}) / countOf(value.root, {"num_machines"});
  return found->isHybrid ? formatv("{0}, dp_shard: {1}", found->ours, perMachine).str() : found->ours.str();
}

/// All processes, of which tp and pp take some.
Written writeProcesses(const ForeignValue &value) {
  std::optional<int64_t> count = toInteger(&value.node);
  if (!count)
    return std::nullopt;
  int64_t tp = countOf(value.root, {"megatron_lm_tp_degree", "parallelism_config_tp_size"});
  return formatv("dp: {0}", *count / (tp * countOf(value.root, {"megatron_lm_pp_degree"}))).str();
}

Written writeReplicas(const ForeignValue &value) {
  std::optional<int64_t> count = toInteger(&value.node);
  if (!count)
    return std::nullopt;
  return formatv("dp: {0}", *count * countOf(value.root, {"parallelism_config_dp_shard_size"})).str();
}

/// One is what holds without the key.
template <const char *ours> Written writeIfMany(const ForeignValue &value) {
  std::optional<int64_t> count = toInteger(&value.node);
  if (!count)
    return std::nullopt;
  return *count == 1 ? "" : writeAt(ours, value.node.text);
}
constexpr char kTp[] = "tp", kPp[] = "pp", kNodes[] = "cluster.nodes";

/// Micro-batches; the product where the file has what it is of.
Written writeAccumulation(const ForeignValue &value) {
  std::optional<int64_t> count = toInteger(&value.node);
  if (!count)
    return std::nullopt;
  std::optional<int64_t> micro = toInteger(
      findAnywhere(value.root, {"train_micro_batch_size_per_gpu", "per_device_train_batch_size", "micro_batch_size"}));
  std::optional<int64_t> ranks = toInteger(findAnywhere(value.root, {"num_processes"}));
  if (micro && ranks)
    return writeAt("batch.global", std::to_string(*count * *micro * *ranks));
  return writeAt("batch.global", formatv("{0} x micro x dp", *count).str());
}

/// From elements to bytes.
Written writeElements(StringRef ours, const ForeignValue &value) {
  std::optional<int64_t> count = toInteger(&value.node);
  const YamlNode *half = findChild(value.root, "fp16"), *brain = findChild(value.root, "bf16");
  bool isNarrow = (half && isOn(findChild(*half, "enabled"))) || (brain && isOn(findChild(*brain, "enabled")));
  return count ? Written(writeAt(ours, std::to_string(*count * (isNarrow ? 2 : 4)) + "B")) : std::nullopt;
}
Written writeBucket(const ForeignValue &value) { return writeElements("zero.bucket_size", value); }
Written writePrefetch(const ForeignValue &value) { return writeElements("zero.prefetch", value); }

Written writeThreshold(const ForeignValue &value) {
  std::optional<int64_t> count = toInteger(&value.node);
  return count ? Written(writeAt("zero.persistence_threshold", std::to_string(*count))) : std::nullopt;
}

/// DeepSpeed's Adam is AdamW unless `adam_w_mode` is false.
Written writeOptimizer(const ForeignValue &value) {
  std::string name = StringRef(value.node.text).lower();
  const YamlNode *mode = findAnywhere(value.root, {"adam_w_mode"});
  if (name == "adam" && findChild(value.root, "zero_optimization") && (!mode || !isOff(*mode)))
    name = "adamw";
  std::string words = join(map_range(getOptimizers(), [](const Optimizer &row) { return row.name.str(); }), "|");
  std::optional<StringRef> word = findWord(name, words);
  return word ? Written(writeAt("optimizer.type", *word)) : std::nullopt;
}

/// As transformers and DeepSpeed call them.
Written writeSchedule(const ForeignValue &value) {
  if (value.node.kind == YamlNode::Kind::Mapping)
    return std::nullopt;
  std::string names = rateScheduleNames();
  std::optional<StringRef> word =
      value.node.text == "constant_with_warmup" ? "constant" : findWord(value.node.text, names);
  return word ? Written(writeAt("lr_schedule.type", *word)) : std::nullopt;
}

Written writeWarmupRatio(const ForeignValue &value) {
  return writeAt("lr_schedule.warmup", value.node.text + " x steps");
}

// clang-format off
constexpr Alias aliases[] = {
  {"dp", "dp_size dp_degree ddp data_parallel data_parallel_size data_parallel_degree num_processes world_size num_gpus gpus", writeProcesses},
  {"dp", "dp_replicate data_parallel_replicate_degree parallelism_config_dp_replicate_size", writeReplicas},
  {"dp_shard", "dp_shard_size data_parallel_shard_degree parallelism_config_dp_shard_size"},
  {"zero_stage", "zero_stage zero_optimization.stage zero.stage zero_optimization zero_level sharding_stage"},
  {"zero_stage", "fsdp fsdp_sharding_strategy fsdp_reshard_after_forward sharding_strategy", writeStrategy},
  {"zero_stage", "use_distributed_optimizer megatron_lm_use_distributed_optimizer", writeIfOn<kZero1>},
  {"tp", "tp_size tp_degree tensor_parallel tensor_parallel_size tensor_parallel_degree tensor_model_parallel_size megatron_lm_tp_degree parallelism_config_tp_size", writeIfMany<kTp>},
  {"pp", "pp_size pp_degree pipeline_parallel pipeline_parallel_size pipeline_parallel_degree pipeline_model_parallel_size megatron_lm_pp_degree", writeIfMany<kPp>},
  {"sequence_parallel", "sequence_parallelism megatron_lm_sequence_parallelism"},
  {"pipeline.schedule", "pipeline_schedule pipeline_parallel_schedule"},
  {"pipeline.chunks", "virtual_pipeline_model_parallel_size virtual_stages"},
  {"pipeline.cuts", "split_points pipeline_parallel_split_points"},
  {"batch.micro", "micro_batch_size train_micro_batch_size_per_gpu per_device_train_batch_size local_batch_size batch_size_per_device"},
  {"batch.global", "batch_size global_batch_size train_batch_size batch.size"},
  {"batch.global", "gradient_accumulation_steps accumulate_grad_batches num_micro_batches num_microbatches megatron_lm_num_micro_batches micro_batches", writeAccumulation},
  {"dims", "seq_len seq_length sequence_length max_seq_len max_seq_length max_length block_size context_length"},
  {"loss.labels", "label_names label_name targets"},
  {"loss.type", "loss_fn loss_function criterion loss.name"},
  {"init.from", "resume_from_checkpoint load_from pretrained state_dict"},
  {"trainable", "freeze frozen requires_grad modules_to_save trainable_parameters"},
  {"padding", "padding_idx pad_token_id"},
  {"tie", "tie_weights tie_word_embeddings tied"},
  {"optimizer.type", "optim optimizer.name optimizer.type optimizer_type optimizer_name", writeOptimizer},
  {"optimizer.lr", "lr learning_rate base_lr max_lr init_lr"},
  {"optimizer.weight_decay", "weight_decay wd decay"},
  {"optimizer.betas", "betas beta1 beta2 adam_beta1 adam_beta2"},
  {"optimizer.eps", "eps epsilon adam_eps adam_epsilon"},
  {"optimizer.clip_norm", "gradient_clipping max_grad_norm grad_clip grad_norm_clip clip_grad clip_grad_norm clip_gradients gradient_clip_val max_norm megatron_lm_gradient_clipping"},
  {"optimizer.clip_value", "clip_grad_value gradient_clip_value"},
  {"optimizer.groups", "param_groups parameter_groups"},
  {"precision", "mixed_precision dtype torch_dtype param_dtype params_dtype compute_dtype mixed_precision_param amp", writePrecision},
  {"precision", "bf16.enabled bf16", writeIfOn<kBf16>},
  {"precision", "fp16.enabled fp16", writeIfOn<kF16>},
  {"precision.reduce", "reduce_dtype mixed_precision_reduce communication_data_type"},
  {"precision.products", "tf32 allow_tf32", writeIfOn<kTf32>},
  {"precision.loss_scale", "loss_scale", writeLossScale},
  {"precision.loss_scale.initial", "initial_scale_power", writeInitialScale},
  {"precision.loss_scale.initial", "init_scale initial_loss_scale"},
  {"precision.loss_scale.window", "loss_scale_window scale_window growth_interval"},
  {"precision.loss_scale.hysteresis", "hysteresis"},
  {"precision.loss_scale.min", "min_loss_scale"},
  {"zero.bucket_size", "reduce_bucket_size bucket_cap_mb", writeBucket},
  {"zero.persistence_threshold", "stage3_param_persistence_threshold param_persistence_threshold", writeThreshold},
  {"zero.prefetch", "stage3_prefetch_bucket_size prefetch_bucket_size", writePrefetch},
  {"cluster.device", "gpu gpu_type gpu_name device_name accelerator"},
  {"cluster.device_memory", "memory gpu_memory max_memory memory_limit memory_budget"},
  {"cluster.devices_per_node", "gpus_per_node nproc_per_node"},
  {"cluster.nodes", "num_machines num_nodes nnodes", writeIfMany<kNodes>},
  {"data.train", "dataset train_data train_file data_path train_dataset"},
  {"runtime.deterministic", "use_deterministic_algorithms full_determinism"},
  {"runtime.attention", "attn_implementation flash_attention use_flash_attn use_flash_attention"},
  {"runtime.threads_per_rank", "num_threads omp_num_threads num_cpu_threads_per_process"},
  {"init.seed", "seed random_seed"},
  {"lr_schedule.type", "scheduler lr_scheduler lr_scheduler_type scheduler.type", writeSchedule},
  {"lr_schedule.warmup", "warmup_steps warmup_num_steps num_warmup_steps lr_warmup_steps"},
  {"lr_schedule.warmup", "warmup_ratio", writeWarmupRatio},
  {"lr_schedule.warmup_shape", "warmup_type"},
  {"lr_schedule.steps", "total_num_steps num_training_steps lr_decay_steps"},
  {"lr_schedule.min_lr", "warmup_min_lr eta_min"},
  {"lr_schedule.min_ratio", "cos_min_ratio"},
  {"lr_schedule.warmup_from", "warmup_min_ratio"},
  {"recompute", "gradient_checkpointing activation_checkpointing activation_checkpoint fsdp_activation_checkpointing recompute_granularity recompute_activations megatron_lm_recompute_activations", writeUnlessOff},
  {"offload", "offload_optimizer offload_param offload_optimizer_device offload_param_device cpu_offload fsdp_offload_params", writeUnlessOff},
  {"checkpoint.every", "save_steps save_interval"},
  {"checkpoint.dir", "output_dir checkpoint_dir checkpoint_path dirpath"},
  {"checkpoint.keep", "save_total_limit total_limit save_top_k keep_latest_k"},
  {"eval.every", "eval_steps evaluation_strategy eval_strategy eval_interval val_check_interval"},
  {"eval.metrics", "compute_metrics"},
  {"eval.best.metric", "metric_for_best_model"},
  {"eval.stop.patience", "early_stopping_patience"},
  {"eval.stop.min_delta", "early_stopping_threshold"},
  {"--steps", "max_steps num_steps num_train_steps train_iters max_train_steps steps"},
  {"--log", "logging_dir log_file"},
  {"--save", "save_dir save_path"},
  {"--profile", "profile trace"},
};
// clang-format on

/// Whether `path` ends with `name`, at the border of one of its keys.
bool endsWith(StringRef path, StringRef name) {
  if (path.size() < name.size() || (path.size() > name.size() && path[path.size() - name.size() - 1] != '.'))
    return false;
  return equal(path.take_back(name.size()), name, [](char a, char b) { return (a == '-' ? '_' : toLower(a)) == b; });
}

} // namespace

ArrayRef<Alias> aliasTable() { return aliases; }

const Alias *findAlias(StringRef path) {
  const Alias *found = nullptr;
  size_t longest = 0;
  for (const Alias &row : aliases)
    for (StringRef name : split(row.theirs, ' '))
      if (name.size() > longest && endsWith(path, name))
        found = &row, longest = name.size();
  return found;
}

std::string writeAt(StringRef path, StringRef text) {
  auto [first, rest] = path.split('.');
  return rest.empty() ? (first + ": " + text).str() : (first + ": {" + writeAt(rest, text) + "}").str();
}

} // namespace xlc::spec
