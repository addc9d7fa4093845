// See Progress.h. Results go to stdout, the bar to stderr; numbers of the log have nine digits, enough for every bit
// of a float.
#include "Progress.h"

#include "Failure.h"

#include <fmt/format.h>

#include <cmath>
#include <unistd.h>

namespace xlc::runtime {
namespace {

/// JSON has no infinities.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"; }

constexpr char clearLine[] = "\r\x1b[K";

} // namespace

Progress::Progress(const std::string &logPath, uint64_t steps)
    : logPath(logPath), log(logPath.empty() ? nullptr : std::fopen(logPath.c_str(), "w")), steps(steps),
      bar(isatty(STDERR_FILENO)) {
  if (!logPath.empty() && !log)
    throw Rejected(fmt::format("{}: error: cannot be written", logPath));
}

Progress::~Progress() { clear(); }

void Progress::checkWritten() const {
  if (std::ferror(stdout))
    throw Rejected("standard output: error: cannot be written");
  if (log && std::ferror(log.get()))
    throw Rejected(fmt::format("{}: error: cannot be written", logPath));
}

void Progress::clear() const {
  if (bar)
    fmt::print(stderr, clearLine);
}

void Progress::show(const StepResult &r) {
  clear();
  std::string shown = fmt::format("step {:>4}  loss {:<11.8g} grad norm {:<11.6g} lr {:<9.4g} {:.4g} samples/s\n",
                                  r.step, r.loss, r.norm, r.learningRate, r.samplesPerSecond);
  std::fputs(shown.c_str(), stdout);
  std::fflush(stdout); // a failure is kept until checkWritten
  if (log) {
    std::string line = fmt::format(
        "{{\"step\":{},\"loss\":{},\"grad_norm\":{},\"lr\":{},\"seconds\":{},\"samples_per_second\":{}}}\n", r.step,
        number(r.loss), number(r.norm), number(r.learningRate), number(r.seconds), number(r.samplesPerSecond));
    std::fputs(line.c_str(), log.get());
    std::fflush(log.get()); // a failure is kept until checkWritten
  }
  if (bar) {
    int filled = (int)(30 * r.step / steps);
    fmt::print(stderr, "[{:#<{}}{:.<{}}] {}/{}", "", filled, "", 30 - filled, r.step, steps);
    std::fflush(stderr);
  }
}

} // namespace xlc::runtime
