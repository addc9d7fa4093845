// What a plan is timed for: a device with its rates, what joins devices, and the memory that no plan decides about. Known by
// name (lib/Cluster/Devices.cpp says where the figures are from), or given in the spec or a file of the user's own.
//
//   device 0 --node-- device 1 ... device 7 --network-- device 8 --node-- ...
//
// Ranks are numbered over devices, tp fastest, then dp, then pp; `devicesPerNode` of them stand in one machine.
#ifndef XLC_CLUSTER_DEVICE_H
#define XLC_CLUSTER_DEVICE_H

#include "xlc/Support/Quantity.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <string>
#include <vector>

namespace xlc {

/// The types of a product's operands that devices have rates for.
enum class ProductType { F32, BF16, F16 };

/// What one device reads from others over it.
struct Link {
  double bandwidth = 0; ///< bytes per second; 0: a message takes no time
  double latency = 0;   ///< seconds that a message takes at least
};

/// Memory of a device that is none of the arena's.
struct OutsideLine {
  std::string name; ///< "context"
  int64_t bytes = 0;
};

/// Rates are what programs reach, not what data sheets promise.
struct Device {
  std::string name;
  int64_t memory = 0;                  ///< bytes; 0: not known
  std::array<double, 3> products = {}; ///< floating-point operations per second of large ones, by ProductType
  double bandwidth = 0;                ///< bytes per second of its memory
  /// Bytes per second of its operands and its result that a product moves beside its arithmetic, by ProductType; 0: they
  /// move while it computes.
  std::array<double, 3> packing = {};
  double attention = 0;                    ///< what part of the rate of products attention reaches; 0: all
  double call = 0;                         ///< seconds that a call takes at least
  double meeting = 0;                      ///< seconds more, where several threads of a rank begin and end it together
  double crowding = 0;                     ///< seconds more of a message of more ranks than cores
  Link node, network;                      ///< to a device of the same machine, and of another one
  int64_t devicesPerNode = 0;              ///< 0: all stand in one machine
  double disk = 0;                         ///< bytes per second that one machine writes into files; 0: not known
  int64_t cores = 0;                       ///< of a CPU's machine: rates and links are those of one core; 0: no CPU
  int64_t capability = 0;                  ///< NVIDIA's compute capability times ten, 90; 0: not known
  std::vector<OutsideLine> outside;        ///< of each rank
  std::vector<OutsideLine> outsideOfPeers; ///< beside these where it has others to talk to

  double productsOf(ProductType type) const { return products[size_t(type)]; }
  bool isCpu() const { return cores > 0; }
};

/// What several lines take together.
int64_t sumOf(llvm::ArrayRef<OutsideLine> lines);

/// The devices that are known by name.
llvm::ArrayRef<Device> getDevices();

/// Null: there is none of that name.
const Device *findDevice(llvm::StringRef name);

/// The GPU of the table whose capability, and then whose memory in bytes, is closest.
const Device &findAlike(int64_t capability, int64_t memory);

/// As a file that `cluster.device` takes; of a GPU what was measured, the rest being that of the known one that is most alike.
void printDevice(const Device &device, llvm::raw_ostream &out);

/// "cpu|h100|...": their names, as a key of the spec takes them.
std::string listDeviceNames();

} // namespace xlc

#endif
