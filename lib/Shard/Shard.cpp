// The phase: checks what can be split, decides, and writes one rank's program.
#include "xlc/Shard/Shard.h"
#include "Pins.h"
#include "Search.h"
#include "ShardMessages.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "llvm/Support/FormatVariadic.h"

namespace xlc {
#define GEN_PASS_DEF_PARTITIONPASS
#include "xlc/Shard/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

bool haveRules(func::FuncOp function, const ShardOptions &options, Diagnostics &diagnostics) {
  for (Operation &op : function.front().without_terminator())
    if (!findFactorRow(op.getName())) {
      Message message =
          makeMessage(options, "there is no sharding rule for '" + op.getName().getStringRef().str() + "'");
      message.op = &op;
      diagnostics.report(message);
      return false;
    }
  return true;
}

/// Whether activations between products are split over the sequence: where that is possible, unless the user decides.
std::optional<bool> splitsSequence(const SequenceFinding &finding, const ShardOptions &options,
                                   Diagnostics &diagnostics) {
  if (options.sequenceParallel == false)
    return false;
  if (finding.hasSequence && !finding.op)
    return true;
  std::string reason = "the model has no attention, so its sequence dimension is unknown";
  if (finding.op)
    reason = llvm::formatv("tp = {0} does not divide the sequence length {1}", options.tp, finding.indivisible);
  if (!options.sequenceParallel && !finding.op)
    return false; // nobody would expect it
  if (!options.sequenceParallel) {
    diagnostics.report(makeMessage(options, "sequence_parallel is off: " + reason, Severity::Note));
    return false;
  }
  diagnostics.report(
      makeMessage(options, "sequence_parallel is not possible: " + reason, Severity::Error, "sequence_parallel"));
  return std::nullopt;
}

} // namespace

/// Another entry, whose parameters lie as the one that trains has them.
static bool partitionLikewise(Entry entry, Entry trained, const ShardOptions &options, bool splitSequence,
                              Diagnostics &diagnostics) {
  func::FuncOp function = entry.getFunction();
  if (!haveRules(function, options, diagnostics))
    return false;
  Stream stream = findStream(function, options.tp);
  if (!splitSequence)
    stream.replicate();
  Problem problem(function, options.tp, std::move(stream));
  for (BlockArgument argument : trained.getFunction().getArguments()) {
    auto layout = trained.getFunction().getArgAttrOfType<dist::LayoutAttr>(argument.getArgNumber(), dist::kLayout);
    BlockArgument own = layout ? entry.findParameter(Argument(argument).getParameter()) : BlockArgument();
    if (own)
      problem.parameters[own] = Layout::split(layout.getDim(), layout.getOuter(), layout.getGroup().size());
  }
  return writeProven(problem, options, diagnostics);
}

bool shard::partition(ModuleOp module, const ShardOptions &options, Diagnostics &diagnostics) {
  func::FuncOp function = Entry::find(module, Purpose::train).getFunction();
  if (options.tp == 1 || !function)
    return true;
  if (!haveRules(function, options, diagnostics))
    return false;
  Stream stream = findStream(function, options.tp);
  std::optional<bool> splitSequence = splitsSequence(stream.sequence, options, diagnostics);
  if (!splitSequence)
    return false;
  if (!*splitSequence)
    stream.replicate();
  Problem problem(function, options.tp, std::move(stream));
  if (!findLayouts(problem, options, diagnostics))
    return false;
  if (problem.parameters.empty()) {
    diagnostics.report(
        makeMessage(options,
                    llvm::formatv("tp = {0} does not split any parameter: the model has no repeated units with weight "
                                  "matrices; all {0} ranks do the same work",
                                  options.tp),
                    Severity::Warning));
    return true;
  }
  if (!writeProven(problem, options, diagnostics))
    return false;
  Entry trained = Entry::find(module, Purpose::train);
  for (Entry entry : Entry::all(module))
    if (!entry.isTraining() && !partitionLikewise(entry, trained, options, *splitSequence, diagnostics))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// As a pass, and with a spec
//===----------------------------------------------------------------------===//

namespace {

struct PartitionPass : xlc::impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    ShardOptions options;
    options.tp = dist::getMesh(getOperation()).getTp();
    if (sequence != "auto")
      options.sequenceParallel = sequence == "on";
    for (const std::string &pin : pins) {
      auto [pattern, dimension] = StringRef(pin).rsplit(':');
      LayoutPin &row = options.pins.emplace_back();
      row.pattern = pattern.str();
      row.dimensions = {std::atoi(dimension.data())};
    }
    Diagnostics diagnostics([&](const Message &message) { report(message); });
    if (!partition(getOperation(), options, diagnostics))
      signalPassFailure();
  }

  void report(const Message &message) {
    Location location = message.op ? message.op->getLoc() : getOperation().getLoc();
    InFlightDiagnostic diagnostic = message.severity == Severity::Error     ? emitError(location)
                                    : message.severity == Severity::Warning ? emitWarning(location)
                                                                            : emitRemark(location);
    diagnostic << message.text;
    for (const Message &note : message.notes)
      diagnostic.attachNote() << note.text;
  }
};

} // namespace

LogicalResult xlc::shardModule(ModuleOp module, const Spec &spec, StringRef model, Diagnostics &diagnostics) {
  return success(partition(module, {spec.tp, spec.sequenceParallel, spec.layout, &spec, model.str()}, diagnostics));
}
