// A device that forwards all requests to another device. Derived classes observe or change some of the requests. The
// requests of a captured step would bypass them, so it does not capture steps.
#ifndef XLC_LIB_RUNTIME_DEVICE_FORWARDINGDEVICE_H
#define XLC_LIB_RUNTIME_DEVICE_FORWARDINGDEVICE_H

#include "Device.h"

namespace xlc::runtime {

class ForwardingDevice : public Device {
public:
  /// `device` outlives this object.
  explicit ForwardingDevice(Device &device) : device(device) {}

  DeviceMemory allocate(uint64_t bytes) override { return device.allocate(bytes); }
  DeviceMemory allocateAt(const SharedPlace &place, uint64_t bytes) override { return device.allocateAt(place, bytes); }
  void prepare(const plan::CallT &call) override { device.prepare(call); }
  void run(const plan::CallT &call, const CallOperands &operands) override { device.run(call, operands); }
  Mover &besideCalls() override { return device.besideCalls(); }
  void copy(const Copy &copy) override { device.copy(copy); }
  void combine(const Combination &combination) override { device.combine(combination); }
  void convert(const Conversion &conversion) override { device.convert(conversion); }
  void write(char *to, const void *from, uint64_t bytes) override { device.write(to, from, bytes); }
  void read(void *to, const char *from, uint64_t bytes) override { device.read(to, from, bytes); }
  void fill(char *to, unsigned char value, uint64_t bytes) override { device.fill(to, value, bytes); }
  void beginAction(uint64_t index) override { device.beginAction(index); }
  void endAction(uint64_t index) override { device.endAction(index); }
  void beginStep(plan::Purpose purpose) override { device.beginStep(purpose); }
  void endStep() override { device.endStep(); }
  void endSteps() override { device.endSteps(); }
  int64_t mark() override { return device.mark(); }
  int64_t timeOf(int64_t mark) override { return device.timeOf(mark); }
  std::vector<OutsideBytes> measureOutside() override { return device.measureOutside(); }
  bool runsAhead() const override { return device.runsAhead(); }
  void beginRead(unsigned slot, const char *from) override { device.beginRead(slot, from); }
  float finishRead(unsigned slot) override { return device.finishRead(slot); }

protected:
  Device &device;
};

} // namespace xlc::runtime

#endif
