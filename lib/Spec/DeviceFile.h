// A device without a known name: from the spec, or from a file of its own with the same keys.
#ifndef XLC_LIB_SPEC_DEVICEFILE_H
#define XLC_LIB_SPEC_DEVICEFILE_H

#include "Validate.h"

namespace xlc::spec {

/// Completes the description of spec.device: from the device that it is based on, or else from the defaults in
/// docs/Spec.md. Reports missing required keys at `at`.
void completeDevice(Spec &spec, SpecLocation at, SpecErrors &errors);

/// Reads spec.deviceFile into spec.device. False after a diagnostic, which names the file.
bool readDeviceFile(Spec &spec, Diagnostics &diagnostics);

} // namespace xlc::spec

#endif
