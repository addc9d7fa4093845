// Translates unit functions to lists of calls on slots. A call of a generated kernel is the index of its code in
// @kernels; a call of a library kernel is the shape of the call, derived from the op and the memory layouts
// (LibraryCalls.h).
#include "PlanParts.h"
#include "PlanShapes.h"
#include "PlanViews.h"
#include "xlc/Lower/Lower.h"

using namespace mlir;
using namespace xlc;

namespace {

int64_t elementBytes(MemRefType type) { return graph::getByteSize(type.getElementType(), 1); }

/// From the first byte of a strided view to behind its last.
uint64_t spanOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, last = 0;
  if (type.getNumElements() == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    last += (size - 1) * stride;
  return (last + 1) * elementBytes(type);
}

/// The slot behind a chain of views.
plan::Operand operandOf(Value value) {
  int64_t offset = 0;
  while (auto view = value.getDefiningOp<exec::ViewOp>()) {
    offset += (int64_t)view.getOffset() * elementBytes(cast<MemRefType>(view.getView().getType()));
    value = view.getSlot();
  }
  return plan::Operand(cast<BlockArgument>(value).getArgNumber(), offset);
}

/// A collective in the middle of a function, as a call without a kernel.
std::unique_ptr<plan::CallT> callOf(exec::CollectiveOp op, ViewTable &views, plan::PlanT &plan) {
  auto src = cast<MemRefType>(op.getSrc().getType()), dst = cast<MemRefType>(op.getDst().getType());
  auto result = std::make_unique<plan::CallT>();
  StringRef source = graph::getSourceName(op);
  result->name = (dist::stringifyCollectiveKind(op.getKind()) + (source.empty() ? "" : " ") + source).str();
  result->ins.push_back(operandOf(op.getSrc())), result->in_bytes.push_back(spanOf(src));
  result->outs.push_back(operandOf(op.getDst())), result->out_bytes.push_back(spanOf(dst));
  result->in_views.push_back(views.add(op.getSrc())), result->out_views.push_back(views.add(op.getDst()));
  result->accumulate.push_back(plan::Accumulate::Never);
  result->exchange = std::make_unique<plan::ExchangeT>(exchangeOf(plan, op.getExchange()));
  return result;
}

int64_t numberOf(func::FuncOp function, StringRef attribute) {
  assert(function->hasAttr(attribute) && "Lower has chosen how its code is run");
  return function->getAttrOfType<IntegerAttr>(attribute).getInt();
}

void describeCode(unsigned index, func::FuncOp function, plan::KernelT &kernel) {
  kernel.code = (int32_t)index;
  kernel.extent = numberOf(function, kKernelExtent), kernel.grain = numberOf(function, kKernelGrain);
}

void describeLaunches(func::FuncOp function, plan::KernelT &kernel) {
  kernel.adds = function.getNumArguments() > 0 && function.getArgumentTypes().back().isInteger(32);
  auto made = std::make_unique<plan::LaunchT>();
  made->function = function.getName().str();
  made->grid = numberOf(function, kKernelGrid), made->block = numberOf(function, kKernelBlock);
  kernel.launches.push_back(std::move(made));
}

struct LibraryKernel {
  plan::LibraryUnion library;
  bool swapped = false;
};

class CallTable {
public:
  CallTable(ModuleOp module, ViewTable &views, plan::PlanT &plan) : symbols(module), views(views), plan(plan) {
    for (auto code : module.lookupSymbol<ModuleOp>(kKernelModule).getOps<func::FuncOp>())
      codes.insert({code.getName(), {codes.size(), code}});
  }

