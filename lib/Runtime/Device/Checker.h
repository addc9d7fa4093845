// --check: makes a program that touches memory it has no business with fail, or at least learn NaN.
//
// What is not live is poisoned: the arena at the start, a buffer after its last action, a place when it is released.
// Each call runs on a second, poisoned image of the arena that holds nothing but its operands; what it wrote is copied
// back, and anything else that changed is an error. It stands before a device and is one, so it checks any of them.
#ifndef XLC_LIB_RUNTIME_DEVICE_CHECKER_H
#define XLC_LIB_RUNTIME_DEVICE_CHECKER_H

#include "ForwardingDevice.h"
#include "Plan/Ranks.h"

#include <vector>

namespace xlc::runtime {

/// Every byte of poison; four of them are a NaN, eight the integer -1.
constexpr unsigned char poison = 0xff;

class Checker final : public ForwardingDevice {
public:
  /// Of one of the rank's programs; `arena` is memory of `device`.
  Checker(const Plan &plan, const plan::ProgramT &program, int rank, Device &device, char *arena);

  /// Runs the call on the image. Operands and workspace are addresses in the arena.
  void run(const plan::CallT &call, const CallOperands &operands) override;

  /// Poisons what dies with action `index`.
  void poisonAfter(uint64_t index);
  void release(const plan::Place &place, uint64_t bytes);

  /// Throws where a call of this step wrote somewhere unnoticed.
  void checkStep();

private:
  /// Bytes [begin, end) of the arena.
  struct Range {
    uint64_t begin, end;
  };
  void addDying(const plan::BufferT &buffer);
  bool areEqual(const char *first, const char *second, uint64_t bytes);
  uint64_t findTouched(uint64_t begin, uint64_t end);
  void expectPoison(uint64_t begin, uint64_t end, const plan::CallT &call);
  void checkAround(const std::vector<Range> &touched, const plan::CallT &call);

  const Plan &plan;
  const plan::ProgramT &program;
  const int rank;
  char *const arena, *const image;
  std::vector<std::vector<Range>> dying; ///< what no buffer needs any more, by action
  std::vector<char> block, otherBlock;   ///< of the host: what is looked at
};

} // namespace xlc::runtime

#endif
