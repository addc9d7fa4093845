// See HostImage.h. A kernel becomes two functions: the work of one thread, and the unpacking of its parameters.
#include "xlc/Simulate/HostImage.h"
#include "xlc/Lower/GpuAssembly.h"
#include "xlc/Simulate/Grid.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"

using namespace llvm;

namespace {

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

/// Masked accesses as branches, as NVPTX has them.
void scalarizeMasked(Module &code) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  FunctionPassManager passes;
  passes.addPass(ScalarizeMaskedMemIntrinPass());
  for (Function &function : code)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

class Rewriter {
public:
  explicit Rewriter(Module &code) : code(code), b(code.getContext()) {}

  std::string rewrite(Function &function) {
    SmallVector<Instruction *> all;
    for (Instruction &instruction : instructions(function))
      all.push_back(&instruction);
    for (Instruction *instruction : all) {
      b.SetInsertPoint(instruction);
      if (auto *load = dyn_cast<LoadInst>(instruction))
        check(load->getPointerOperand(), load->getType(), load->getAlign(), /*writes=*/false);
      else if (auto *store = dyn_cast<StoreInst>(instruction))
        check(store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(), /*writes=*/true);
      else if (auto *call = dyn_cast<CallInst>(instruction); call && call->isInlineAsm()) {
        if (StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString(); !replaceAssembly(call, text))
          return ("'" + text + "' cannot be simulated").str();
      } else if (auto *call = dyn_cast<IntrinsicInst>(instruction); call && (isUnseen(*call) || !replace(call)))
        return ("'" + call->getCalledFunction()->getName() + "' cannot be simulated").str();
    }
    return "";
  }

private:
  Value *callGrid(StringRef name, Type *result, ArrayRef<Value *> arguments) {
    SmallVector<Type *> types;
    for (Value *argument : arguments)
      types.push_back(argument->getType());
    return b.CreateCall(code.getOrInsertFunction(name, FunctionType::get(result, types, false)), arguments);
  }

  void check(Value *address, Type *type, Align alignment, bool writes) {
    unsigned space = address->getType()->getPointerAddressSpace();
    bool isShared = space == kSharedSpace;
    if ((space != kGlobalSpace && !isShared) || (!isShared && isa<GlobalVariable>(getUnderlyingObject(address))))
      return; // a constant of the module
    uint64_t bytes = code.getDataLayout().getTypeStoreSize(type);
    Value *flat = b.CreateAddrSpaceCast(address, b.getPtrTy());
    callGrid("xlc_simulated_access", b.getVoidTy(),
             {flat, b.getInt32(bytes), b.getInt32(alignment.value()), b.getInt32(writes), b.getInt32(isShared)});
  }

  /// As a GPU does it: ties to even, every NaN the same. 32 bits, of which the lower half is the result.
  Value *roundToBf16(Value *x) {
    Value *bits = b.CreateBitCast(x, b.getInt32Ty()), *parity = b.CreateAnd(b.CreateLShr(bits, 16), 1);
    Value *rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, b.getInt32(0x7fff)), parity), 16);
    return b.CreateSelect(b.CreateFCmpUNO(x, x), b.getInt32(0x7fff), rounded);
  }

  /// False where nothing is known of it.
  bool replaceAssembly(CallInst *call, StringRef text) {
    Value *value = nullptr;
    if (text == xlc::lower::kRoundOne)
      value = b.CreateTrunc(roundToBf16(call->getArgOperand(0)), b.getInt16Ty());
    else if (text == xlc::lower::kRoundTwo)
      value = b.CreateOr(b.CreateShl(roundToBf16(call->getArgOperand(0)), 16), roundToBf16(call->getArgOperand(1)));
    else
      return false;
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
    return true;
  }

  /// Whether an intrinsic touches what loads and stores of are checked.
  static bool isUnseen(const IntrinsicInst &call) {
    return isa<AnyMemIntrinsic>(call) && any_of(call.args(), [](const Use &argument) {
             auto *pointer = dyn_cast<PointerType>(argument->getType());
             return pointer &&
                    (pointer->getAddressSpace() == kGlobalSpace || pointer->getAddressSpace() == kSharedSpace);
           });
  }

  /// False where an intrinsic of a GPU has no counterpart.
  bool replace(IntrinsicInst *call) {
    Value *value = nullptr;
    switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      value = callGrid("xlc_simulated_thread", b.getInt32Ty(), {});
      break;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      value = callGrid("xlc_simulated_block", b.getInt32Ty(), {});
      break;
    case Intrinsic::nvvm_shfl_sync_bfly_i32:
    case Intrinsic::nvvm_shfl_sync_bfly_f32: {
      Value *word = b.CreateBitCast(call->getArgOperand(1), b.getInt32Ty());
      word = callGrid("xlc_simulated_exchange", b.getInt32Ty(), {word, call->getArgOperand(2)});
      value = b.CreateBitCast(word, call->getType());
      break;
    }
    case Intrinsic::nvvm_vote_ballot_sync:
      if (!isAllOnes(call->getArgOperand(0)))
        return false; // a vote of some lanes
      value = callGrid("xlc_simulated_vote", b.getInt32Ty(), {b.CreateZExt(call->getArgOperand(1), b.getInt32Ty())});
      break;
    case Intrinsic::trap:
      value = callGrid("xlc_simulated_trap", b.getVoidTy(), {});
      break;
    case Intrinsic::nvvm_bar_warp_sync:
      value = callGrid("xlc_simulated_warp_sync", b.getVoidTy(), {});
      break;
    case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
      value = callGrid("xlc_simulated_barrier", b.getVoidTy(), {});
      break;
    default:
      return !call->getCalledFunction()->getName().starts_with("llvm.nvvm.");
    }
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
    return true;
  }

  static bool isAllOnes(Value *value) {
    auto *constant = dyn_cast<ConstantInt>(value);
    return constant && constant->isMinusOne();
  }

  Module &code;
  IRBuilder<> b;
};

