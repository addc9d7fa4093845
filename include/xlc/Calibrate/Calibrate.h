// What the machine at hand reaches, as the figures of a device: for `cluster.device` of specs that are trained on it.
#ifndef XLC_CALIBRATE_CALIBRATE_H
#define XLC_CALIBRATE_CALIBRATE_H

#include "xlc/Cluster/Device.h"
#include "llvm/Support/raw_ostream.h"

namespace xlc {

/// Measures with all cores at work, as in training: products as programs do them, a sweep over memory, a task for all
/// threads of a rank, a copy from another rank. Takes some seconds; the best of several rounds counts. `cores`: of this machine,
/// that may be used.
Device measureCpu(int cores);

/// As a file that `cluster.device` takes.
void printDevice(const Device &device, llvm::raw_ostream &out);

} // namespace xlc

#endif
