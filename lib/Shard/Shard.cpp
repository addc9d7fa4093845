// The phase: checks what can be split, decides, and writes one rank's program.
#include "xlc/Shard/Shard.h"
#include "Pins.h"
#include "Search.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Spec/SpecPlace.h"
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

using Severity = Complaint::Severity;

Complaint &complain(std::vector<Complaint> &complaints, Severity severity, std::string text) {
  Complaint &complaint = complaints.emplace_back();
  complaint.severity = severity;
  complaint.text = std::move(text);
  return complaint;
}

bool haveRules(func::FuncOp function, std::vector<Complaint> &complaints) {
  for (Operation &op : function.front().without_terminator())
    if (!findFactorRow(op.getName())) {
      complain(complaints, Severity::Error, "there is no sharding rule for '" + op.getName().getStringRef().str() + "'")
          .op = &op;
      return false;
    }
  return true;
}

/// Whether activations between products are split over the sequence: where that is possible, unless the user decides.
std::optional<bool> splitsSequence(func::FuncOp function, const ShardOptions &options,
                                   std::vector<Complaint> &complaints) {
  if (options.sequenceParallel == false)
    return false;
  SequenceFinding finding = findStream(function, options.tp, true).sequence;
  if (finding.hasSequence && !finding.op)
    return true;
  std::string reason = "the model has no attention, whose queries would be the sequence";
  if (finding.op)
    reason = llvm::formatv("tp = {0} does not divide the sequence, which is {1}", options.tp, finding.indivisible);
  if (!options.sequenceParallel && !finding.op)
    return false; // nobody would expect it
  Severity severity = options.sequenceParallel ? Severity::Error : Severity::Note;
  Complaint &complaint = complain(complaints, severity,
                                  "sequence_parallel is " +
                                      std::string(options.sequenceParallel ? "not possible" : "off") + ": " + reason);
  complaint.key = options.sequenceParallel ? "sequence_parallel" : "tp";
  if (options.sequenceParallel)
    return std::nullopt;
  return false;
}

/// A parameter is split, and the op needs it whole.
Complaint neededWhole(const Problem &problem, const ShardOptions &options, Operation *op) {
  Complaint complaint;
  complaint.op = op;
  complaint.about = "it is needed by node";
  std::string by = llvm::formatv("tp = {0}", options.tp), what = "a parameter";
  for (Value operand : op->getOperands()) {
    Value parameter = findParameter(operand);
    if (!parameter || !problem.parameters.contains(parameter))
      continue;
    std::string name = nameOf(problem.function, cast<BlockArgument>(parameter));
    what = "'" + name + "'";
    for (const LayoutPin &pin : options.pins)
      if (matchesPatterns(name, {pin.pattern})) {
        by = "layout";
        complaint.location = pin.location;
        complaint.notes = {"where layout does not name it, it is whole on every rank"};
      }
    break;
  }
  complaint.text = llvm::formatv("{0} splits {1}, which is needed whole, and would have to be gathered", by, what);
  return complaint;
}

} // namespace

bool shard::partition(ModuleOp module, const ShardOptions &options, std::vector<Complaint> &complaints) {
  auto function = findFunction(module, kMicroBatch);
  if (options.tp == 1 || !function)
    return true;
  if (!haveRules(function, complaints))
    return false;
  std::optional<bool> splitSequence = splitsSequence(function, options, complaints);
  if (!splitSequence)
    return false;
  Problem problem(function, options.tp, *splitSequence);
  if (!findLayouts(problem, options, complaints))
    return false;
  if (problem.parameters.empty()) {
    complain(complaints, Severity::Warning,
             llvm::formatv("tp = {0} has nothing to split: the model has no repeated units with weight matrices; "
                           "{0} ranks do the same work",
                           options.tp));
    return true;
  }
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  Propagation propagation(problem);
  if (!propagation.run(ops)) {
    complaints.push_back(neededWhole(problem, options, propagation.stuck));
    return false;
  }
  writeLocal(problem, propagation);
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
    std::vector<Complaint> complaints;
    bool isFine = partition(getOperation(), options, complaints);
    for (const Complaint &complaint : complaints)
      report(complaint);
    if (!isFine)
      signalPassFailure();
  }

  void report(const Complaint &complaint) {
    Location location = complaint.op ? complaint.op->getLoc() : getOperation().getLoc();
    InFlightDiagnostic diagnostic = complaint.severity == Severity::Error     ? emitError(location)
                                    : complaint.severity == Severity::Warning ? emitWarning(location)
                                                                              : emitRemark(location);
    diagnostic << complaint.text;
    for (const std::string &note : complaint.notes)
      diagnostic.attachNote() << note;
  }
};

StringRef nameOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("all severities are named");
}

} // namespace

LogicalResult xlc::shardModule(ModuleOp module, const Spec &spec, StringRef model, llvm::raw_ostream &errors) {
  std::vector<Complaint> complaints;
  bool isFine = partition(module, {spec.tp, spec.sequenceParallel, spec.layout}, complaints);
  for (const Complaint &complaint : complaints) {
    SpecLocation at = complaint.location;
    std::string where = at.line ? llvm::formatv("{0}:{1}:{2}", spec.path, at.line, at.column).str()
                                : findPlace(spec, complaint.key).value_or(spec.path);
    where += ": ";
    errors << where << nameOf(complaint.severity) << ": " << complaint.text << "\n";
    if (!complaint.about.empty())
      errors << model << ": note: " << complaint.about << " '" << getSourceName(complaint.op) << "'\n";
    for (const std::string &note : complaint.notes)
      errors << where << "note: " << note << "\n";
  }
  return success(isFine);
}
