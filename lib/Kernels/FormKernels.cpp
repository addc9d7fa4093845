// Turns each group of KernelGroups.h into a kernel function and a call. A kernel contains copies of the cheap sources
// that it reads; all its other inputs are arguments, as views where they are views.
#include "KernelGroups.h"
#include "mlir/IR/IRMapping.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Kernels/Kernels.h"
#include <deque>
#include <unordered_map>

namespace xlc {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "xlc/Kernels/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;

namespace {

/// The body of one kernel while it is written.
struct Body {
  const KernelGroup &group;
  SmallVector<Value> arguments; ///< of the unit function
  SmallVector<Operation *> ops; ///< in order, copies of cheap ones included
  llvm::DenseSet<Value> known;

  /// Makes `value` available: an op of the group, a cheap op to copy, or an argument.
  void need(Value value) {
    if (!known.insert(value).second)
      return;
    Operation *op = value.getDefiningOp();
    if (op && group.ops.contains(op))
      return; // its turn comes
    if (op && (KernelGroups::isInline(value) || reachesGroup(value))) {
      for (Value operand : op->getOperands())
        need(operand);
      ops.push_back(op);
      return;
    }
    arguments.push_back(value);
  }

  /// What a library reads must be in memory, cheap or not: an argument for each operand, also where two are one value.
  void needArgument(Value value) {
    known.insert(value);
    arguments.push_back(value);
  }

  /// A view or broadcast of something that this kernel makes.
  bool reachesGroup(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasTrait<graph::Reshaping>())
      return false;
    Operation *source = op->getOperand(0).getDefiningOp();
    return source && (group.ops.contains(source) || reachesGroup(op->getOperand(0)));
  }
};

/// Kernels that there are; equal ones have equal hashes.
struct KnownKernels {
  std::unordered_map<size_t, SmallVector<func::FuncOp>> byHash;
  size_t count = 0;
};

class Former {
public:
  Former(ModuleOp module, KnownKernels &known, func::FuncOp function, ArrayRef<bool> accumulates, const Target &target)
      : function(function), groups(function, accumulates, target), builder(module.getContext()), known(known) {}

  void run() {
    for (const KernelGroup &group : groups.get())
      write(group);
    findOuterUses();
    Block *old = &function.front();
    Block *fresh = new Block();
    function.getBody().push_back(fresh);
    for (BlockArgument argument : old->getArguments())
      outer.map(argument, fresh->addArgument(argument.getType(), argument.getLoc()));
    builder.setInsertionPointToEnd(fresh);
    for (Body &body : bodies)
      isKernel(body.group) ? callIfRead(body) : copyOuter(body.group.ops.front());
    SmallVector<Value> returned;
    for (Value value : old->getTerminator()->getOperands())
      returned.push_back(toOuter(value));
    func::ReturnOp::create(builder, old->getTerminator()->getLoc(), returned);
    old->dropAllReferences();
    old->erase();
  }

private:
  static bool isKernel(const KernelGroup &group) { return group.form == KernelGroup::Form::Kernel; }

  static bool isLibraryCall(const KernelGroup &group, Operation *op) {
    return isKernel(group) && group.kind == exec::KernelKind::library && op == group.ops.front();
  }

  void write(const KernelGroup &group) {
    Body &body = bodies.emplace_back(Body{group, {}, {}, {}});
    for (Operation *op : group.ops) {
      bool isInMemory = isLibraryCall(group, op) || group.form == KernelGroup::Form::Exchange;
      for (Value operand : op->getOperands())
        isInMemory ? body.needArgument(operand) : body.need(operand);
      body.ops.push_back(op);
    }
  }

