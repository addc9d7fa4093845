// The CPU as a target. Chips are the levels of x86-64; libraries are those of lib/Runtime/Cpu.
#ifndef XLC_LIB_TARGET_CPU_CPUTARGET_H
#define XLC_LIB_TARGET_CPU_CPUTARGET_H

#include "xlc/Target/Targets.h"

namespace xlc {

/// "native" and the levels of x86-64 by their names.
std::vector<std::string> listCpuChips();

/// Null for an unknown name. From now on library calls of this process use instructions up to the chip's level, because
/// the library itself reports the workspace.
std::unique_ptr<Target> makeCpuTarget(llvm::StringRef chip);

/// Examines the processor, of any level.
MachineReport examineCpu();

} // namespace xlc

#endif
