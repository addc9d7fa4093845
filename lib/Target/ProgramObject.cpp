// See ProgramObject.h.
#include "ProgramObject.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace xlc;

namespace {

class TableWriter {
public:
  explicit TableWriter(llvm::Module &code) : code(code), context(code.getContext()) {}

  void write(const ProgramTables &tables) {
    SmallVector<llvm::Constant *> kernels(tables.kernels.begin(), tables.kernels.end()), images;
    for (const GpuImage &image : tables.images)
      images.push_back(llvm::ConstantStruct::getAnon({text(image.chip), text(image.bytes), count(image.bytes.size())}));
    auto *pointer = llvm::PointerType::getUnqual(context);
    define("xlc_kernels", llvm::ConstantArray::get(llvm::ArrayType::get(pointer, kernels.size()), kernels));
    define("xlc_kernel_count", count(kernels.size()));
    auto *image = llvm::StructType::get(context, {pointer, pointer, llvm::Type::getInt64Ty(context)});
    define("xlc_images", llvm::ConstantArray::get(llvm::ArrayType::get(image, images.size()), images));
    define("xlc_image_count", count(images.size()));
    define("xlc_plan", llvm::ConstantDataArray::get(context, tables.plan));
    define("xlc_plan_size", count(tables.plan.size()));
    define("xlc_plan_checksum", count(llvm::xxh3_64bits(tables.plan)));
  }

private:
  llvm::Constant *count(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value); }

  /// The address of bytes, behind which a zero stands.
  llvm::Constant *text(StringRef bytes) {
    llvm::GlobalVariable *variable = define("", llvm::ConstantDataArray::getString(context, bytes));
    variable->setLinkage(llvm::GlobalValue::PrivateLinkage);
    return variable;
  }

  llvm::GlobalVariable *define(StringRef name, llvm::Constant *value) {
    auto *variable = new llvm::GlobalVariable(code, value->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::ExternalLinkage, value, name);
    variable->setAlignment(llvm::Align(64));
    return variable;
  }

  llvm::Module &code;
  llvm::LLVMContext &context;
};

} // namespace

std::unique_ptr<llvm::MemoryBuffer> xlc::makeProgramObject(llvm::Module &code, const ProgramTables &tables,
                                                           llvm::TargetMachine &machine, Location loc) {
  for (llvm::Function &function : code)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  TableWriter(code).write(tables);
  return assemble(code, machine, loc);
}

std::unique_ptr<llvm::MemoryBuffer> xlc::assemble(llvm::Module &code, llvm::TargetMachine &machine, Location loc) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    blame(Fault::User, emitError(loc)) << "LLVM cannot write object files for " << machine.getTargetTriple().str();
    return nullptr;
  }
  passes.run(code);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), /*RequiresNullTerminator=*/false);
}
