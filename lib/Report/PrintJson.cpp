// Prints the report as JSON. The keys are a stable interface for scripts; docs/PlanJson.md lists them, and a test
// compares the two.
#include "DescribeRates.h"
#include "DescribeZero.h"
#include "ReportJson.h"
#include "xlc/Support/QuantityJson.h"

using namespace mlir;
using namespace xlc;
using Json = nlohmann::ordered_json;

namespace {

Json toJson(const MemoryReport &memory) {
  Json json, causes, types, lines = Json::array(), buffers = Json::array();
  for (auto [cause, bytes] : llvm::enumerate(memory.byCause))
    causes[exec::stringifyCause((exec::Cause)cause).str()] = bytes;
  for (auto [cause, ofCause] : llvm::enumerate(memory.byType))
    for (const auto &[type, bytes] : ofCause)
      types[exec::stringifyCause((exec::Cause)cause).str()][type] = bytes;
  for (const PeakBuffer &buffer : memory.largest)
    buffers.push_back(
        {{"name", buffer.name}, {"cause", exec::stringifyCause(buffer.cause).str()}, {"bytes", buffer.bytes}});
  for (const OutsideLine &line : memory.outside)
    lines.push_back({{"name", line.name}, {"bytes", line.bytes}});
  json["total"] = memory.total();
  json["arena"] = memory.arena;
  json["lower_bound"] = memory.lowerBound;
  json["evaluation"] = memory.evaluation ? Json(*memory.evaluation) : Json();
  json["by_cause"] = causes;
  json["by_type"] = types;
  json["outside"] = sumOf(memory.outside);
  json["outside_lines"] = lines;
  json["data"] = memory.data;
  json["peak"] = {{"action", memory.peakAction}, {"largest_buffers", buffers}};
  return json;
}

/// Axis by axis, kind by kind.
Json toJson(const Traffic &traffic) {
  Json json;
  for (auto [i, bytes] : llvm::enumerate(traffic.axes)) {
    auto axis = dist::Axis(i);
    Json kinds = {
        {"all_gather", bytes.allGather}, {"reduce_scatter", bytes.reduceScatter}, {"all_reduce", bytes.allReduce}};
    if (axis == dist::Axis::tp)
      kinds["all_to_all"] = bytes.allToAll;
    if (axis == dist::Axis::pp)
      kinds["transfer"] = bytes.transfer;
    json[dist::stringifyAxis(axis).str()] = kinds;
  }
  return json;
}

/// Null where there is none.
Json toJson(const std::optional<LossScale> &scale) {
  if (!scale)
    return nullptr;
  return {{"initial", scale->initial},
          {"window", scale->window},
          {"hysteresis", scale->hysteresis},
          {"min", scale->min},
          {"dynamic", scale->isDynamic}};
}

/// Null where the spec has no schedule; steps that follow from the run are null.
Json toJson(const std::optional<RateReport> &rates) {
  if (!rates)
    return nullptr;
  auto point = [](const StepRate &at) { return Json({{"step", at.step}, {"rate", at.rate}}); };
  return {{"type", rates->type.str()},
          {"steps", rates->steps ? Json(*rates->steps) : Json()},
          {"first", point(rates->first)},
          {"largest", rates->largest ? point(*rates->largest) : Json()},
          {"last", rates->last ? point(*rates->last) : Json()}};
}

Json toJson(const StepCost &cost) {
  return {{"forward", cost.forward.flops},
          {"backward", cost.backward.flops},
          {"update", cost.update.flops},
          {"total", cost.total().flops},
          {"products", cost.total().matrixFlops()}};
}

Json toJson(const MessageTime &messages) { return {{"predicted", messages.predicted}, {"exposed", messages.exposed}}; }

/// Null where the spec asks for no checkpoints.
Json toJson(const std::optional<CheckpointReport> &checkpoint) {
  if (!checkpoint)
    return nullptr;
  return {{"rank", checkpoint->rank},
          {"files", checkpoint->files},
          {"copy", checkpoint->copy},
          {"disk", checkpoint->disk},
          {"seconds", checkpoint->seconds}};
}

/// In seconds.
Json timeToJson(const GroupReport &group) {
  const StageTime &time = group.time;
  Json messages;
  for (size_t stream = 0; stream < time.messages.size(); ++stream)
    if (!exec::computes(exec::Stream(stream)) && exec::Stream(stream) != exec::Stream::copy) {
      Json &kind = messages[exec::stringifyStream(exec::Stream(stream)).str()] = toJson(time.messages[stream]);
      kind["memory"] = group.windowBytes[stream];
    }
  messages["tensor"] = toJson(time.tensor);
  Json kernels;
  for (auto [work, seconds] : llvm::enumerate(time.kernels))
    kernels[getName(KernelWork(work)).str()] = seconds;
  return {{"compute", time.compute},
          {"kernels", kernels},
          {"weight_gradients", {{"memory", group.windowBytes[size_t(exec::Stream::weights)]}}},
          {"messages", messages},
          {"waiting", time.waiting},
          {"step", time.step}};
}

Json toJson(const GroupReport &group, const Spec &spec) {
  Json json;
  json["stage"] = group.stage;
  json["ranks"] = group.ranks;
  json["count"] = group.ranks.size();
  json["memory"] = toJson(group.memory);
  json["residual_slots"] = group.residualSlots;
  json["traffic"] = toJson(group.traffic);
  json["small_messages"] = group.traffic.smallMessages;
  json["flops"] = toJson(group.cost);
  json["bubble"] = {{"span", group.work.spanBubble()}, {"step", group.work.stepBubble()}};
  json["time"] = spec.device ? timeToJson(group) : Json();
  return json;
}

/// Null where there was nothing to decide. What a stage has no use for is null too.
Json zeroToJson(const PlanReport &report) {
  std::vector<ZeroAnswer> answers = describeZero(report);
  if (answers.empty())
    return Json();
  Json json = {{"reduce", Json()}, {"reshard_after_forward", Json()}};
  for (const ZeroAnswer &answer : answers) {
    bool isReduce = answer.key == "reduce";
    json[answer.key.str()] = {{"value", isReduce ? Json(answer.value.str()) : Json(!report.zero.keepsGathered)},
                              {"reason", answer.reason}};
  }
  ZeroPrice price = report.zeroPrice();
  json["price"] = {{"traffic", price.bytes}, {"traffic_of_zero_stage_1", price.stageOne}, {"factor", price.factor()}};
  json["trials"] = Json::array();
  for (const ZeroTrial &trial : report.zero.trials)
    json["trials"].push_back({{"reduce", nameReduce(trial.reducesPerStep).str()},
                              {"reshard_after_forward", !trial.keepsGathered},
                              {"traffic", trial.traffic},
                              {"total", trial.total ? Json(*trial.total) : Json()}});
  return json;
}

/// What each kind has, in words of the spec.
Json toJson(const PrecisionSpec &precision) {
  auto kept = [&](bool isNarrow) { return isNarrow ? precision.getName().str() : "fp32"; };
  return {
      {"compute", precision.getName().str()},
      {"loss_scale", toJson(precision.getLossScale())},
      {"master", precision.masterless ? "none" : "fp32"},
      {"states", kept(precision.narrowStates)},
      {"gradients", kept(precision.narrowGradients)},
      {"reduce", PrecisionSpec::getName(precision.reduce).str()},
      {"stream", kept(!precision.wideStream)},
      {"rounding", precision.roundsUpdates() ? Json(precision.roundsToNearest ? "nearest" : "stochastic") : Json()}};
}

} // namespace

