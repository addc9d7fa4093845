// The file is a mapping with the keys below `cluster.device` of the table, so that it is checked and documented by the
// same rows.
#include "DeviceFile.h"
#include "Keys.h"
#include "SpecText.h"

using namespace llvm;

namespace xlc::spec {
namespace {

/// `given`, or where it is none, `other`. Of what may be 0, less is none (kNotGiven).
template <typename Number> Number orElse(Number given, Number other) { return given > 0 ? given : other; }
double orElseTime(double given, double other) { return given >= 0 ? given : other; }

Link orElse(const Link &given, const Link &other) {
  return {orElse(given.bandwidth, other.bandwidth), orElseTime(given.latency, other.latency)};
}

void fillFrom(const Device &other, Device &device) {
  for (auto [mine, its] : zip_equal(device.products, other.products))
    mine = orElse(mine, its);
  for (auto [mine, its] : zip_equal(device.packing, other.packing))
    mine = orElse(mine, its);
  device.memory = orElse(device.memory, other.memory);
  device.bandwidth = orElse(device.bandwidth, other.bandwidth);
  device.attention = orElse(device.attention, other.attention);
  device.call = orElseTime(device.call, other.call);
  device.meeting = orElseTime(device.meeting, other.meeting);
  device.crowding = orElseTime(device.crowding, other.crowding);
  device.cores = orElse(device.cores, other.cores);
  device.capability = orElse(device.capability, other.capability);
  device.node = orElse(device.node, other.node);
  device.network = orElse(device.network, other.network);
  device.devicesPerNode = orElse(device.devicesPerNode, other.devicesPerNode);
  device.disk = orElse(device.disk, other.disk);
  if (device.outside.empty())
    device.outside = other.outside;
  if (device.outsideOfPeers.empty())
    device.outsideOfPeers = other.outsideOfPeers;
}

} // namespace

void completeDevice(Spec &spec, SpecLocation at, SpecErrors &errors) {
  if (!spec.deviceLike.empty()) {
    Device like = *findDevice(spec.deviceLike);
    spec.device ? fillFrom(like, *spec.device) : void(spec.device = like);
  }
  if (!spec.device)
    return;
  Device &device = *spec.device;
  double &f32 = device.products[size_t(ProductType::F32)];
  if (f32 <= 0 || device.bandwidth <= 0)
    errors.error(at, Twine("a device requires '") + (f32 <= 0 ? "flops.fp32" : "bandwidth") +
                         "', or 'like' with the name of a known device");
  for (double &rate : device.products)
    rate = orElse(rate, f32);
  device.call = orElseTime(device.call, 0);
  device.meeting = orElseTime(device.meeting, 0);
  device.crowding = orElseTime(device.crowding, 0);
  device.node.latency = orElseTime(device.node.latency, 0);
  device.network = orElse(device.network, device.node);
  if (device.name.empty())
    device.name = "device";
}

bool readDeviceFile(Spec &spec, Diagnostics &diagnostics) {
  Expected<std::string> text = readSpecText(spec.deviceFile);
  if (!text) {
    diagnostics.error(spec.deviceFile + ":1:1", "cannot read the device file: " + toString(text.takeError()));
    return false;
  }
  if (text->size() > kMaxFileSize) {
    diagnostics.error(spec.deviceFile + ":1:1", "a device file may have at most " + Twine(kMaxFileSize) + " bytes");
    return false;
  }
  StringRef yaml = *text;
  yaml.consume_front(kByteOrderMark);
  SpecErrors errors;
  YamlFile file = readYaml(yaml, errors);
  Checked checked = validateDevice(file.root, spec.deviceFile, errors);
  if (file.isWhole && !errors.any()) {
    if (!checked.spec.device)
      checked.spec.device = describedDevice();
    completeDevice(checked.spec, {1, 1}, errors);
  }
  errors.report(yaml, spec.deviceFile, diagnostics);
  spec.device = checked.spec.device;
  return !errors.any();
}

} // namespace xlc::spec
