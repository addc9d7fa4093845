// A rank's GPU. Its arena is one allocation, and its calls are launches on the streams of their actions. The host runs
// ahead of the device and waits for it only when it reads.
#ifndef XLC_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define XLC_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "Arena.h"
#include "Combiner.h"
#include "Communicators.h"
#include "Device/Target.h"
#include "LibraryCalls.h"
#include "Marks.h"
#include "Readings.h"
#include "StepGraph.h"
#include "Streams.h"

#include <memory>
#include <optional>
#include <vector>

namespace xlc::runtime::cuda {

/// The libraries of this process.
struct Libraries {
  explicit Libraries(const std::string &folder) : driver(folder) {}
  Driver driver;
  std::optional<OpenedLibrary> products; ///< opened when the driver's version is known
  std::optional<OpenedLibrary> ncclFile; ///< only for a plan with several ranks
  std::optional<nccl::Library> nccl;
  std::optional<OpenedLibrary>
      fusingFile; ///< for a plan with attention; for one with convolutions, if the library is found
  std::optional<cudnn::Library> fusing;
  std::optional<Tuning> tuning;       ///< of --tuned
  Sharing sharing = Sharing::Private; ///< of device memory; Exportable: it is registered with NCCL
};

class CudaDevice : public Device {
public:
  CudaDevice(const Libraries &libraries, Ordinal ordinal, const DeviceSetup &setup, int rank);
  ~CudaDevice() override;

  DeviceMemory allocate(uint64_t bytes) override;
  void prepare(const plan::CallT &call) override;
  void run(const plan::CallT &call, const CallOperands &operands) override;
  Mover &besideCalls() override { return *this; }
  void write(char *to, const void *from, uint64_t bytes) override;
  void read(void *to, const char *from, uint64_t bytes) override;
  void fill(char *to, unsigned char value, uint64_t bytes) override;
  void beginStep(plan::Purpose purpose) override;
  void beginAction(uint64_t index) override { streams.beginAction(index); }
  void endAction(uint64_t index) override;
  void endStep() override;
  bool captures() const override { return true; }
  void beginCapture(unsigned slot) override;
  void endCapture() override;
  void cancelCapture() noexcept override;
  void beginReplay(unsigned slot) override;
  void replay(unsigned slot) override;
  int64_t mark() override { return marks.add(streams.current()); }
  int64_t timeOf(int64_t mark) override;
  std::vector<OutsideBytes> measureOutside() override;
  bool runsAhead() const override { return true; }
  void beginRead(unsigned slot, const char *from) override;
  float finishRead(unsigned slot) override;

  void endSteps() override;

  /// Only for a plan with several ranks: the communicators of the device.
  void setCommunicators(std::unique_ptr<Communicators> given) { others = std::move(given); }
  const Communicators &communicators() const { return *others; }
  /// Allocates separate memory for data received from other devices, for the lifetime of the device.
  char *allocateBounce(uint64_t bytes);
  Uuid uuid() const;
  std::vector<Product *> listProducts() { return libraryCalls->listProducts(); }
  /// The stream of the current action.
  Stream stream() const { return streams.current(); }

  void copy(const Copy &copy) override;
  void combine(const Combination &combination) override;
  void convert(const Conversion &conversion) override;

private:
  struct Launch {
    Function function;
    unsigned grid, block;
  };
  void load();
  char *allocate(std::vector<std::unique_ptr<Arena>> &kept, uint64_t bytes);
  void releaseGraphs();
  template <class IsOver> void watchOthersUntil(IsOver isOver) const;
  /// The bytes of device memory in use by all processes.
  uint64_t takenBytes() const;
  void launch(const plan::KernelT &kernel, const std::vector<Launch> &launches, const plan::CallT &call,
              const CallOperands &operands);

  const Driver &driver;
  const DeviceSetup setup;
  const Ordinal ordinal;
  const Sharing sharing;
  const OwnedContext context;
  const uint64_t ofContext; ///< bytes of device memory that the creation of the context takes
  uint64_t ofCode = 0;
  Streams streams;
  Marks marks;
  OwnedLibrary code;
  std::vector<std::unique_ptr<Arena>> arenas, bounces;
  Readings readings;
  OwnedEvent readEnd;
  std::unique_ptr<Communicators> others; ///< null: there is one rank
  std::unique_ptr<LibraryCalls> libraryCalls;
  std::optional<Combiner> combiner;
  std::vector<std::vector<Launch>> launches; ///< indexed as plan.kernels; empty: a library call, or not prepared
  std::vector<void *> parameters;            ///< parameters of a launch

  /// The state of the program for one purpose.
  struct Steps {
    std::array<std::optional<StepGraph>, 2> graphs; ///< by slot
    uint64_t written = 0,
             writtenInStep = 0; ///< bytes in the form that a graph stores, of this step and of the previous one
  };
  std::array<Steps, purposes> ofPurpose;
  Steps *steps = &ofPurpose.front(); ///< those of the current purpose
  StepGraph *writing = nullptr;      ///< the graph that receives the host's writes; null: they go to the device
  uint64_t ofGraphs = 0,
           takenBefore = 0; ///< bytes of device memory used by graphs; bytes in use before the last capture
};

} // namespace xlc::runtime::cuda

#endif
