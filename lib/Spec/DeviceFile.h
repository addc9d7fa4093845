// A device that is not known by name: from the spec, or from a file of its own with the same keys.
#ifndef XLC_LIB_SPEC_DEVICEFILE_H
#define XLC_LIB_SPEC_DEVICEFILE_H

#include "Validate.h"

namespace xlc::spec {

/// Fills what the description of spec.device leaves open: from the device that it is like, else with what docs/Spec.md says.
/// Complains at `at` about what it must say.
void completeDevice(Spec &spec, SpecLocation at, SpecErrors &errors);

/// Reads spec.deviceFile into spec.device. False after a diagnostic, which names the file.
bool readDeviceFile(Spec &spec, Diagnostics &diagnostics);

} // namespace xlc::spec

#endif
