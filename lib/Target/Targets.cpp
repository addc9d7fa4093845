// A row for each folder beside this file.
#include "xlc/Target/Targets.h"
#include "Cpu/CpuTarget.h"
#include "Cuda/CudaTarget.h"
#include "llvm/ADT/STLExtras.h"

using namespace xlc;

namespace {
constexpr TargetRow targets[] = {
    {"cpu", listCpuChips, makeCpuTarget, nullptr},
    {"cuda", listCudaChips, makeCudaTarget, chipOfCudaDevice},
};
} // namespace

llvm::ArrayRef<TargetRow> xlc::getTargets() { return targets; }

std::vector<std::string> xlc::listTargets() {
  std::vector<std::string> names;
  for (const TargetRow &row : targets)
    names.push_back(row.name.str());
  return names;
}

const TargetRow *xlc::findTarget(llvm::StringRef name) {
  const TargetRow *row = llvm::find_if(targets, [&](const TargetRow &row) { return row.name == name; });
  return row == std::end(targets) ? nullptr : row;
}
