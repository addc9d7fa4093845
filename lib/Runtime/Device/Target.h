// What a folder of the runtime brings to be a target: its machine, its devices, and the fabric that joins them. A program
// is linked with one.
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

/// What prepareMachine has found and opened for the devices of a process: they read it, and it outlives them.
class Machine {
public:
  virtual ~Machine() = default;
};

struct DeviceSetup {
  const Plan &plan;
  const XlcKernel *codes; ///< of the plan's kernels
  int spins;              ///< how often threads that wait look before they sleep
  const XlcImage *images = nullptr;
  uint64_t imageCount = 0;
  Fabric *fabric = nullptr;         ///< the target's, which devices of their own may have to join
  bool isInline = false;            ///< actions run in the order of the program, whatever streams they are on
  const Machine *machine = nullptr; ///< of prepareMachine; null: it has none, or was not called
};

/// What the ranks of this process meet the others through.
struct FabricSetup {
  const Plan &plan;
  int spins;            ///< as above
  Commons &commons;     ///< of which the fabric reserves what it needs, and whose memory is provided afterwards
  Wire *wire = nullptr; ///< to ranks on other hosts; null: the commons' memory, and that of arenas, is everybody's
};

/// What a user says of this machine's libraries.
struct LibraryOptions {
  bool native = false; ///< library calls use all that this machine has, otherwise what the plan says
  /// A file that --tune has written, and what is in it; without a name there is none.
  std::string tunedName, tuned;
  bool registersMemory = false; ///< devices' memory is registered with the library of messages
  std::string folder;           ///< the only one in which libraries are looked for; empty: where the linker finds them
  bool sharesDevice = false;    ///< ranks may have one device
};

/// Which ranks of a job a process runs.
struct Share {
  int first, count;
  bool hasFirst() const { return first == 0; }
};

/// And which they are of the ranks of this host: `localRank` of the first, and how many there are.
struct HostShare : Share {
  int localRank, onHost;
};

struct Target {
  /// What a plan is made for, in words: "x86-64-v3 processors".
  std::string (*describe)(const Plan &plan);

  /// Once, before any device is made, for the ranks of this process: what their devices need, or null where that is
  /// nothing. Throws Rejected where this machine cannot run the plan so.
  std::unique_ptr<Machine> (*prepareMachine)(const Plan &plan, const HostShare &ranks, const LibraryOptions &libraries);

  /// The device of one rank; called on the rank's thread.
  std::unique_ptr<Device> (*makeDevice)(const DeviceSetup &setup, int rank);

  /// What the ranks of this process meet those of the job with.
  std::unique_ptr<Fabric> (*makeFabric)(const FabricSetup &setup);

  /// Whether its devices are this host's processors: processes map each other's arenas, and what a process has prepared its
  /// children have too. Of others, each process prepares and reaches its own devices alone.
  bool isHost;

  /// Instead of a run: times what the plan's library calls may choose from, on the first device, and prints what it finds. Returns
  /// what LibraryOptions::tuned is to be, or nothing where `signal` asks it to stop. Null: there is nothing to choose.
  std::string (*tune)(const DeviceSetup &setup, const LibraryOptions &libraries,
                      const std::atomic<int> &signal) = nullptr;
};

/// The target that this program is linked with: defined in the folder of that target, and nowhere else.
const Target &linkedTarget();

} // namespace xlc::runtime

#endif
