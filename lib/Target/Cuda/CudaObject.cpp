// See CudaObject.h.
#include "CudaObject.h"
#include "../ProgramObject.h"
#include "Plan/DeviceCalls.h"
#include "Plan/Exchanges.h"
#include "Plan/Ranks.h"
#include "xlc/Lower/Lower.h"
#include "xlc/Simulate/Grid.h"
#include "xlc/Simulate/HostImage.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/xxhash.h"
#include <set>

using namespace mlir;
using namespace xlc;

/// Of the host's side: tables, and what runs on a simulated device.
static std::unique_ptr<llvm::TargetMachine> makeHost(ModuleOp module) {
  std::string reason;
  std::unique_ptr<llvm::TargetMachine> host = createMachine("x86-64", reason);
  if (!host)
    blame(Fault::User, module.emitError()) << "LLVM has no target for this machine: " << reason;
  return host;
}

static LogicalResult verifyHasCode(ModuleOp module, const plan::PlanT &plan) {
  for (const auto &kernel : plan.kernels) {
    plan::Library library = kernel->library.type;
    bool isOurs = library == plan::Library::NONE || library == plan::Library::Contract;
    if (!isOurs && runtime::deviceKernelsOf(*kernel).empty())
      return blame(Fault::User, module.emitError())
             << "programs for GPUs do not support " << plan::EnumNameLibrary(library) << " yet, but '" << kernel->name
             << "' requires it";
  }
  uint64_t mostSummed = 0;
  for (const auto &program : plan.programs)
    runtime::forEachExchange(plan, *program, [&](const plan::ExchangeT &exchange, plan::Stream) {
      if (runtime::isSummedInOrder(plan, exchange))
        mostSummed = std::max(mostSummed, runtime::groupSize(*plan.rank_groups[exchange.group]));
    });
  if (mostSummed > (uint64_t)runtime::CombineParameters::mostSources)
    return blame(Fault::User, module.emitError())
           << "programs for GPUs sum over at most " << runtime::CombineParameters::mostSources
           << " ranks in rank order, but this sum is over " << mostSummed << " ranks; set zero.reduce to step and "
           << "precision.reduce to fp32, and remove runtime.deterministic, so that NCCL computes the sum";
  return success();
}

/// Beside @kernels, each once.
static std::vector<std::string> listDeviceKernels(const plan::PlanT &plan) {
  std::set<std::string> names;
  for (const auto &kernel : plan.kernels)
    for (const std::string &name : runtime::deviceKernelsOf(*kernel))
      names.insert(name);
  for (const auto &program : plan.programs)
    runtime::forEachExchange(plan, *program, [&](const plan::ExchangeT &exchange, plan::Stream) {
      for (const std::string &name : runtime::deviceKernelsOf(plan, exchange))
        names.insert(name);
    });
  return {names.begin(), names.end()};
}

/// Cubins by NVIDIA's assembler, where there is one, of the chips that it knows: the driver then has nothing to translate.
static std::vector<GpuImage> assembleForChips(StringRef ptx, ArrayRef<std::string> chips) {
  std::vector<GpuImage> images;
  auto assembler = llvm::sys::findProgramByName("ptxas");
  if (!assembler)
    assembler = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  SmallString<128> folder;
  if (!assembler || llvm::sys::fs::createUniqueDirectory("xlc-cubins", folder))
    return images;
  llvm::scope_exit remove([&] {
    llvm::sys::fs::remove_directories(folder); // NOLINT(bugprone-unused-return-value): what stays is temporary
  });
  std::string source = (folder + "/kernels.ptx").str(), made = (folder + "/kernels.cubin").str();
  std::error_code error;
  llvm::raw_fd_ostream(source, error) << ptx;
  std::optional<StringRef> silent[] = {std::nullopt, StringRef(""), StringRef("")};
  for (const std::string &chip : chips) {
    if (error || llvm::sys::ExecuteAndWait(*assembler, {*assembler, "--gpu-name", chip, source, "-o", made},
                                           std::nullopt, silent) != 0)
      continue; // older than the chip
    if (auto cubin = llvm::MemoryBuffer::getFile(made))
      images.push_back({chip, (*cubin)->getBuffer().str()});
  }
  return images;
}

std::unique_ptr<llvm::MemoryBuffer> xlc::makeCudaObject(ModuleOp module, ArrayRef<uint8_t> plan,
                                                        ArrayRef<std::string> chips) {
  std::unique_ptr<llvm::TargetMachine> host = makeHost(module);
  if (!host)
    return nullptr;
  std::unique_ptr<plan::PlanT> unpacked(plan::GetPlan(plan.data())->UnPack());
  if (failed(verifyHasCode(module, *unpacked)))
    return nullptr;
  std::vector<std::string> names = listDeviceKernels(*unpacked);
  std::string ptx = makePtx(module, SmallVector<StringRef>(names.begin(), names.end()));
  if (ptx.empty())
    return nullptr;
  std::vector<GpuImage> images = assembleForChips(ptx, chips);
  images.push_back({"compute_80", std::move(ptx)});
  llvm::LLVMContext context;
  llvm::Module tables("tables", context);
  tables.setTargetTriple(host->getTargetTriple());
  tables.setDataLayout(host->createDataLayout());
  return makeProgramObject(tables, {{}, images, plan}, *host, module.getLoc());
}

std::unique_ptr<llvm::MemoryBuffer> xlc::makeCudaSimulatorObject(ModuleOp module, const plan::PlanT &plan) {
  std::unique_ptr<llvm::TargetMachine> host = makeHost(module);
  std::vector<std::string> deviceKernels = listDeviceKernels(plan);
  SmallVector<StringRef> names(deviceKernels.begin(), deviceKernels.end());
  std::string ptx = makePtx(module, names), problem;
  std::unique_ptr<llvm::TargetMachine> gpu = createGpuMachine(problem);
  if (!host || ptx.empty() || !gpu)
    return nullptr;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateGpuKernels(module, context, *gpu);
  if (!code || failed(linkDeviceKernels(*code, names)))
    return nullptr;
  if (std::string unknown = simulate::makeHostImage(*code, *host); !unknown.empty()) {
    module.emitError() << unknown;
    return nullptr;
  }
  llvm::Type *word = llvm::Type::getInt64Ty(context);
  auto *digest = cast<llvm::GlobalVariable>(code->getOrInsertGlobal(simulate::kDigestName, word));
  digest->setInitializer(llvm::ConstantInt::get(word, llvm::xxh3_64bits(ptx)));
  digest->setConstant(true);
  return assemble(*code, *host, module.getLoc());
}