/// The function `kernel` was called, of simulate::Kernel's type.
void addEntry(Function &kernel) {
  Module &code = *kernel.getParent();
  std::string name = kernel.getName().str();
  kernel.setName(name + "_thread");
  kernel.setCallingConv(CallingConv::C);
  kernel.setLinkage(GlobalValue::InternalLinkage);
  SmallVector<bool> isStruct; // passed by value: what the code reads is its address
  for (Argument &argument : kernel.args())
    isStruct.push_back(argument.hasByValAttr());
  kernel.setAttributes({});
  IRBuilder<> b(code.getContext());
  auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto *entry = Function::Create(type, GlobalValue::ExternalLinkage, name, code);
  b.SetInsertPoint(BasicBlock::Create(code.getContext(), "", entry));
  SmallVector<Value *> arguments;
  for (Argument &argument : kernel.args()) {
    Value *slot = b.CreateConstInBoundsGEP1_32(b.getPtrTy(), entry->getArg(0), argument.getArgNo());
    if (isStruct[argument.getArgNo()]) {
      arguments.push_back(b.CreateLoad(b.getPtrTy(), slot));
      continue;
    }
    Type *inMemory = argument.getType()->isPointerTy() ? b.getPtrTy() : argument.getType();
    Value *value = b.CreateLoad(inMemory, b.CreateLoad(b.getPtrTy(), slot));
    arguments.push_back(argument.getType()->isPointerTy() ? b.CreateAddrSpaceCast(value, argument.getType()) : value);
  }
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

} // namespace

/// The table of kConstantsName.
static void addConstants(Module &code) {
  auto *pointer = PointerType::getUnqual(code.getContext());
  auto *count = Type::getInt64Ty(code.getContext());
  auto *entry = StructType::get(pointer, count);
  SmallVector<Constant *> entries;
  for (GlobalVariable &variable : code.globals())
    if (variable.isConstant() && variable.getAddressSpace() == kGlobalSpace)
      entries.push_back(
          ConstantStruct::get(entry, ConstantExpr::getAddrSpaceCast(&variable, pointer),
                              ConstantInt::get(count, code.getDataLayout().getTypeAllocSize(variable.getValueType()))));
  entries.push_back(Constant::getNullValue(entry));
  auto *type = ArrayType::get(entry, entries.size());
  new GlobalVariable(code, type, /*isConstant=*/true, GlobalValue::ExternalLinkage, ConstantArray::get(type, entries),
                     xlc::simulate::kConstantsName);
}

std::string xlc::simulate::makeHostImage(Module &code, const TargetMachine &machine) {
  scalarizeMasked(code);
  SmallVector<Function *> functions;
  for (Function &function : code)
    if (!function.isDeclaration())
      functions.push_back(&function);
  Rewriter rewriter(code);
  for (Function *function : functions)
    if (std::string problem = rewriter.rewrite(*function); !problem.empty())
      return problem;
  for (Function *function : functions)
    if (function->getCallingConv() == CallingConv::PTX_Kernel)
      addEntry(*function);
  addConstants(code);
  code.setTargetTriple(machine.getTargetTriple());
  code.setDataLayout(machine.createDataLayout());
  return "";
}
