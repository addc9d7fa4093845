// The targets that there are, as a table: only tools read it. What compiles is given a target.
#ifndef XLC_TARGET_TARGETS_H
#define XLC_TARGET_TARGETS_H

#include "xlc/Target/Target.h"
#include "xlc/Target/TargetFacts.h"

namespace xlc {

struct ChipOfDevice {
  std::string chip;     ///< "sm_90"; empty: none
  std::string obstacle; ///< then: why
};

/// What this machine has of what programs of a target use.
struct MachineReport {
  struct Part {
    std::string name; ///< empty: more of the part before
    std::string what;
  };
  std::vector<Part> parts;
  std::string obstacle; ///< why programs cannot run here; empty: they can
};

struct TargetRow {
  const TargetFacts &facts;
  /// Names that `make` takes; the first is the default.
  std::vector<std::string> (*listChips)();
  /// Null for another name. One target per process: what its library is asked may depend on the chip.
  std::unique_ptr<Target> (*make)(llvm::StringRef chip);
  /// The chip of a device, or why it is none of this target's. Null: devices say nothing of the chip.
  ChipOfDevice (*chipOf)(const Device &device);
  /// For `xlc doctor`. Nothing is started on a device.
  MachineReport (*examine)();
};

/// In the order of kTargetFacts: the first is the default.
llvm::ArrayRef<TargetRow> getTargets();

std::vector<std::string> listTargets();
/// Null: there is none of that name.
const TargetRow *findTarget(llvm::StringRef name);

} // namespace xlc

#endif
