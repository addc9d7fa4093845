// The parts of a target, which a folder of the runtime provides: its machine, its devices, and the fabric that joins
// them. A program is linked with exactly one target.
#ifndef XLC_LIB_RUNTIME_DEVICE_TARGET_H
#define XLC_LIB_RUNTIME_DEVICE_TARGET_H

#include "Device.h"
#include "Fabric/Commons.h"
#include "Fabric/Fabric.h"
#include "Fabric/Wire.h"
#include "Plan/Plan.h"
#include "xlc/Runtime/Kernel.h"

#include <atomic>

namespace xlc::runtime {

/// The resources that prepareMachine has opened for the devices of a process. Devices only read it, and it outlives
/// them.
class Machine {
public:
  virtual ~Machine() = default;
};

struct DeviceSetup {
  const Plan &plan;
  const XlcKernel *codes; ///< of the plan's kernels
  int spins;              ///< the number of polls of a waiting thread before it sleeps
  const XlcImage *images = nullptr;
  uint64_t imageCount = 0;
  Fabric *fabric = nullptr;         ///< that of the target, which devices may have to join
  bool isInline = false;            ///< actions run in the order of the program on any stream
  const Machine *machine = nullptr; ///< of prepareMachine; null: none, or not called
};

/// The connections between the ranks of this process and the others.
struct FabricSetup {
  const Plan &plan;
  int spins;            ///< as above
  Commons &commons;     ///< in which the fabric reserves its memory; the memory is provided later
  Wire *wire = nullptr; ///< to ranks on other hosts; null: all ranks share the memory of the commons and of arenas
};

/// The user's options for the libraries of this machine.
struct LibraryOptions {
  bool native = false; ///< library calls use all features of this machine, otherwise those in the plan
  /// The name and contents of a file written by --tune; an empty name: no file.
  std::string tunedName, tuned;
  bool registersMemory = false; ///< devices' memory is registered with the library of messages
  std::string folder;           ///< the only folder that is searched for libraries; empty: the linker's search path
  bool sharesDevice = false;    ///< ranks may share a device
};

/// The ranks of a job that a process runs.
struct Share {
  int first, count;
  bool hasFirst() const { return first == 0; }
};

/// Their position among the ranks of this host: `localRank` of the first, and the number of ranks on the host.
struct HostShare : Share {
  int localRank, onHost;
};

struct Target {
  /// A description of the plan's target machine: "x86-64-v3 processors".
  std::string (*describe)(const Plan &plan);

  /// Called once, before any device is created, for the ranks of this process. Returns the resources that their devices
  /// require, or null if there are none. Throws Rejected if this machine cannot run the plan with these options.
  std::unique_ptr<Machine> (*prepareMachine)(const Plan &plan, const HostShare &ranks, const LibraryOptions &libraries);

  /// Creates the device of one rank; called on the rank's thread.
  std::unique_ptr<Device> (*makeDevice)(const DeviceSetup &setup, int rank);

  /// Creates the fabric that connects the ranks of this process with those of the job.
  std::unique_ptr<Fabric> (*makeFabric)(const FabricSetup &setup);

  /// Whether the devices are the processors of this host. Then processes map each other's arenas, and child processes
  /// inherit the prepared resources of their parent. With other devices, each process prepares and accesses only its
  /// own.
  bool isHost;

  /// Runs instead of a job: times the alternatives for the plan's library calls on the first device, and prints the
  /// results. Returns the text for LibraryOptions::tuned, or nothing if `signal` requests a stop. Null: there are no
  /// alternatives.
  std::string (*tune)(const DeviceSetup &setup, const LibraryOptions &libraries,
                      const std::atomic<int> &signal) = nullptr;
};

/// The target with which this program is linked. Only the folder of that target defines it.
const Target &linkedTarget();

} // namespace xlc::runtime

#endif
