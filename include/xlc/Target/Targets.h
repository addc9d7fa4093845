// The table of targets. Only tools read it; the compiler is passed a target.
#ifndef XLC_TARGET_TARGETS_H
#define XLC_TARGET_TARGETS_H

#include "xlc/Target/Target.h"
#include "xlc/Target/TargetFacts.h"

namespace xlc {

struct ChipOfDevice {
  std::string chip;     ///< "sm_90"; empty: none
  std::string obstacle; ///< the reason if `chip` is empty
};

/// The components that programs of a target use, as found on this machine.
struct MachineReport {
  struct Part {
    std::string name; ///< empty: continues the previous part
    std::string what;
  };
  std::vector<Part> parts;
  std::string obstacle; ///< why programs cannot run here; empty: they can
};

struct TargetRow {
  const TargetFacts &facts;
  /// Names that `make` accepts; the first is the default.
  std::vector<std::string> (*listChips)();
  /// Null for another name. One target per process, because queries of its library may depend on the chip.
  std::unique_ptr<Target> (*make)(llvm::StringRef chip);
  /// The chip of a device, or the reason why the device does not belong to this target. Null if devices do not
  /// determine the chip.
  ChipOfDevice (*chipOf)(const Device &device);
  /// For `xlc doctor`. Starts nothing on a device.
  MachineReport (*examine)();
};

/// In the order of kTargetFacts: the first is the default.
llvm::ArrayRef<TargetRow> getTargets();

std::vector<std::string> listTargets();
/// The row with this name, or null.
const TargetRow *findTarget(llvm::StringRef name);

} // namespace xlc

#endif
