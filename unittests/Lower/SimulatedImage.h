// Code for GPUs as a host image in this process.
#ifndef XLC_UNITTESTS_LOWER_SIMULATEDIMAGE_H
#define XLC_UNITTESTS_LOWER_SIMULATEDIMAGE_H

#include "xlc/Simulate/Grid.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace xlc::test {

class SimulatedImage {
public:
  /// `problem` is what cannot be simulated, or nothing; then there are no kernels.
  SimulatedImage(std::unique_ptr<llvm::Module> code, std::unique_ptr<llvm::LLVMContext> context, std::string &problem);
  ~SimulatedImage();

  simulate::Kernel find(llvm::StringRef name) const;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace xlc::test

#endif
