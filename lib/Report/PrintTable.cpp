// Prints the report as a table: memory by cause, communication, computation, and whether the plan fits.
#include "DescribePlan.h"
#include "DescribeRates.h"
#include "DescribeZero.h"
#include "Table.h"
#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr size_t kNameWidth = 60; ///< longer tensor names are shortened in the middle

std::string shorten(StringRef name) {
  if (name.size() <= kNameWidth)
    return name.str();
  size_t half = (kNameWidth - 3) / 2;
  return (name.take_front(half) + "..." + name.take_back(half)).str();
}

/// What was decided about the stages that shard gradients and parameters, and what they cost.
void printZero(const PlanReport &report, Table &table) {
  std::vector<ZeroAnswer> answers = describeZero(report);
  if (answers.empty())
    return;
  table.title("ZeRO over dp (spec: zero.reduce, zero.reshard_after_forward)");
  for (const ZeroAnswer &answer : answers) {
    table.row(answer.key.split('_').first, answer.value, answer.meaning);
    table.row("", "", answer.reason);
  }
  ZeroPrice price = report.zeroPrice();
  table.bytes(
      "price", price.bytes,
      llvm::formatv("per step, {0:f2} x the {1} of zero_stage 1", price.factor(), formatBytes(price.stageOne)).str());
}

/// Where the learning rate begins, how high it goes and where it ends.
void printRates(const Spec &spec, Table &table) {
  std::optional<RateReport> rates = describeRates(spec);
  if (!rates)
    return;
  table.title("learning rate (spec: lr_schedule): " + rates->type);
  forEachRate(*rates, [&](StringRef name, StringRef figure, StringRef remark) { table.row(name, figure, remark); });
}

/// What a loss by rows costs, and why it is one.
void printChunk(const PlanReport &report, Table &table) {
  const ChunkChoice &chunk = report.chunk;
  if (chunk.rows == 0)
    return;
  int64_t chunks = (chunk.all + chunk.rows - 1) / chunk.rows;
  table.title("loss by rows (spec: loss.chunk)");
  table.row("rows", llvm::formatv("{0} of {1}", chunk.rows, chunk.all).str(),
            "logits in memory at a time, computed in backward");
  table.row("", "",
            !chunk.whole ? "given"
                         : "auto: all rows together need " + formatBytes(*chunk.whole) + ", but the device has " +
                               formatBytes(*report.spec.deviceMemory));
  table.row("price", llvm::formatv("{0} x", chunks - 1).str(),
            "more additions to gradients of the head, per micro-batch");
}

/// "bf16 12.25 KiB, f32 384 B"; empty where nothing is known.
std::string describeTypes(const std::map<std::string, int64_t> &types) {
  std::string text;
  for (const auto &[type, bytes] : types)
    text += (text.empty() ? "" : ", ") + type + " " + formatBytes(bytes);
  return text;
}

/// What mixed precision saves: the same spec in float32 beside it.
void printPrecision(const PlanReport &report, Table &table) {
  if (!report.wide)
    return;
  table.title("precision: " + report.spec.precision.getName() + " instead of fp32, on the fullest rank");
  auto row = [&](StringRef name, Quantity mixed, Quantity wide) {
    table.bytes(name, mixed,
                wide ? llvm::formatv("of {0}, {1:f2} x", formatBytes(wide), double(mixed) / double(wide)).str() : "");
  };
  row("memory", report.largestTotal(), report.wide->total);
  row("messages", report.largestTraffic(), report.wide->traffic);
  table.row("products", "", report.products);
}

void printMemory(const GroupReport &group, const Spec &spec, bool hasStages, Table &table) {
  const MemoryReport &memory = group.memory;
  std::string stage = hasStages ? "stage " + std::to_string(group.stage) + ", " : "";
  table.title("memory of " + stage + nameRanks(group.ranks) + ", at its peak (" + memory.peakAction + ")");
  for (auto [cause, bytes] : llvm::enumerate(memory.byCause))
    table.bytes(exec::stringifyCause((exec::Cause)cause), bytes, describeTypes(memory.byType[cause]));
  table.bytes("gaps", memory.gaps(), llvm::formatv("height / lower bound {0:f4}", memory.heightOverLowerBound()).str());
  if (memory.evaluation)
    table.bytes("evaluation", *memory.evaluation, "in the same arena, at the peak of an evaluation");
  table.bytes("arena", memory.arena, "one allocation");
  bool isOne = memory.outside.size() == 1;
  table.bytes("outside", sumOf(memory.outside), (isOne ? memory.outside.front().name + "; " : "") + "not planned");
  if (!isOne)
    for (const OutsideLine &line : memory.outside)
      table.bytes("  " + line.name, line.bytes);
  table.bytes("total", memory.total());
  table.bytes("data", memory.data, "host memory: rows that are read ahead");
  if (hasStages)
    table.row("residual slots", std::to_string(group.residualSlots),
              pluralOf(group.residualSlots, "micro-batch") + " of a chunk with residuals in memory at the same time");
  if (spec.deviceMemory) {
    bool fits = memory.total() <= *spec.deviceMemory;
    table.bytes("device memory", *spec.deviceMemory, fits ? "fits" : "does not fit");
  }
}