  FailureOr<std::unique_ptr<plan::CallT>> add(exec::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
    FailureOr<unsigned> number = kernelOf(call, kernel);
    if (failed(number))
      return failure();
    auto result = std::make_unique<plan::CallT>();
    StringRef source = graph::getSourceName(call);
    result->name = (source.empty() ? call.getKernel() : source).str();
    result->kernel = *number;
    SmallVector<Value> ins(call.getIns());
    if (swapped[*number])
      std::swap(ins[0], ins[1]);
    for (Value in : ins) {
      result->ins.push_back(operandOf(in));
      result->in_bytes.push_back(spanOf(cast<MemRefType>(in.getType())));
      result->in_views.push_back(views.add(in));
    }
    for (Value out : call.getOuts()) {
      result->outs.push_back(operandOf(out));
      result->out_bytes.push_back(spanOf(cast<MemRefType>(out.getType())));
      result->out_views.push_back(views.add(out));
    }
    for (int32_t accumulate : call.getAccumulate())
      result->accumulate.push_back(static_cast<plan::Accumulate>(accumulate));
    if (Value workspace = call.getWorkspace()) {
      result->workspace.push_back(operandOf(workspace));
      result->workspace_bytes = spanOf(cast<MemRefType>(workspace.getType()));
    }
    return result;
  }

private:
  /// The kernel of a call; equal ones are one.
  FailureOr<unsigned> kernelOf(exec::CallOp call, func::FuncOp kernel) {
    auto [known, isNew] = numbers.insert({getSpecialisation(call), plan.kernels.size()});
    if (!isNew)
      return known->second;
    auto made = std::make_unique<plan::KernelT>();
    made->name = describeKernel(kernel), made->writes_infinity = writesInfinity(kernel);
    swapped.push_back(false);
    if (auto code = call->getAttrOfType<FlatSymbolRefAttr>(kKernelCode)) {
      assert(codes.contains(code.getValue()) && "Lower has made the code that it has the call name");
      auto [index, function] = codes.find(code.getValue())->second;
      if (function->hasAttr(kKernelGrid) && numberOf(function, kKernelGrid) > INT32_MAX)
        return call.emitOpError() << "would be launched with " << numberOf(function, kKernelGrid)
                                  << " blocks; a GPU supports at most " << INT32_MAX;
      if (function->hasAttr(kKernelGrid))
        describeLaunches(function, *made);
      else
        describeCode(index, function, *made);
    } else {
      FailureOr<LibraryKernel> library = libraryOf(call, kernel);
      if (failed(library))
        return failure();
      made->library = std::move(library->library);
      swapped.back() = library->swapped;
    }
    plan.kernels.push_back(std::move(made));
    return known->second;
  }

  FailureOr<LibraryKernel> libraryOf(exec::CallOp call, func::FuncOp kernel) {
    SmallVector<MemRefType> memory;
    for (Value operand : llvm::concat<Value>(call.getIns(), call.getOuts()))
      memory.push_back(cast<MemRefType>(operand.getType()));
    LibraryKernel result;
    Operation *op = findLibraryOp(kernel);
    if (auto contract = dyn_cast_or_null<graph::ContractOp>(op)) {
      if (auto found = findContractShape(contract, memory[0], memory[1], memory.back(), findEpilogue(contract))) {
        result.library.Set(contractOf(found->shape));
        result.swapped = found->swapped;
        return std::move(result);
      }
    } else if (op && op->hasTrait<graph::ScatterAdd>()) {
      if (auto shape = findScatterShape(op, memory)) {
        plan::ScatterAddT made;
        made.outer = shape->outer, made.distinct = shape->distinct, made.indices = shape->indices;
        made.rows = shape->rows, made.width = shape->width, made.per_element = shape->perElement;
        made.index = elementOf(memory[0].getElementType()), made.result = elementOf(memory.back().getElementType());
        result.library.Set(made);
        return std::move(result);
      }
    } else if (isa_and_present<graph::ScatterElementsOp>(op)) {
      if (auto into = findScatterIntoShape(op, memory)) {
        const ScatterShape &shape = into->shape;
        plan::ScatterIntoT made;
        made.kind = (plan::ScatterKind)into->kind;
        made.outer = shape.outer, made.distinct = shape.distinct, made.indices = shape.indices;
        made.rows = shape.rows, made.width = shape.width, made.per_element = shape.perElement;
        made.index = elementOf(memory[1].getElementType()), made.element = elementOf(memory.back().getElementType());
        result.library.Set(made);
        return std::move(result);
      }
    } else if (op && op->hasTrait<graph::Convolution>()) {
      if (auto shape = findConvolutionShape(op, memory)) {
        result.library.Set(convolutionOf(*shape));
        return std::move(result);
      }
    } else if (op && op->hasTrait<graph::MaxPool>()) {
      if (auto shape = findPoolShape(op, memory)) {
        plan::MaxPoolT made;
        made.backward = shape->backward, made.planes = shape->planes, made.dims = dimsOf(shape->dims);
        result.library.Set(std::move(made));
        return std::move(result);
      }
    } else if (op && op->hasTrait<graph::Attention>()) {
      if (auto shape = findAttentionShape(op, memory)) {
        result.library.Set(attentionOf(*shape));
        return std::move(result);
      }
    }
    return call.emitError() << "no library call supports the layouts of the operands and results of '"
                            << kernel.getName() << "'";
  }

