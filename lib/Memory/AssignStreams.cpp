// What a rank does beside its computations goes on streams of its own kind; see docs/rationale/Exec.md.
#include "xlc/Memory/Memory.h"

#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_ASSIGNSTREAMSPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using exec::Stream;

namespace {

Stream streamOf(Operation &action) {
  return llvm::TypeSwitch<Operation *, Stream>(&action)
      .Case([](exec::ExchangeOp exchange) {
        return exchange.getKind() == dist::CollectiveKind::all_gather ? Stream::gather : Stream::reduce;
      })
      .Case([](exec::SendOp) { return Stream::send; })
      .Case([](exec::ReceiveOp) { return Stream::receive; })
      .Case([](exec::LoadOp) { return Stream::copy; })
      .Default(Stream::compute);
}

struct AssignStreamsPass : xlc::impl::AssignStreamsPassBase<AssignStreamsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (auto action = dyn_cast<exec::Action>(op))
          action.setStream(streamOf(op));
  }
};

} // namespace
