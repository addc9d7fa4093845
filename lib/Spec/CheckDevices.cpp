// Checks the devices of a spec: that they are known, that there are enough, and that they support the requested
// features.
#include "CrossChecks.h"
#include "DeviceFile.h"

using namespace llvm;

namespace xlc::spec {

/// Completes the device, of which the spec may say its place.
void checkDevice(Spec &spec, SpecErrors &errors) {
  if (spec.deviceFile.empty()) // the file was checked when it was read
    completeDevice(spec, spec.where("cluster.device"), errors);
  if (!spec.device)
    return;
  spec.device->devicesPerNode = spec.devicesPerNode.value_or(spec.device->devicesPerNode);
  if (!spec.deviceMemory && spec.device->memory > 0)
    spec.deviceMemory = spec.device->memory;
}

void checkNodes(Spec &spec, SpecErrors &errors) {
  if (!spec.nodes)
    return;
  int64_t perNode = spec.devicesPerNode.value_or(spec.device ? spec.device->devicesPerNode : 0);
  if (perNode == 0) {
    errors.error(spec.where("cluster.nodes"),
                 "cluster.nodes = " + Twine(*spec.nodes) + " requires the number of devices per node");
    errors.note({}, "set cluster.devices_per_node, or cluster.device to the name of a known device");
    return;
  }
  int64_t needed = (spec.ranks() + perNode - 1) / perNode;
  if (needed <= *spec.nodes)
    return;
  errors.error(spec.where("cluster.nodes"), "cluster.nodes = " + Twine(*spec.nodes) + " with " + Twine(perNode) +
                                                " devices each cannot hold dp * pp * tp = " + Twine(spec.ranks()) +
                                                " ranks");
  errors.note({}, Twine(needed) + " nodes would work");
}

void checkWeightGradients(Spec &spec, SpecErrors &errors) {
  if (!spec.weightsBeside)
    return;
  SpecLocation location = spec.where("runtime.weight_gradients");
  if (!spec.targetFacts().takesWeightsBeside) {
    errors.error(location, "runtime.weight_gradients: beside is not supported on " + spec.targetFacts().devices +
                               ", which compute one operation at a time");
    errors.note({}, "set runtime.weight_gradients to in_order, or set target to " +
                        describeTargets(&TargetFacts::takesWeightsBeside, true));
    return;
  }
  if (!spec.device || spec.device->isCpu()) {
    errors.error(location, "runtime.weight_gradients: beside requires a GPU as cluster.device: its speed determines "
                           "how long operands are kept in memory");
    errors.note({}, "for example cluster: {device: h100}");
  }
  if (spec.overlap == false) {
    errors.error(location, "runtime.weight_gradients: beside requires runtime.overlap: threads, got inline");
    noteIfGiven(spec, "runtime.overlap", "runtime.overlap is given here", errors);
    errors.note({}, "set runtime.overlap to threads");
  }
}

} // namespace xlc::spec
