// The CPU as a device: an arena of mapped memory, and the threads of the rank, which run kernels and move bytes.
#ifndef XLC_LIB_RUNTIME_CPU_CPUDEVICE_H
#define XLC_LIB_RUNTIME_CPU_CPUDEVICE_H

#include "Arena.h"
#include "Device/Target.h"
#include "Kernels.h"

namespace xlc::runtime {

/// Moves bytes on the calling thread.
class SerialMover final : public Mover {
public:
  void copy(const Copy &copy) override;
  void combine(const Combination &combination) override;
  void convert(const Conversion &conversion) override;
};

class CpuDevice final : public Device {
public:
  explicit CpuDevice(const DeviceSetup &setup);

  DeviceMemory allocate(uint64_t bytes) override;
  DeviceMemory allocateAt(const SharedPlace &place, uint64_t bytes) override;
  void prepare(const plan::CallT &call) override { kernels.prepare(call); }
  void run(const plan::CallT &call, const CallOperands &operands) override { kernels.run(call, operands); }
  void write(char *to, const void *from, uint64_t bytes) override;
  void read(void *to, const char *from, uint64_t bytes) override;
  void fill(char *to, unsigned char value, uint64_t bytes) override;
  Mover &besideCalls() override { return serial; }
  void copy(const Copy &copy) override;
  void combine(const Combination &combination) override;
  void convert(const Conversion &conversion) override;

private:
  const uint64_t alignment;
  ThreadPool pool;
  SerialMover serial;
  Kernels kernels;
  std::vector<std::unique_ptr<Arena>> arenas;
};

} // namespace xlc::runtime

#endif
