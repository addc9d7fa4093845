// The hardware that a plan is timed for: a device with its rates, the links between devices, and the memory outside the
// plan. Selected by name (lib/Cluster/Devices.cpp states the sources of the figures), or given in the spec or in a
// file.
//
//   device 0 --node-- device 1 ... device 7 --network-- device 8 --node-- ...
//
// Ranks are numbered over devices, tp fastest, then dp, then pp; a machine has `devicesPerNode` of them.
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

/// The operand types of products for which devices have rates.
enum class ProductType { F32, BF16, F16 };

/// A connection over which a device reads from others.
struct Link {
  double bandwidth = 0; ///< bytes per second; 0: a message takes no time
  double latency = 0;   ///< minimum seconds of a message
};

/// Memory of a device outside the arena.
struct OutsideLine {
  std::string name; ///< "context"
  int64_t bytes = 0;
};

/// A device. Rates are those that programs reach, not those of data sheets.
struct Device {
  std::string name;
  int64_t memory = 0;                  ///< bytes; 0: unknown
  std::array<double, 3> products = {}; ///< floating-point operations per second of large products, by ProductType
  double bandwidth = 0;                ///< bytes per second of the device's memory
  /// Bytes per second of the operands and the result of a product that are moved in addition to its arithmetic, by
  /// ProductType; 0: they are moved while it computes.
  std::array<double, 3> packing = {};
  double attention = 0;             ///< fraction of the rate of products that attention reaches; 0: all
  double call = 0;                  ///< minimum seconds of a call
  double meeting = 0;               ///< additional seconds if several threads of a rank start and end it together
  double crowding = 0;              ///< additional seconds of a message between more ranks than cores
  Link node, network;               ///< to a device of the same machine, and of another
  int64_t devicesPerNode = 0;       ///< 0: all are in one machine
  double disk = 0;                  ///< bytes per second that one machine writes to files; 0: unknown
  int64_t cores = 0;                ///< of a CPU's machine: rates and links are per core; 0: not a CPU
  int64_t capability = 0;           ///< NVIDIA's compute capability times ten, 90; 0: unknown
  std::vector<OutsideLine> outside; ///< of each rank
  std::vector<OutsideLine> outsideOfPeers; ///< in addition, if it has peers

  double productsOf(ProductType type) const { return products[size_t(type)]; }
  bool isCpu() const { return cores > 0; }
};

/// The total bytes of the lines.
int64_t sumOf(llvm::ArrayRef<OutsideLine> lines);

/// The table of devices.
llvm::ArrayRef<Device> getDevices();

/// The device with this name, or null.
const Device *findDevice(llvm::StringRef name);

/// The GPU in the table with the closest capability, and then the closest memory in bytes.
const Device &findAlike(int64_t capability, int64_t memory);

/// Prints a file that `cluster.device` accepts. For a GPU it has the measured figures; the others are those of the most
/// similar device of the table.
void printDevice(const Device &device, llvm::raw_ostream &out);

/// "cpu|h100|...": the names, as in the key of a spec.
std::string listDeviceNames();

} // namespace xlc

#endif
