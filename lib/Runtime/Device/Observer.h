// An observer of running ranks: it can read the operands and results of each call and each message. `xlc verify`
// compares values there (lib/Verify/Judge.h); in a training program Job/Examination.h and Job/ParameterNorms.h read
// them.
#ifndef XLC_LIB_RUNTIME_DEVICE_OBSERVER_H
#define XLC_LIB_RUNTIME_DEVICE_OBSERVER_H

#include "Position.h"

#include <functional>

namespace xlc::runtime {

/// Called by several threads at once: ranks, and streams of a rank. Each function performs the operation by calling
/// `run` exactly once.
class Observer {
public:
  virtual ~Observer() = default;
  /// A call of a kernel that may write to `workspace` (null: no workspace).
  virtual void call(const Position &at, const char *workspace, const std::function<void()> &run) = 0;
  /// A collective within a function, or an action. `run` returns when all ranks of the group have reached it.
  virtual void exchange(const Position &at, const std::function<void()> &run) = 0;
  /// A send or a receive. `run` returns when both ranks have reached it.
  virtual void transfer(const Position &at, const std::function<void()> &run) = 0;
  /// An action of which only the end is observed.
  virtual void act(const Position &at, const std::function<void()> &run) = 0;
};

} // namespace xlc::runtime

#endif
