// Detects that a job hangs: for too long, no rank has begun or ended anything, and some wait for others. It reports the
// rank that is stuck and the ranks that wait.
//
// A rank that has not begun the first step may be reading files for a long time, which is not a hang: a note reports
// once that others wait for it.
//
// Only time in which the watchdog itself runs is counted. A job that was suspended and continued, or one on an
// overloaded machine, is therefore not reported.
#ifndef XLC_LIB_RUNTIME_JOB_WATCHDOG_H
#define XLC_LIB_RUNTIME_JOB_WATCHDOG_H

#include "World.h"

#include <utility>

namespace xlc::runtime {

class Watchdog {
public:
  /// `seconds`: the permitted time without progress; 0: unlimited. The limit is at least twenty times the longest
  /// earlier time without progress, and ten times as long until the first step is done.
  Watchdog(const World &world, double seconds) : world(world), seconds(seconds) {}

  /// Must be called every few hundredths of a second, with the current time in nanoseconds. Returns a description of
  /// the hang, or nothing.
  std::string look(int64_t time);
  /// A note for the user that does not end the job, returned once; or nothing.
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
  double quiet = 0, longest = 0; ///< seconds without a beat: now, and the maximum so far
  double idle = 0;               ///< the same before the first step
  bool isNoted = false;
  std::string note;
};

} // namespace xlc::runtime

#endif
