// See DeviceKernel.h.
#include "DeviceKernel.h"
#include "SimulatedImage.h"
#include "xlc/Lower/Lower.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace xlc;
using namespace xlc::test;

const std::vector<llvm::StringRef> &xlc::test::deviceKernels() {
#define XLC_NAME(NAME, ...) #NAME,
  static const std::vector<llvm::StringRef> names{
      XLC_SCATTER_ROWS(XLC_NAME) XLC_SCATTER_ELEMENTS(XLC_NAME) XLC_SCATTER_INTO(XLC_NAME) XLC_MAX_POOLS(XLC_NAME)
          XLC_COLUMNS(XLC_NAME) XLC_COMBINES(XLC_NAME) XLC_CONVERTS(XLC_NAME) XLC_CONDITIONS(XLC_NAME)};
#undef XLC_NAME
  return names;
}

static const SimulatedImage &getImage() {
  static std::string problem;
  static const SimulatedImage image = [] {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto code = std::make_unique<llvm::Module>("device", *context);
    auto machine = createGpuMachine(problem);
    code->setTargetTriple(machine->getTargetTriple());
    code->setDataLayout(machine->createDataLayout());
    if (llvm::failed(linkDeviceKernels(*code, deviceKernels())))
      llvm::report_fatal_error("a kernel of DeviceKernels.h is not in lib/Lower/Device");
    return SimulatedImage(std::move(code), std::move(context), problem);
  }();
  if (!problem.empty())
    llvm::report_fatal_error(llvm::StringRef(problem));
  return image;
}

std::string xlc::test::launchDevice(llvm::StringRef name, int64_t blocks,
                                    const std::vector<simulate::Operand> &operands, const void *parameters,
                                    uint64_t seed, const std::vector<simulate::Operand> &others) {
  simulate::Launch launch{getImage().find(name), blocks, runtime::kDeviceThreads, {}, operands, seed};
  for (const simulate::Operand &operand : operands)
    launch.parameters.push_back((void *)&operand.begin);
  launch.parameters.push_back(const_cast<void *>(parameters));
  launch.memory.insert(launch.memory.end(), others.begin(), others.end());
  return simulate::run(launch);
}
