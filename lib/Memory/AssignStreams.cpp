// Assigns the actions of a rank other than computations to streams of their own kind; see docs/rationale/Exec.md.
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

struct AssignStreamsPass : xlc::impl::AssignStreamsPassBase<AssignStreamsPass> {
  using AssignStreamsPassBase::AssignStreamsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (auto action = dyn_cast<exec::Action>(op))
          action.setStream(streamOf(op, symbols));
  }

private:
  Stream streamOf(Operation &action, const SymbolTable &symbols) const {
    return llvm::TypeSwitch<Operation *, Stream>(&action)
        .Case([&](exec::RunOp run) { return streamOfRun(run, symbols); })
        .Case([](exec::ExchangeOp exchange) {
          return exchange.getKind() == dist::CollectiveKind::all_gather ? Stream::gather : Stream::reduce;
        })
        .Case([](exec::SendOp) { return Stream::send; })
        .Case([](exec::ReceiveOp) { return Stream::receive; })
        .Case<exec::LoadOp, exec::StoreOp>([](auto) { return Stream::copy; })
        .Default(Stream::compute);
  }

  /// What ranks exchange within functions has one order, that of `compute`.
  Stream streamOfRun(exec::RunOp run, const SymbolTable &symbols) const {
    if (!weightsBeside || run.getRole() != graph::Role::W)
      return Stream::compute;
    auto function = symbols.lookup<func::FuncOp>(run.getFunction());
    return function.getOps<exec::CollectiveOp>().empty() ? Stream::weights : Stream::compute;
  }
};

} // namespace
