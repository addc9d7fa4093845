// See CheckpointBytes.h.
#include "CheckpointBytes.h"

#include "Checkpoint/Writer.h"
#include "xlc/Phases/PlanOfStates.h"

using namespace xlc;

static constexpr double kCommonDisk =
    1e9; // bytes per second; docs/Spec.md has it as the default of cluster.device.disk

static int64_t devicesOfMachine(const Spec &spec) {
  int64_t ofDevice = spec.device && spec.device->devicesPerNode > 0 ? spec.device->devicesPerNode : spec.ranks();
  return spec.devicesPerNode.value_or(ofDevice);
}

std::optional<CheckpointReport> xlc::measureCheckpoint(const Compilation &compilation) {
  const Spec &spec = compilation.spec;
  std::unique_ptr<plan::PlanT> plan = spec.checkpoint ? makePlanOfStates(compilation) : nullptr;
  if (!plan)
    return std::nullopt;
  CheckpointReport report;
  int64_t ranks = spec.ranks(), perMachine = devicesOfMachine(spec), ofMachine = 0, mostOfMachine = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    runtime::WrittenBytes bytes = runtime::measureFiles(*plan, int(rank));
    uint64_t copy = plan->checkpoints->background == plan::Background::Copy     ? bytes.copy
                    : plan->checkpoints->background == plan::Background::Direct ? bytes.copyBesideUpdates
                                                                                : 0;
    report.rank = std::max(report.rank, int64_t(bytes.files)), report.copy = std::max(report.copy, int64_t(copy));
    report.files += int64_t(bytes.files);
    ofMachine = (rank % perMachine == 0 ? 0 : ofMachine) + int64_t(bytes.files);
    mostOfMachine = std::max(mostOfMachine, ofMachine);
  }
  report.disk = spec.device && spec.device->disk > 0 ? spec.device->disk : kCommonDisk;
  report.seconds = double(mostOfMachine) / report.disk;
  return report;
}
