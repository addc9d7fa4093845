// See Progress.h. Results go to stdout, the bar to stderr; numbers of the log have nine digits, enough for every bit
// of a float.
#include "Progress.h"

#include "Data/Data.h"
#include "Failure.h"
#include "Files/StandardStreams.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

/// JSON has no infinities.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"; }

/// A file that no other program writes: it is emptied only when it is locked, and stays locked until this program ends. Where the file
/// system has no locks, and for pipes, there is none.
FILE *openLog(const std::string &path) {
  if (path.empty())
    return nullptr;
  auto reject = [&](const std::string &why) {
    return Rejected(fmt::format("{}: error: cannot be written: {}", path, why));
  };
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0)
    throw reject(std::strerror(errno));
  struct stat info{};
  bool isRegular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  std::string why;
  if (isRegular && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    why = "another program writes its log there";
  else if (isRegular && ftruncate(file, 0) != 0)
    why = std::strerror(errno);
  FILE *opened = why.empty() ? fdopen(file, "w") : nullptr;
  if (opened)
    return opened;
  if (why.empty())
    why = std::strerror(errno);
  close(file);
  throw reject(why);
}

constexpr char clearLine[] = "\r\x1b[K";

} // namespace

Progress::Progress(const std::string &logPath, uint64_t steps)
    : log(openLog(logPath)), logged{logPath, log.get(), {}}, steps(steps), bar(isatty(STDERR_FILENO)) {}

Progress::~Progress() { clearBar(); }

void Progress::checkWritten() const {
  for (const Lines *lines : {&results, &logged})
    if (!lines->failure.empty())
      throw Rejected(fmt::format("{}: error: cannot be written: {}", lines->name, lines->failure));
}

void clearBar() {
  if (isatty(STDERR_FILENO))
    std::fputs(clearLine, stderr);
}

/// A disk that is full must not end hours of training: it is said once, and at the end.
void Progress::write(Lines &lines, const std::string &line) {
  bool isWritten = std::fputs(line.c_str(), lines.file) >= 0;
  if (std::fflush(lines.file) == 0 && isWritten)
    return;
  int reason = errno;
  if (lines.failure.empty())
    say(fmt::format("{}: warning: cannot be written: {}; training goes on", lines.name, std::strerror(reason)));
  lines.failure = std::strerror(reason);
}

void Progress::begin(const Data &data) {
  const TokenStream &stream = *data.tokenStream();
  write(results, fmt::format("data: {}\n", data.describe()));
  if (log)
    write(logged, fmt::format("{{\"data\":{{\"rows\":{},\"row_tokens\":{},\"files\":{},\"tokens_left\":{}}}}}\n",
                              data.rows(), stream.length(), stream.fileCount(), stream.tokensLeft()));
}

void Progress::show(const StepResult &r) {
  if (bar)
    clearBar();
  float norm = std::isnan(r.norm) ? std::abs(r.norm) : r.norm; // which has no sign
  std::string shown = fmt::format("step {:>4}  loss {:<11.8g} grad norm {:<11.6g} lr {:<9.4g} {:.4g} samples/s", r.step,
                                  r.loss, norm, r.learningRate, r.samplesPerSecond);
  std::string scaled;
  if (r.scale) {
    shown += fmt::format("  scale {:.9g}", r.scale->factor);
    if (r.scale->isSkipped)
      shown += fmt::format("  skipped, {} so far", r.scale->skipped);
    scaled = fmt::format(",\"loss_scale\":{},\"skipped\":{},\"skipped_steps\":{}", number(r.scale->factor),
                         r.scale->isSkipped, r.scale->skipped);
  }
  write(results, shown + "\n");
  if (log)
    write(logged,
          fmt::format(
              "{{\"step\":{},\"loss\":{},\"grad_norm\":{},\"lr\":{},\"seconds\":{},\"samples_per_second\":{}{}}}\n",
              r.step, number(r.loss), number(r.norm), number(r.learningRate), number(r.seconds),
              number(r.samplesPerSecond), scaled));
  if (bar) {
    int filled = (int)(30 * r.step / steps);
    std::fputs(fmt::format("[{:#<{}}{:.<{}}] {}/{}", "", filled, "", 30 - filled, r.step, steps).c_str(), stderr);
    std::fflush(stderr);
  }
}

} // namespace xlc::runtime
