// Who stands beside the ranks while they run, and sees what each call and each message reads and leaves behind.
// `xlc verify` compares values there (lib/Verify/Judge.h); in a training program Job/Examination.h and
// Job/ParameterNorms.h read them.
#ifndef XLC_LIB_RUNTIME_DEVICE_OBSERVER_H
#define XLC_LIB_RUNTIME_DEVICE_OBSERVER_H

#include "Position.h"

#include <functional>

namespace xlc::runtime {

/// Called by several threads at once: ranks, and streams of a rank. Each does its work by calling `run` once.
class Observer {
public:
  virtual ~Observer() = default;
  /// A call of a kernel that may write to `workspace` (null: it has none).
  virtual void call(const Position &at, const char *workspace, const std::function<void()> &run) = 0;
  /// A collective within a function, or an action: `run` returns when all of the group are there.
  virtual void exchange(const Position &at, const std::function<void()> &run) = 0;
  /// A send or a receive: likewise, for two.
  virtual void transfer(const Position &at, const std::function<void()> &run) = 0;
  /// An action of which there is nothing to see but its end.
  virtual void act(const Position &at, const std::function<void()> &run) = 0;
};

} // namespace xlc::runtime

#endif