void printLargest(const MemoryReport &memory, Table &table) {
  table.title("largest buffers at that moment");
  for (const PeakBuffer &buffer : memory.largest)
    table.row(exec::stringifyCause(buffer.cause), formatBytes(buffer.bytes), shorten(buffer.name));
}

void printTraffic(const GroupReport &group, Table &table) {
  const Traffic &traffic = group.traffic;
  for (auto [i, bytes] : llvm::enumerate(traffic.axes)) {
    auto axis = dist::Axis(i);
    if (axis != dist::Axis::dp && bytes.total() == 0)
      continue;
    table.title("read from other ranks per step, by " + nameRanks(group.ranks) + " (" + stringifyAxis(axis) + ")");
    bool isTransferred(bytes.transfer);
    if (isTransferred)
      table.bytes("transfers", bytes.transfer);
    if (!isTransferred || bytes.total() > bytes.transfer) {
      table.bytes("all_gather", bytes.allGather);
      table.bytes("reduce_scatter", bytes.reduceScatter);
      table.bytes("all_reduce", bytes.allReduce);
      if (bytes.allToAll)
        table.bytes("all_to_all", bytes.allToAll);
    }
  }
  table.bytes("small messages", traffic.smallMessages, "of these: loss, count, norm");
}

void printCost(const GroupReport &group, Table &table) {
  table.title("computed per step by " + nameRanks(group.ranks));
  auto row = [&](StringRef name, const Cost &cost) {
    table.row(name, formatFlops(cost.flops), formatFlops(cost.matrixFlops()) + " in products and attention");
  };
  row("forward", group.cost.forward);
  row("backward", group.cost.backward);
  row("update", group.cost.update);
  row("total", group.cost.total());
}

std::string formatPercent(double part) { return llvm::formatv("{0:f1} %", 100 * part).str(); }

/// What of the messages is hidden behind computations, on the spec's device.
void printTime(const GroupReport &group, const PlanReport &report, Table &table) {
  if (!report.spec.device)
    return;
  const StageTime &time = group.time;
  table.title("predicted time per step on " + report.spec.device->name + ", for " + nameRanks(group.ranks));
  table.row("compute", formatSeconds(time.compute));
  for (auto [work, seconds] : llvm::enumerate(time.kernels))
    if (seconds > 0)
      table.row("  " + getName(KernelWork(work)).str(), formatSeconds(seconds), formatPercent(seconds / time.compute));
  if (int64_t kept = group.windowBytes[size_t(exec::Stream::weights)])
    table.row("weights", formatBytes(kept), "at the peak, for concurrent gradients of weights");
  auto row = [&](StringRef name, const MessageTime &messages, int64_t windowBytes) {
    std::string held = windowBytes ? ", for " + formatBytes(windowBytes) + " at the peak" : "";
    if (messages.predicted > 0)
      table.row(name, formatSeconds(messages.predicted),
                formatSeconds(messages.hidden()) + " hidden, " + formatSeconds(messages.exposed) + " exposed" + held);
  };
  for (size_t stream = 0; stream < time.messages.size(); ++stream)
    row(exec::stringifyStream(exec::Stream(stream)), time.messages[stream], group.windowBytes[stream]);
  row("tensor", time.tensor, 0);
  if (report.pp > 1)
    table.row("waiting", formatSeconds(time.waiting), "for other stages");
  table.row("step", formatSeconds(time.step),
            llvm::formatv("{0} ({1:f2} x) without overlap", formatSeconds(report.blockingStep),
                          time.step > 0 ? report.blockingStep / time.step : 1)
                .str());
}

