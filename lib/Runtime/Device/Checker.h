// --check: makes a program that accesses memory outside its operands fail, or at least produce NaN.
//
// Memory that is not live is poisoned: the arena at the start, a buffer after its last action, a place when it is
// released. Each call runs on a second, poisoned image of the arena that holds only its operands. Its results are
// copied back, and any other change of the image is an error. The checker is a device that forwards to another device,
// so it can check any of them.
#ifndef XLC_LIB_RUNTIME_DEVICE_CHECKER_H
#define XLC_LIB_RUNTIME_DEVICE_CHECKER_H

#include "ForwardingDevice.h"
#include "Plan/Ranks.h"

#include <vector>

namespace xlc::runtime {

/// The value of each poisoned byte. Four such bytes are a NaN, eight are the integer -1.
constexpr unsigned char poison = 0xff;

class Checker final : public ForwardingDevice {
public:
  /// Checks one of the rank's programs. `arena` is memory of `device`.
  Checker(const Plan &plan, const plan::ProgramT &program, int rank, Device &device, char *arena);

  /// Runs the call on the image. Operands and workspace are addresses in the arena.
  void run(const plan::CallT &call, const CallOperands &operands) override;

  /// Poisons the memory whose last use is action `index`.
  void poisonAfter(uint64_t index);
  void release(const plan::Place &place, uint64_t bytes);

  /// Throws if a call of this step wrote outside its results and was not detected earlier.
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
  std::vector<std::vector<Range>> dying; ///< by action: memory that no buffer needs any longer
  std::vector<char> block, otherBlock;   ///< host copies of the bytes that are compared
};

} // namespace xlc::runtime

#endif
