// The table of devices. Data sheets give peak rates; programs reach a fraction of them, and the rates here include that
// fraction.
//
//   products    0.81 of the dense peak, 0.75 of that of float32: large cuBLAS products on H100 reach 798 of 989 TFLOP/s
//   load        of these rates of 16-bit types, within a step: 0.89 on H100. GPT-2 124M takes 121.6 ms, its kernels run
//               one by one take 110, of which products and attention 88.6, with 0.8 between kernels (docs/Device.md).
//               The rest is attributed to the clock, which drops under load. H200 has the same chip. Whole steps of
//               MPT-13B with 1024 tokens reach 0.79 of the peak on eight A100s, recomputation counted (HFU), and 0.59
//               on H100s (github.com/mosaicml/llm-foundry, scripts/train/benchmarking), so A100 has 1
//   bandwidth   0.90 of the peak: copies on H100 and H200 reach 3.0 and 4.3 TB/s of 3.35 and 4.8
//   node        0.82 of NVLink's rate in one direction, half of the rate that data sheets give: NCCL reaches 370
//               of 450 GB/s on H100 (github.com/NVIDIA/nccl-tests, issue 212)
//   network     0.90 of one adapter for each device, as in NVIDIA's DGX systems of that generation; Titans: 10 Gbit/s
//   memory      the size that nvidia-smi reports, which excludes the memory reserved by the driver
//   context     the memory of a process before it loads anything: measured on H100 with a driver of CUDA 13.0
//               (docs/Device.md); others with kernels loaded lazily, since CUDA 11.7 (pytorch issue 107667)
//   libraries   the program's code, cuBLASLt 13 and cuDNN 9.14: 368 to 434 MiB, also measured there
//   nccl        NCCL 2.28 of a rank with one peer, over sockets: two ranks use 388 to 455 MiB each beyond twice those
//               368 MiB, also measured there
//
// Peaks are those of the data sheets "NVIDIA H100/H200 Tensor Core GPU" (SXM), "NVIDIA A100" (SXM4), "NVIDIA V100"
// (SXM2, 32 GB) and "NVIDIA Titan RTX". Chips before Ampere have no bfloat16: its rate is that of float32. The latency
// of a message is that of a small collective of NCCL within and across machines.
#include "xlc/Cluster/Device.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace xlc;

namespace {

constexpr int64_t kMiB = int64_t(1) << 20;
constexpr double kTera = 1e12, kGiga = 1e9, kMicrosecond = 1e-6;

/// In units of data sheets: MiB, TFLOP/s, GB/s.
struct Peak {
  const char *name;
  int64_t memory;
  double f32, bf16, f16, load, bandwidth, nvlink, network;
  int64_t devicesPerNode, context, capability;
};

Device reach(const Peak &peak) {
  constexpr double ofProducts = 0.81, ofF32 = 0.75, ofCopies = 0.9, ofNode = 0.82, ofNetwork = 0.9;
  // On an H100, GPT-2 124M, 64 x 1024 in bf16: products of its layers took 46 ms for 33.4 TFLOP and 58 GB, attention 17 ms
  // for 4.3 TFLOP (docs/Device.md).
  constexpr double ofAttention = 0.32, ofPacking = 4.5;
  Device device;
  device.name = peak.name;
  device.memory = peak.memory * kMiB;
  const double ofNarrow = ofProducts * peak.load;
  double bf16 = peak.bf16 > 0 ? ofNarrow * peak.bf16 : ofF32 * peak.f32;
  device.products = {ofF32 * peak.f32 * kTera, bf16 * kTera, ofNarrow * peak.f16 * kTera};
  device.bandwidth = ofCopies * peak.bandwidth * kGiga;
  device.packing.fill(ofPacking * device.bandwidth);
  device.attention = ofAttention;
  device.call = 3 * kMicrosecond;
  device.node = {ofNode * peak.nvlink * kGiga, 12 * kMicrosecond};
  device.network = {ofNetwork * peak.network * kGiga, 30 * kMicrosecond};
  device.devicesPerNode = peak.devicesPerNode;
  device.capability = peak.capability;
  device.outside = {{"context", peak.context * kMiB}, {"libraries", 434 * kMiB}};
  device.outsideOfPeers = {{"nccl", 455 * kMiB}};
  return device;
}

/// A server of 32 cores with AVX2 or AVX-512; `xlc calibrate` writes the figures of the machine at hand.
Device cpu() {
  Device device;
  device.name = "cpu";
  device.cores = 32;
  device.products = {100e9, 100e9, 60e9};
  device.bandwidth = 8e9;
  device.call = 0.1 * kMicrosecond;
  device.meeting = 1 * kMicrosecond;
  device.crowding = 20 * kMicrosecond;
  device.node = {4e9, 2 * kMicrosecond};
  device.network = {1.1e9, 50 * kMicrosecond};
  return device;
}

// clang-format off
constexpr Peak peaks[] = {
    //            MiB    f32   bf16   f16  load  memory  NVLink network
    {"h100",     81559,  67,   989,   989, 0.89,  3350,  450,   50,    8, 527, 90},
    {"h200",    143771,  67,   989,   989, 0.89,  4800,  450,   50,    8, 527, 90},
    {"a100-80",  81251,  19.5, 312,   312, 1,     2039,  300,   25,    8, 440, 80},
    {"a100-40",  40536,  19.5, 312,   312, 1,     1555,  300,   25,    8, 440, 80},
    {"v100-32",  32510,  15.7, 0,     125, 1,      900,  150,   12.5,  8, 320, 70},
    {"rtx-titan",24190,  16.3, 0,     130, 1,      672,   50,   1.25,  2, 280, 75},
};
// clang-format on

std::vector<Device> makeTable() {
  std::vector<Device> table = {cpu()};
  for (const Peak &peak : peaks)
    table.push_back(reach(peak));
  return table;
}

} // namespace

