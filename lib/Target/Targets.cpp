// A row for each folder beside this file.
#include "xlc/Target/Targets.h"
#include "Cpu/CpuTarget.h"

using namespace xlc;

namespace {
constexpr TargetRow targets[] = {
    {"cpu", listCpuChips, makeCpuTarget},
};
} // namespace

llvm::ArrayRef<TargetRow> xlc::getTargets() { return targets; }
