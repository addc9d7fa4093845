// See TestTarget.h. Addresses are those of the CPU's device with a bit that no address of a process has.
#include "TestTarget.h"

#include <vector>

namespace xlc::runtime {
namespace {

constexpr uintptr_t mark = (uintptr_t)1 << 62;

char *toDevice(const char *address) { return (char *)((uintptr_t)address | mark); }
char *toHost(const char *address) {
  if (address && !((uintptr_t)address & mark))
    throw std::invalid_argument("an address that is not of this device");
  return (char *)((uintptr_t)address & ~mark);
}

DeviceCounts *counted;

class CountingDevice final : public Device {
public:
  CountingDevice(std::unique_ptr<Device> cpu, DeviceCounts &counts) : cpu(std::move(cpu)), counts(counts) {}

  DeviceMemory allocate(uint64_t bytes) override {
    ++counts.allocate;
    DeviceMemory memory = cpu->allocate(bytes);
    return {toDevice(memory.begin), memory.bytes};
  }
  void prepare(const plan::CallT &call) override {
    ++counts.prepare;
    cpu->prepare(call);
  }
  void run(const plan::CallT &call, const CallOperands &operands) override {
    ++counts.run;
    std::vector<char *> here;
    for (size_t i = 0; i < call.ins.size() + call.outs.size(); ++i)
      here.push_back(toHost(operands.addresses[i]));
    cpu->run(call, {here.data(), operands.accumulate, toHost(operands.workspace)});
  }
  void write(char *to, const void *from, uint64_t bytes) override {
    ++counts.write;
    cpu->write(toHost(to), from, bytes);
  }
  void read(void *to, const char *from, uint64_t bytes) override {
    ++counts.read;
    cpu->read(to, toHost(from), bytes);
  }
  void fill(char *to, unsigned char value, uint64_t bytes) override {
    ++counts.fill;
    cpu->fill(toHost(to), value, bytes);
  }
  Mover &besideCalls() override { return *this; } // programs on it run inline
  void copy(const Copy &copy) override {
    ++counts.copy;
    Copy here = copy;
    here.from = toHost(copy.from), here.to = toHost(copy.to);
    cpu->copy(here);
  }
  void combine(const Combination &combination) override {
    ++counts.combine;
    std::vector<const char *> sources;
    for (const char *source : combination.sources)
      sources.push_back(toHost(source));
    Combination here = combination;
    here.sources = sources, here.to = toHost(combination.to);
    std::vector<char *> copies;
    for (char *copy : combination.copies)
      copies.push_back(toHost(copy));
    here.copies = copies;
    cpu->combine(here);
  }
  void convert(const Conversion &conversion) override {
    Conversion here = conversion;
    here.from = toHost(conversion.from), here.to = toHost(conversion.to);
    cpu->convert(here);
  }

private:
  const std::unique_ptr<Device> cpu;
  DeviceCounts &counts;
};

} // namespace

const Target &countingTarget(DeviceCounts &counts) {
  static const Target target = [] {
    Target made = linkedTarget();
    made.makeDevice = [](const DeviceSetup &setup, int rank) -> std::unique_ptr<Device> {
      return std::make_unique<CountingDevice>(linkedTarget().makeDevice(setup, rank), *counted);
    };
    return made;
  }();
  counted = &counts;
  return target;
}

} // namespace xlc::runtime