int64_t xlc::sumOf(ArrayRef<OutsideLine> lines) {
  Quantity sum;
  for (const OutsideLine &line : lines)
    sum += line.bytes;
  return sum.clamp();
}

ArrayRef<Device> xlc::getDevices() {
  static const std::vector<Device> table = makeTable();
  return table;
}

const Device *xlc::findDevice(StringRef name) {
  const Device *found = find_if(getDevices(), [&](const Device &device) { return device.name == name; });
  return found == getDevices().end() ? nullptr : found;
}

std::string xlc::listDeviceNames() {
  std::string names;
  for (const Device &device : getDevices())
    names += (names.empty() ? "" : "|") + device.name;
  return names;
}

const Device &xlc::findAlike(int64_t capability, int64_t memory) {
  auto distance = [&](const Device &known) {
    return std::tuple(known.isCpu(), std::abs(known.capability - capability), std::abs(known.memory - memory));
  };
  return *llvm::min_element(getDevices(), [&](const Device &a, const Device &b) { return distance(a) < distance(b); });
}

static std::string printRate(double bytes) { return llvm::formatv("{0:f2}GB", bytes / 1e9).str(); }

static std::string printProducts(const Device &device) {
  return llvm::formatv("flops: {{fp32: {0:e3}, bf16: {1:e3}, fp16: {2:e3}} # per second\n", device.products[0],
                       device.products[1], device.products[2]);
}

static void printGpu(const Device &device, llvm::raw_ostream &out) {
  out << "# For cluster.device, measured by xlc calibrate. Other values are those of `like`.\n"
      << "name: " << device.name << "\n"
      << "like: " << findAlike(device.capability, device.memory).name << "\n"
      << "memory: " << device.memory << "B\n"
      << printProducts(device) << "bandwidth: " << printRate(device.bandwidth) << " # per second\n"
      << llvm::formatv("attention: {0:e3} # of the rate of products\n", std::min(1.0, device.attention))
      << llvm::formatv("compute_capability: {0}.{1}\n", device.capability / 10, device.capability % 10);
  if (int64_t outside = sumOf(device.outside)) {
    out << "outside: " << outside << "B #";
    for (const OutsideLine &line : device.outside)
      out << " " << line.name << " " << line.bytes;
    out << "\n";
  }
}

void xlc::printDevice(const Device &device, llvm::raw_ostream &out) {
  if (!device.isCpu())
    return printGpu(device, out);
  auto rate = printRate;
  out << "# For cluster.device, measured by xlc calibrate. Rates are those of one core while all cores compute.\n"
      << "name: " << device.name << "\n"
      << "cores: " << device.cores << "\n"
      << printProducts(device) << "bandwidth: " << rate(device.bandwidth) << " # per second\n"
      << llvm::formatv("packing: {{fp32: {0}, bf16: {1}, fp16: {2}} # per second\n", rate(device.packing[0]),
                       rate(device.packing[1]), rate(device.packing[2]))
      << llvm::formatv("call: {0:e2} # seconds\n", device.call)
      << llvm::formatv("meeting: {0:e2} # seconds\n", device.meeting)
      << llvm::formatv("crowding: {0:e2} # seconds\n", device.crowding)
      << llvm::formatv("node: {{bandwidth: {0}, latency: {1:e2}}\n", rate(device.node.bandwidth), device.node.latency);
}