/// What a checkpoint takes of the disk, of memory and of time.
void printCheckpoint(const PlanReport &report, Table &table) {
  if (!report.checkpoint)
    return;
  const CheckpointReport &checkpoint = *report.checkpoint;
  table.title("checkpoint (spec: checkpoint)");
  table.bytes("of a rank", checkpoint.rank, "files of the rank that writes the most");
  table.bytes("of all", checkpoint.files, "of a step's folder");
  table.bytes("copy", checkpoint.copy, "host memory: copied by a rank before training continues");
  table.row("time", formatSeconds(checkpoint.seconds),
            "at " + formatBytes(int64_t(checkpoint.disk)) + " per second and machine" +
                (report.spec.device && report.spec.device->disk > 0 ? "" : ", the default of cluster.device.disk"));
}

/// How much of the time a stage waits, as computed work alone predicts it.
void printBubbles(const PlanReport &report, Table &table) {
  table.title("waiting for other stages, predicted from computed work");
  for (const GroupReport &group : report.groups)
    table.row("stage " + std::to_string(group.stage), formatPercent(group.work.stepBubble()),
              "of the step; " + formatPercent(group.work.spanBubble()) +
                  " between its first forward and last backward");
  table.row("imbalance", llvm::formatv("{0:f3}", report.imbalance()).str(),
            "work of the slowest stage / mean of all stages");
}

/// A line for each stage: what differs between them.
void printStages(const PlanReport &report, raw_ostream &out) {
  auto line = [&](StringRef stage, StringRef total, StringRef slots, ArrayRef<std::string> moved, StringRef waits) {
    std::string text = llvm::formatv("  {0,-5}{1,12}{2,16}", stage, total, slots);
    for (StringRef bytes : moved)
      text += llvm::formatv("{0,12}", bytes);
    out << StringRef(text += llvm::formatv("{0,10}", waits)).rtrim() << "\n";
  };
  out << "\nstages: memory, read from other ranks per step by each rank, and waiting for other stages\n";
  std::vector<std::string> axes;
  axes.reserve(std::tuple_size_v<decltype(Traffic::axes)>);
  for (size_t i = 0; i < std::tuple_size_v<decltype(Traffic::axes)>; ++i)
    axes.push_back(dist::stringifyAxis(dist::Axis(i)).str());
  line("", "total", "residual slots", axes, "waits");
  for (const GroupReport &group : report.groups) {
    std::vector<std::string> moved;
    moved.reserve(group.traffic.axes.size());
    for (const MessageBytes &bytes : group.traffic.axes)
      moved.push_back(formatBytes(bytes.total()));
    line(std::to_string(group.stage), formatBytes(group.memory.total()), std::to_string(group.residualSlots), moved,
         llvm::formatv("{0:f1} %", 100 * group.work.stepBubble()).str());
  }
}

} // namespace

void xlc::printTable(const PlanReport &report, StringRef model, bool isVerbose, raw_ostream &out) {
  const Spec &spec = report.spec;
  out << model << ": " << describePlan(report) << "\n";
  Table table(out);
  printRates(spec, table);
  printChunk(report, table);
  printZero(report, table);
  printPrecision(report, table);
  if (report.splitsAttention())
    table.title("attention (spec: runtime.attention)"),
        table.row("products", "", "dropout of the library's fused kernel would depend on the layout");
  std::vector<const GroupReport *> shown = listShown(report, isVerbose);
  if (report.groups.size() > kFullStages)
    printStages(report, out);
  for (const GroupReport *group : shown) {
    printMemory(*group, spec, report.pp > 1, table);
    printLargest(group->memory, table);
    printTraffic(*group, table);
    printCost(*group, table);
    printTime(*group, report, table);
  }
  if (shown.size() < report.groups.size())
    out << "\nonly the first, the fullest and the last stage are shown in full; --verbose shows all\n";
  if (report.pp > 1)
    printBubbles(report, table);
  printCheckpoint(report, table);
}

void xlc::printChanges(const PlanReport &report, raw_ostream &out) {
  out << "\ndoes not fit: the fullest rank needs " << formatBytes(report.largestTotal()) << ", but the device has "
      << formatBytes(*report.spec.deviceMemory) << "\n";
  if (report.changes.empty()) {
    out << "no single change of the spec reduces the memory of the fullest rank\n";
    return;
  }
  out << (report.changes.front().fits ? "each of these changes alone makes the plan fit:\n"
                                      : "no single change makes the plan fit; this one comes closest:\n");
  for (const Change &change : report.changes)
    out << llvm::formatv("  {0,-56}{1,12}, traffic {2}\n", change.what, formatBytes(change.total),
                         formatBytes(change.traffic));
}
