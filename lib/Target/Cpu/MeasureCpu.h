// Measures the performance of this machine, as the figures of a device: for `cluster.device` of specs that are trained
// on it.
#ifndef XLC_LIB_TARGET_CPU_MEASURECPU_H
#define XLC_LIB_TARGET_CPU_MEASURECPU_H

#include "xlc/Cluster/Device.h"

namespace xlc {

/// Measures with all `cores` busy, as in training: products in the form that programs use, a sweep over memory, a task
/// for all threads of a rank, a copy from another rank. Takes some seconds; the best of several rounds counts.
Device measureCpu(int cores);

} // namespace xlc

#endif
