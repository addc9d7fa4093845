// Copies values that each pipeline chunk can compute itself, so that they are not sent: a mask costs a loop on every
// rank, and no message. Backward already has copies (RematerializeCheapOps).
#include "Copies.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Stage/Stage.h"

namespace xlc {
#define GEN_PASS_DEF_COPYINTOCHUNKSPASS
#include "xlc/Stage/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

struct CopyIntoChunksPass : xlc::impl::CopyIntoChunksPassBase<CopyIntoChunksPass> {
  void runOnOperation() override {
    auto isCopied = [](Operation *op, Operation *reader, bool isGiven) { // a view where what it shows is not larger
      return getRole(reader) == Role::F && getChunk(op) != getChunk(reader) &&
             (isGiven || (op->hasTrait<Movement>() && !isa<SliceOp>(op)));
    };
    auto chunkOf = [](Operation *reader) { return reader->getAttr(kChunk); };
    copyForReaders(getOperation(), {isCopied, chunkOf});
  }
};

} // namespace
