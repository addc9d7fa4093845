// Links the bitcode of lib/Lower/Device into a program's code. It is optimised when the compiler is built, and linked
// after the program's kernels are optimised.
#include "xlc/Lower/Lower.h"
#include "xlc/Runtime/DeviceKernels.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr unsigned char scatter[] = {
#include "Scatter.inc"
};
constexpr unsigned char scatterInto[] = {
#include "ScatterInto.inc"
};
constexpr unsigned char maxPool[] = {
#include "MaxPool.inc"
};
constexpr unsigned char columns[] = {
#include "Columns.inc"
};
constexpr unsigned char combine[] = {
#include "Combine.inc"
};
constexpr unsigned char condition[] = {
#include "Condition.inc"
};
constexpr ArrayRef<unsigned char> files[] = {scatter, scatterInto, maxPool, columns, combine, condition};

/// A file's code; its functions are for the machine that the others are for.
std::unique_ptr<llvm::Module> read(ArrayRef<unsigned char> bytes, llvm::LLVMContext &context) {
  llvm::MemoryBufferRef buffer(toStringRef(bytes), "device code");
  std::unique_ptr<llvm::Module> code = llvm::cantFail(llvm::parseBitcodeFile(buffer, context));
  for (llvm::Function &function : *code) {
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
      function.addFnAttr("nvvm.reqntid", std::to_string(runtime::kDeviceThreads) + ",1,1");
      function.addFnAttr("nvvm.minctasm", "2"); // up to 128 registers, which the assembler else spills
    }
  }
  return code;
}

} // namespace

LogicalResult xlc::linkDeviceKernels(llvm::Module &code, ArrayRef<StringRef> names) {
  size_t found = 0;
  for (ArrayRef<unsigned char> bytes : files) {
    std::unique_ptr<llvm::Module> file = read(bytes, code.getContext());
    for (StringRef name : names)
      if (llvm::Function *kernel = file->getFunction(name); kernel && !kernel->isDeclaration()) {
        code.getOrInsertFunction(name, kernel->getFunctionType()); // what is declared is needed
        ++found;
      }
    bool isWrong = llvm::Linker::linkModules(
        code, std::move(file), llvm::Linker::LinkOnlyNeeded, [&](llvm::Module &linked, const llvm::StringSet<> &added) {
          llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
            return !added.contains(value.getName()) || is_contained(names, value.getName());
          });
        });
    if (isWrong)
      return failure(); // a name is defined twice
  }
  return success(found == names.size());
}
