// Notices that a job hangs: no rank has begun or ended anything for too long, while some wait for others. It says who does
// not go on, and who waits.
//
// Who has not begun the first step may read files for long, and is no hang: that others wait for it is noted, once.
//
// Only time in which the watcher itself runs counts, so a job that was stopped and goes on, or one on a machine with far too
// much to do, is not taken for one that hangs.
#ifndef XLC_LIB_RUNTIME_JOB_WATCHDOG_H
#define XLC_LIB_RUNTIME_JOB_WATCHDOG_H

#include "World.h"

#include <utility>

namespace xlc::runtime {

class Watchdog {
public:
  /// `seconds`: how long nothing may happen; 0: as long as it likes. At least twenty times as long as nothing happened
  /// before, and ten times as long until the first step is done.
  Watchdog(const World &world, double seconds) : world(world), seconds(seconds) {}

  /// To be called every few hundredths of a second, with the time then in nanoseconds. What hangs, or nothing.
  std::string look(int64_t time);
  /// What a person should know and does not end the job, once; or nothing.
  std::string takeNote() { return std::exchange(note, ""); }

private:
  uint64_t countBeats() const;
  bool hasBegun() const;
  void lookBeforeSteps(double passed);
  bool isFirstStep() const;
  bool isExcused() const;
  std::string describe() const;
  std::string describeLate() const;

  const World &world;
  const double seconds;
  int64_t last = 0;
  uint64_t beats = 0;
  double quiet = 0, longest = 0; ///< seconds without a beat: now, and at most until now
  double idle = 0;               ///< likewise, before the first step
  bool isNoted = false;
  std::string note;
};

} // namespace xlc::runtime

#endif
