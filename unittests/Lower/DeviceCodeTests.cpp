// Device code in a program's code: what is linked, what NVPTX makes of it, and what the simulated grid sees of it.
#include "DeviceKernel.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Lower/Lower.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::test;

namespace {

struct Code {
  llvm::LLVMContext context;
  std::string problem;
  std::unique_ptr<llvm::TargetMachine> machine = createGpuMachine(problem);
  llvm::Module module{"program", context};

  Code() {
    module.setTargetTriple(machine->getTargetTriple());
    module.setDataLayout(machine->createDataLayout());
  }
};

TEST(DeviceCode, LinksWhatIsNamedOnly) {
  Code code;
  ASSERT_TRUE(succeeded(linkDeviceKernels(code.module, {"xlc_scatter_rows_i32_f16", "xlc_scatter_elements_i64"})));
  std::set<StringRef> kernels;
  for (llvm::Function &function : code.module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
      kernels.insert(function.getName());
    else
      EXPECT_TRUE(function.isIntrinsic() || function.hasLocalLinkage()) << function.getName().str();
  EXPECT_EQ(kernels, (std::set<StringRef>{"xlc_scatter_rows_i32_f16", "xlc_scatter_elements_i64"}));
  EXPECT_TRUE(failed(linkDeviceKernels(code.module, {"xlc_scatter_columns"})));
}

/// Beside what a program has of its own.
TEST(DeviceCode, IsInThePtxOfAProgram) {
  DialectRegistry registry;
  registerLowerDialects(registry);
  MLIRContext context(registry);
  std::string problem;
  ScopedDiagnosticHandler diagnostics(&context, [&](Diagnostic &what) {
    problem += what.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(
      "module @kernels { func.func @own() attributes {exec.block = 32} { return } }", &context);
  OwningOpRef<ModuleOp> program = ModuleOp::create(module->getLoc());
  program->push_back(module.release());
  std::string ptx = makePtx(*program, {"xlc_scatter_elements_i64"});
  EXPECT_NE(ptx.find(".visible .entry own("), std::string::npos) << problem;
  EXPECT_NE(ptx.find(".visible .entry xlc_scatter_elements_i64("), std::string::npos);
  EXPECT_EQ(makePtx(*program).find("xlc_scatter"), std::string::npos);
  EXPECT_EQ(makePtx(*program, {"xlc_scatter_columns"}), "");
  EXPECT_EQ(problem, "no device code contains all of the kernels xlc_scatter_columns");
}

/// Entries of blocks of the size that they are launched with, without local memory.
TEST(DeviceCode, IsPtx) {
  for (StringRef name : deviceKernels()) {
    Code code;
    ASSERT_TRUE(succeeded(linkDeviceKernels(code.module, {name})));
    std::string ptx = makePtx(code.module, *code.machine);
    EXPECT_NE(ptx.find((".visible .entry " + name + "(").str()), std::string::npos) << name.str();
    EXPECT_NE(ptx.find(".reqntid 256"), std::string::npos) << name.str();
    EXPECT_NE(ptx.find(".version 7.0"), std::string::npos) << name.str();
    EXPECT_EQ(ptx.find(".local"), std::string::npos) << name.str();
    EXPECT_EQ(ptx.find("fma"), std::string::npos) << name.str();
    EXPECT_EQ(ptx.find("call"), std::string::npos) << name.str();
  }
}

/// Memory of the device is reached as such: what is not are parameters.
TEST(DeviceCode, IsSeenByTheGrid) {
  Code code;
  ASSERT_TRUE(succeeded(linkDeviceKernels(code.module, deviceKernels())));
  for (llvm::Function &function : code.module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
          pointer && pointer->getType()->getPointerAddressSpace() == 0) {
        auto *parameter = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(pointer));
        EXPECT_TRUE(parameter && parameter->hasByValAttr()) << function.getName().str();
      }
}

} // namespace
