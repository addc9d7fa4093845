// Lowers values to memory: first the unit functions, each once for all its runs on all stages, then the timelines.
#include "ProgramBuilder.h"

namespace xlc {
#define GEN_PASS_DEF_LOWERTOEXECPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

/// The last action of its timeline that reads a value, and how often that one does.
struct LastRead {
  Operation *action = nullptr;
  int64_t times = 0;
};

llvm::DenseMap<Value, LastRead> findLastReads(ArrayRef<sched::TimelineOp> timelines) {
  llvm::DenseMap<Value, LastRead> reads;
  for (sched::TimelineOp timeline : timelines)
    for (Operation &action : timeline.getBody().front())
      for (Value operand : action.getOperands()) {
        LastRead &last = reads[operand];
        last = {&action, last.action == &action ? last.times + 1 : 1};
      }
  return reads;
}

/// Joins what one run says with what earlier ones said: a store that is sometimes added is added `later`.
void refine(Signature &signature, sched::RunOp run, bool isFirstRun, const llvm::DenseMap<Value, LastRead> &reads) {
  using exec::Accumulate;
  signature.params = run.getParams().size();
  signature.stores = run.getStores().size();
  signature.dies.resize(run.getValues().size(), true);
  for (auto [i, value] : llvm::enumerate(run.getValues())) {
    LastRead last = reads.lookup(value);
    signature.dies[i] = signature.dies[i] && last.action == run && last.times == 1;
  }
  signature.accumulate.resize(run.getStores().size(), 0);
  for (auto [i, adds] : llvm::enumerate(run.getAccumulate())) {
    auto now = (int32_t)(adds ? Accumulate::always : Accumulate::never);
    bool isSame = isFirstRun || signature.accumulate[i] == now;
    signature.accumulate[i] = isSame ? now : (int32_t)Accumulate::later;
  }
}

/// A run says once for all its stores whether it is the first, so runs of one function must agree on which stores that
/// decides. Where two units of a class share a parameter they do not: the second adds to its gradient from the start.
/// Such runs get a copy of the function. A run that only adds fits any. Buffers are always written and decide nothing.
void separateAccumulation(ModuleOp module, ArrayRef<sched::RunOp> runs) {
  SymbolTable symbols(module);
  DenseSet<Attribute> buffers;
  for (auto bucket : module.getOps<sched::BucketOp>())
    if ((int64_t)bucket.getGroup() == sched::kBufferGroup)
      buffers.insert_range(bucket.getMembers());
  llvm::StringMap<SmallVector<std::pair<Attribute, func::FuncOp>>> copies;
  for (sched::RunOp run : runs) {
    SmallVector<bool> adds;
    for (auto [name, accumulates] : llvm::zip(run.getStores(), run.getAccumulate()))
      if (!buffers.contains(name))
        adds.push_back(accumulates);
    if (llvm::all_of(adds, [](bool one) { return one; }))
      continue;
    Attribute key = DenseBoolArrayAttr::get(module.getContext(), adds);
    auto &known = copies[run.getFunction()];
    auto *it = llvm::find_if(known, [&](auto &copy) { return copy.first == key; });
    if (it == known.end()) {
      auto function = symbols.lookup<func::FuncOp>(run.getFunction());
      if (!known.empty())
        symbols.insert(function = function.clone());
      it = &known.emplace_back(key, function);
    }
    run.setFunction(it->second.getSymName());
  }
}

struct LowerToExecPass : xlc::impl::LowerToExecPassBase<LowerToExecPass> {
  LowerToExecPass(const Target &target, int64_t threads) : target(target) { this->threads = threads; }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<sched::TimelineOp> timelines(module.getOps<sched::TimelineOp>());
    SmallVector<sched::RunOp> runs;
    for (sched::TimelineOp timeline : timelines)
      llvm::append_range(runs, timeline.getBody().front().getOps<sched::RunOp>());
    separateAccumulation(module, runs);
    llvm::DenseMap<Value, LastRead> reads = findLastReads(timelines);
    llvm::StringMap<Signature> signatures;
    SmallVector<StringRef> order;
    for (sched::RunOp run : runs) {
      auto [it, isNew] = signatures.try_emplace(run.getFunction());
      refine(it->second, run, isNew, reads);
      if (isNew)
        order.push_back(it->first());
    }
    SymbolTable onValues(module);
    RowPitches pitches(runs, onValues, target);
    for (StringRef name : order) {
      auto function = onValues.lookup<func::FuncOp>(name);
      int64_t apart = countApart(function);
      FailureOr<func::FuncOp> onSlots = lowerToSlots(function, onValues, signatures[name], pitches, target, threads);
      if (failed(onSlots))
        return signalPassFailure();
      if (apart > 0)
        signatures[name].apart = splitApart(*onSlots, apart);
    }
    SymbolTable onSlots(module);
    SharedByStages shared{target, threads, {}, {}};
    for (sched::TimelineOp timeline : timelines)
      ProgramBuilder(module, onSlots, timeline, shared).build(signatures);
    dropTranslated(module, timelines);
  }

private:
  /// Timelines are programs now; what @scalars computes is a kernel.
  static void dropTranslated(ModuleOp module, ArrayRef<sched::TimelineOp> timelines) {
    SetVector<Operation *> functions;
    for (sched::TimelineOp timeline : timelines)
      for (auto scalars : timeline.getBody().front().getOps<sched::ScalarsOp>())
        functions.insert(module.lookupSymbol(scalars.getFunction()));
    for (sched::TimelineOp timeline : timelines)
      timeline->erase();
    for (Operation *function : functions)
      function->erase();
  }

  const Target &target;
};

} // namespace

std::unique_ptr<Pass> xlc::createLowerToExecPass(const Target &target, int64_t threads) {
  return std::make_unique<LowerToExecPass>(target, threads);
}

void xlc::registerMemoryPasses(const Target &target) {
  registerPass([] { return createSetProductsApartPass(); });
  registerPass([&target] { return createLowerToExecPass(target); });
  registerPass([] { return createAssignStreamsPass(); });
  registerPass([] { return createAssignWindowsPass(); });
  registerPass([] { return createAssignOffsetsPass(); });
  registerPass([] { return createVerifyPlacementPass(); });
  registerPass([] { return createAssignDependenciesPass(); });
  registerPass([] { return createVerifyStreamsPass(); });
}