  SymbolTable symbols;
  ViewTable &views;
  plan::PlanT &plan;
  llvm::StringMap<std::pair<unsigned, func::FuncOp>> codes; // looked up only
  std::map<std::string, unsigned> numbers;                  // looked up only
  std::vector<bool> swapped;                                // per kernel of the plan
};

} // namespace

LogicalResult xlc::fillFunctions(ModuleOp module, std::map<StringRef, unsigned> &functions, plan::PlanT &plan) {
  ViewTable views(plan);
  CallTable calls(module, views, plan);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() ||
        (function.getOps<exec::CallOp>().empty() && function.getOps<exec::CollectiveOp>().empty()))
      continue;
    functions[function.getName()] = plan.functions.size();
    auto made = std::make_unique<plan::FunctionT>();
    made->name = function.getName().str();
    made->slots = function.getNumArguments();
    for (Operation &op : function.front()) {
      if (auto collective = dyn_cast<exec::CollectiveOp>(op))
        made->calls.push_back(callOf(collective, views, plan));
      auto call = dyn_cast<exec::CallOp>(op);
      if (!call)
        continue;
      auto added = calls.add(call);
      if (failed(added))
        return failure();
      made->calls.push_back(std::move(*added));
    }
    plan.functions.push_back(std::move(made));
  }
  return success();
}

/// The programs of a purpose are those of all stages, in their order.
static LogicalResult verifyStages(ArrayRef<exec::ProgramOp> programs, dist::MeshAttr mesh) {
  for (auto [stage, each] : llvm::enumerate(programs))
    if (exec::ProgramOp program = each; program.getStage() != stage)
      return program.emitOpError() << "is number " << stage << " in the module and has stage " << program.getStage()
                                   << "; the module must have one such op for each of the " << mesh.getPp()
                                   << " stages, in ascending order";
  return success();
}

static void fillMesh(ModuleOp module, plan::PlanT &plan) {
  dist::MeshAttr mesh = dist::getMesh(module);
  plan.mesh = std::make_unique<plan::Mesh>(mesh.getPp(), mesh.getDp(), mesh.getTp(), mesh.getShards());
}

LogicalResult xlc::fillHeldStates(ModuleOp module, plan::PlanT &plan) {
  fillMesh(module, plan);
  for (exec::ProgramOp program : module.getOps<exec::ProgramOp>())
    if (failed(fillHeld(program, plan)))
      return failure();
  return success();
}

LogicalResult xlc::fillPlan(ModuleOp module, plan::PlanT &plan) {
  auto programs = module.getOps<exec::ProgramOp>();
  if (programs.empty())
    return module.emitError("the module has no exec.program to emit");
  exec::ProgramOp first = *programs.begin();
  for (graph::Purpose purpose : {graph::Purpose::train, graph::Purpose::evaluate})
    if (failed(verifyStages(exec::programsOf(module, purpose), dist::getMesh(module))))
      return failure();
  plan.views.clear(), plan.kernels.clear(), plan.functions.clear(), plan.programs.clear();
  fillMesh(module, plan);
  plan.micro_batches = first.getMicroBatches();
  std::map<StringRef, unsigned> functions;
  if (failed(fillFunctions(module, functions, plan)))
    return failure();
  for (exec::ProgramOp program : programs)
    if (failed(fillProgram(program, functions, plan)))
      return failure();
  return success();
}

std::vector<uint8_t> xlc::serializePlan(const plan::PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder;
  plan::FinishPlanBuffer(builder, plan::CreatePlan(builder, &plan));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}
