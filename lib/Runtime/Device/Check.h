// --check: makes a program that touches memory it has no business with fail, or at least learn NaN.
//
// What is not live is poisoned: the arena at the start, a buffer after its last action, a place when it is released.
// Each call runs on a second, poisoned image of the arena that holds nothing but its operands; what it wrote is copied
// back, and anything else that changed is an error.
#ifndef XLC_LIB_RUNTIME_DEVICE_CHECK_H
#define XLC_LIB_RUNTIME_DEVICE_CHECK_H

#include "Cpu/Arena.h"
#include "Plan/Ranks.h"

#include <functional>
#include <vector>

namespace xlc::runtime {

/// Every byte of poison; four of them are a NaN, eight the integer -1.
constexpr unsigned char poison = 0xff;

class Checker {
public:
  Checker(const Plan &plan, int rank, char *arena);

  /// Runs a call on the image. `operands` are addresses in the arena, ins then outs; `run` gets those in the image.
  void runCall(const plan::CallT &call, char *const *operands, char *workspace,
               const std::function<void(char *const *operands, char *workspace)> &run);

  /// Poisons what dies with action `index`.
  void endAction(uint64_t index);
  void release(const plan::Place &place, uint64_t bytes);

  /// Throws where a call of this step wrote somewhere unnoticed.
  void endStep();

private:
  /// Bytes [begin, end) of the arena.
  struct Range {
    uint64_t begin, end;
  };
  void addDying(const plan::BufferT &buffer);
  void expectPoison(uint64_t begin, uint64_t end, const plan::CallT &call) const;
  void checkAround(const std::vector<Range> &touched, const plan::CallT &call) const;

  const Plan &plan;
  const plan::ProgramT &program;
  const int rank;
  char *const arena;
  uint64_t imageBytes = 0;
  Arena image;
  std::vector<std::vector<Range>> dying; ///< what no buffer needs any more, by action
};

} // namespace xlc::runtime

#endif