Json xlc::reportToJson(const PlanReport &report, StringRef model) {
  const Spec &spec = report.spec;
  Json json;
  json["model"] = model.str();
  json["dp"] = spec.dp;
  json["pp"] = report.pp;
  json["tp"] = report.tp;
  json["zero_stage"] = spec.zeroStage;
  json["dp_shard"] = spec.dpShardOrAll();
  json["precision"] = toJson(spec.precision);
  json["fp32"] = report.wide ? Json({{"total", report.wide->total}, {"traffic", report.wide->traffic}}) : Json();
  json["batch"] = {
      {"global", spec.globalBatchOrDefault()}, {"micro", spec.microBatch}, {"micro_batches", spec.microBatches()}};
  json["lr_schedule"] = toJson(describeRates(spec));
  json["loss_chunk"] = report.chunk.rows ? Json({{"rows", report.chunk.rows}, {"of", report.chunk.all}}) : Json();
  json["attention"] = report.splitsAttention() ? Json("products") : Json();
  json["zero"] = zeroToJson(report);
  json["groups"] = Json::array();
  for (const GroupReport &group : report.groups)
    json["groups"].push_back(toJson(group, spec));
  json["checkpoint"] = toJson(report.checkpoint);
  json["imbalance"] = report.imbalance();
  json["traffic_of_all_ranks"] = toJson(report.allRanks);
  json["device"] = spec.device ? Json(spec.device->name) : Json();
  json["blocking_step"] = spec.device ? Json(report.blockingStep) : Json();
  json["device_memory"] = spec.deviceMemory ? Json(*spec.deviceMemory) : Json();
  json["fits"] = report.fits();
  json["changes"] = Json::array();
  for (const Change &change : report.changes)
    json["changes"].push_back(
        {{"change", change.what}, {"total", change.total}, {"traffic", change.traffic}, {"fits", change.fits}});
  return json;
}

void xlc::printJson(const PlanReport &report, StringRef model, raw_ostream &out) {
  out << dumpReport(reportToJson(report, model)) << "\n";
}