  /// Values that must exist outside of the kernel that makes them.
  void findOuterUses() {
    SmallVector<Value> work(function.front().getTerminator()->getOperands());
    for (const Body &body : bodies)
      llvm::append_range(work, body.arguments);
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!outerUses.insert(value).second || !isView(value))
        continue;
      work.push_back(value.getDefiningOp()->getOperand(0));
    }
  }

  /// The value in the new body; views are written when they are asked for.
  Value toOuter(Value value) {
    if (Value there = outer.lookupOrNull(value))
      return there;
    copyOuter(value.getDefiningOp());
    return outer.lookup(value);
  }

  void copyOuter(Operation *op) {
    for (Value operand : op->getOperands())
      toOuter(operand);
    builder.clone(*op, outer);
  }

  /// What all readers compute for themselves is no kernel.
  void callIfRead(const Body &body) {
    SmallVector<Value> results;
    for (Operation *op : body.group.ops) {
      bool writesAll = op->hasTrait<graph::Attention>();
      for (Value result : op->getResults())
        if (writesAll || outerUses.contains(result))
          results.push_back(result);
    }
    if (!results.empty())
      call(body, results);
  }

  void call(const Body &body, ArrayRef<Value> results) {
    SmallVector<Value> arguments;
    for (Value argument : body.arguments)
      arguments.push_back(toOuter(argument));
    func::FuncOp kernel = share(outline(body, results));
    auto call = func::CallOp::create(builder, body.group.ops.back()->getLoc(), kernel, arguments);
    SmallVector<Attribute> names;
    for (Value result : results)
      names.push_back(builder.getStringAttr(graph::getSourceName(result.getDefiningOp())));
    call->setAttr(exec::kSlotName, builder.getArrayAttr(names));
    for (auto [result, value] : llvm::zip(results, call.getResults()))
      outer.map(result, value);
  }

  func::FuncOp outline(const Body &body, ArrayRef<Value> results) {
    OpBuilder top(function);
    auto type = top.getFunctionType(ValueRange(body.arguments).getTypes(), ValueRange(results).getTypes());
    auto kernel = func::FuncOp::create(top, body.group.ops.front()->getLoc(), "kernel", type);
    kernel.setPrivate();
    exec::setKernelKind(kernel, body.group.kind);
    OpBuilder inside = OpBuilder::atBlockEnd(kernel.addEntryBlock());
    IRMapping mapping;
    mapping.map(body.arguments, kernel.getArguments());
    for (Operation *op : body.ops) {
      Operation *copy = inside.clone(*op, mapping);
      copy->removeAttr(graph::kRole);
      if (isLibraryCall(body.group, op)) {
        assert(kernel.getNumArguments() >= op->getNumOperands() && "needArgument gave one to each operand, in order");
        copy->setOperands(kernel.getArguments().take_front(op->getNumOperands()));
      }
    }
    SmallVector<Value> returned = llvm::map_to_vector(results, [&](Value value) { return mapping.lookup(value); });
    func::ReturnOp::create(inside, kernel.getLoc(), returned);
    return kernel;
  }

  /// Equal kernels are one function.
  func::FuncOp share(func::FuncOp kernel) {
    llvm::hash_code key = llvm::hash_combine(kernel.getFunctionType(), exec::findKernelKind(kernel));
    for (Operation &op : kernel.front())
      key = llvm::hash_combine(key, OperationEquivalence::computeHash(&op, OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::IgnoreLocations));
    SmallVector<func::FuncOp> &alike = known.byHash[key];
    for (func::FuncOp other : alike)
      if (other.getFunctionType() == kernel.getFunctionType() &&
          exec::findKernelKind(other) == exec::findKernelKind(kernel) &&
          OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &kernel.getBody(),
                                                     OperationEquivalence::IgnoreLocations)) {
        kernel.erase();
        return other;
      }
    kernel.setName("kernel_" + std::to_string(known.count++));
    alike.push_back(kernel);
    return kernel;
  }

  func::FuncOp function;
  KernelGroups groups;
  OpBuilder builder;
  KnownKernels &known;
  std::deque<Body> bodies;
  llvm::DenseSet<Value> outerUses;
  IRMapping outer;
};

struct FormKernelsPass : xlc::impl::FormKernelsPassBase<FormKernelsPass> {
  explicit FormKernelsPass(const Target &target) : target(target) {}

  void runOnOperation() override {
    KnownKernels known;
    llvm::StringMap<SmallVector<bool>> accumulates; // of each store: whether any run adds to it
    getOperation().walk([&](sched::RunOp run) {
      SmallVector<bool> &ofStores = accumulates[run.getFunction()];
      ofStores.resize(run.getStores().size());
      for (auto [store, adds] : llvm::enumerate(run.getAccumulate()))
        ofStores[store] = ofStores[store] || adds;
    });
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && function.isPrivate() && !exec::findKernelKind(function))
        Former(getOperation(), known, function, accumulates.lookup(function.getName()), target).run();
  }

  const Target &target;
};

} // namespace

std::unique_ptr<Pass> xlc::createFormKernelsPass(const Target &target) {
  return std::make_unique<FormKernelsPass>(target);
}

void xlc::registerKernelsPasses(const Target &target) {
  registerPass([&target] { return createNormalizeReductionsPass(target); });
  registerPass([&target] { return createFormKernelsPass(target); });
  registerPass([&target] { return createSplitReductionsPass(target); });
  registerPass([&target] { return createMergeSumsPass(target); });
  registerPass([] { return createExpandNamedOpsPass(); });
}
