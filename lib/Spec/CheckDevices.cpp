// What a spec says of its devices: that they are known, that there are enough, and that they do what is asked of them.
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
                 "cluster.nodes = " + Twine(*spec.nodes) + " says nothing without the devices of one");
    errors.note({}, "cluster.devices_per_node, or a cluster.device that is known by name, would do");
    return;
  }
  int64_t needed = (spec.ranks() + perNode - 1) / perNode;
  if (needed <= *spec.nodes)
    return;
  errors.error(spec.where("cluster.nodes"), "cluster.nodes = " + Twine(*spec.nodes) + " with " + Twine(perNode) +
                                                " devices each are fewer than dp * pp * tp = " + Twine(spec.ranks()) +
                                                " ranks");
  errors.note({}, Twine(needed) + " nodes would do");
}

void checkWeightGradients(Spec &spec, SpecErrors &errors) {
  if (!spec.weightsBeside)
    return;
  SpecLocation location = spec.where("runtime.weight_gradients");
  if (!spec.targetFacts().takesWeightsBeside) {
    errors.error(location, "runtime.weight_gradients: beside is for devices that compute several things at a time, " +
                               spec.targetFacts().devices + " compute one");
    errors.note({}, "runtime.weight_gradients of in_order would do, or " +
                        describeTargets(&TargetFacts::takesWeightsBeside, true));
    return;
  }
  if (!spec.device || spec.device->isCpu()) {
    errors.error(location, "runtime.weight_gradients: beside keeps memory for as long as products take on the GPU of "
                           "cluster.device, which names none");
    errors.note({}, "cluster: {device: h100} would do, for example");
  }
  if (spec.overlap == false) {
    errors.error(location, "runtime.weight_gradients: beside needs memory for what runs beside computations, which "
                           "runtime.overlap: inline does not give");
    noteIfGiven(spec, "runtime.overlap", "runtime.overlap is given here", errors);
    errors.note({}, "runtime.overlap of threads would do");
  }
}

} // namespace xlc::spec
