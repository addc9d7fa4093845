// Outputs of the model that a timeline stores: each once for every micro-batch.
#ifndef XLC_LIB_SCHEDULE_STOREDOUTPUTS_H
#define XLC_LIB_SCHEDULE_STOREDOUTPUTS_H

#include "xlc/Dialect/Sched/Sched.h"
#include "llvm/ADT/MapVector.h"

namespace xlc {

class StoredOutputs {
public:
  /// Fails if an output is stored a second time for a micro-batch.
  llvm::LogicalResult add(sched::StoreOp store) {
    for (mlir::Attribute name : store.getOutputs())
      if (!microBatches[name].insert(store.getMicroBatch()).second)
        return store.emitOpError() << "stores output " << name << " a second time for micro-batch "
                                   << store.getMicroBatch();
    return llvm::success();
  }

  /// Fails if an output that is stored for one micro-batch is not stored for all of them.
  llvm::LogicalResult verify(sched::TimelineOp timeline) const {
    for (const auto &[name, seen] : microBatches)
      for (int64_t k = 0; k < (int64_t)timeline.getMicroBatches(); ++k)
        if (!seen.contains(k))
          return timeline.emitOpError() << "never stores output " << name << " for micro-batch " << k;
    return llvm::success();
  }

private:
  llvm::MapVector<mlir::Attribute, llvm::DenseSet<int64_t>> microBatches; ///< by the name of the output
};

} // namespace xlc

#endif
