// Selects the calls of backward that may run beside the rest: products that store the gradient of a parameter.
//
//     layer_B    dw = xT dy     dx = dy wT     norm's gradient, which sums dy's columns on its way
//                |
//                +-> at the end, where nothing of the function comes after it: a function, and runs, of its own
//
// The pass runs on calls of kernels, whose layouts and epilogues are already decided for the undivided function.
#include "SetProductsApart.h"

#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Kernels/Views.h"
#include "xlc/Memory/Memory.h"

#include "llvm/ADT/MapVector.h"

namespace xlc {
#define GEN_PASS_DEF_SETPRODUCTSAPARTPASS
#include "xlc/Memory/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

constexpr llvm::StringLiteral kApart = "exec.apart"; ///< of a function: so many calls at its end are apart

/// Whether a value is returned among the last results alone, from `first` on, as it is or through `views`.
bool isStored(Value value, unsigned first, SmallVectorImpl<Operation *> &views) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user))
      return use.getOperandNumber() >= first;
    if (user->getNumResults() != 1 || !isView(user->getResult(0)))
      return false;
    views.push_back(user);
    return isStored(user->getResult(0), first, views);
  });
}

bool isProduct(func::FuncOp kernel) {
  Operation *op = findLibraryOp(kernel);
  return op && (isa<graph::ContractOp>(op) || op->hasTrait<graph::Convolution>());
}

struct SetProductsApartPass : xlc::impl::SetProductsApartPassBase<SetProductsApartPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<Attribute, unsigned> stores; // function of backward -> how many of its last results are stored
    for (auto timeline : getOperation().getOps<sched::TimelineOp>())
      for (auto run : timeline.getBody().front().getOps<sched::RunOp>())
        if (run.getRole() == graph::Role::B)
          stores[run.getFunctionAttr()] = run.getStores().size();
    for (auto [name, count] : stores)
      sink(symbols.lookup<func::FuncOp>(cast<FlatSymbolRefAttr>(name).getValue()), count, symbols);
  }

private:
  static void sink(func::FuncOp function, unsigned stores, const SymbolTable &symbols) {
    Operation *end = function.front().getTerminator();
    int64_t apart = 0;
    SmallVector<func::CallOp> calls(function.front().getOps<func::CallOp>());
    for (func::CallOp call : calls) {
      SmallVector<Operation *> views;
      auto isForOthers = [&](Value result) { return isStored(result, end->getNumOperands() - stores, views); };
      if (!isProduct(symbols.lookup<func::FuncOp>(call.getCallee())) || !llvm::all_of(call.getResults(), isForOthers))
        continue;
      call->moveBefore(end);
      for (Operation *view : views)
        view->moveBefore(end);
      ++apart;
    }
    if (apart > 0 && apart < (int64_t)calls.size()) // beside themselves nothing runs
      function->setAttr(kApart, Builder(function).getI64IntegerAttr(apart));
  }
};

} // namespace

int64_t xlc::countApart(func::FuncOp function) {
  auto calls = function->getAttrOfType<IntegerAttr>(kApart);
  return calls ? calls.getInt() : 0;
}

Apart xlc::splitApart(func::FuncOp function, int64_t calls) {
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  auto apart = cast<func::FuncOp>(builder.clone(*function));
  apart.setName((function.getName() + "_weights").str());
  auto eraseCalls = [&](func::FuncOp from, bool isOfApart) {
    SmallVector<exec::CallOp> all(from.front().getOps<exec::CallOp>());
    ArrayRef<exec::CallOp> erased = isOfApart ? ArrayRef(all).take_back(calls) : ArrayRef(all).drop_back(calls);
    for (exec::CallOp call : erased)
      call->erase();
    for (exec::ViewOp view : llvm::to_vector(from.front().getOps<exec::ViewOp>())) // of slots alone
      if (view->use_empty())
        view->erase();
  };
  eraseCalls(function, /*isOfApart=*/true);
  for (exec::CollectiveOp collective : llvm::to_vector(apart.front().getOps<exec::CollectiveOp>()))
    collective->erase();
  eraseCalls(apart, /*isOfApart=*/false);
  Apart result{FlatSymbolRefAttr::get(apart.getSymNameAttr()), {}};
  BitVector unused(apart.getNumArguments());
  for (BlockArgument slot : apart.getArguments())
    slot.use_empty() ? void(unused.set(slot.getArgNumber())) : result.slots.push_back(slot.getArgNumber());
  (void)apart.eraseArguments(unused);
  return result;
}
