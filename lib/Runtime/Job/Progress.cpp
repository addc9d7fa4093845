// See Progress.h. Results go to stdout, the bar to stderr; numbers of the log have nine digits, enough for every bit
// of a float.
#include "Progress.h"

#include "Data/Data.h"
#include "Failure.h"
#include "Files/StandardStreams.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
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

/// A file that no other program writes: it is emptied only when it is locked, and stays locked until this program ends.
/// Where the file system has no locks, and for pipes, there is none.
FILE *openLog(const std::string &path, bool goesOn) {
  if (path.empty())
    return nullptr;
  auto reject = [&](const std::string &why) {
    return Rejected(fmt::format("{}: error: cannot be written: {}", path, why));
  };
  int file = open(path.c_str(), (goesOn ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0)
    throw reject(std::strerror(errno));
  struct stat info{};
  bool isRegular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  std::string why;
  if (isRegular && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    why = "another program writes its log there";
  else if (isRegular && !goesOn && ftruncate(file, 0) != 0)
    why = std::strerror(errno);
  FILE *opened = why.empty() ? fdopen(file, goesOn ? "r+" : "w") : nullptr;
  if (opened)
    return opened;
  if (why.empty())
    why = std::strerror(errno);
  close(file);
  throw reject(why);
}

/// The step of a line of the log; none where it is of something else.
std::optional<uint64_t> stepOf(std::string_view line) {
  constexpr std::string_view begin = "{\"step\":";
  uint64_t step = 0;
  if (!line.starts_with(begin))
    return std::nullopt;
  auto [end, error] = std::from_chars(line.data() + begin.size(), line.data() + line.size(), step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

/// Keeps the lines of a log up to those of step `done`, and writes on behind them. A last line that was not finished
/// goes.
void continueLog(FILE *log, uint64_t done) {
  off_t kept = 0;
  char *line = nullptr;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, log)) > 0 && line[length - 1] == '\n'; kept += length)
    if (std::optional<uint64_t> step = stepOf({line, (size_t)length}); step && *step > done)
      break;
  std::free(line);
  int file = fileno(log);
  if (std::fseek(log, 0, SEEK_SET) == 0 && ftruncate(file, kept) == 0)
    std::fseek(log, kept, SEEK_SET);
}

constexpr char clearLine[] = "\r\x1b[K";

} // namespace

Progress::Progress(const std::string &logPath, bool goesOn)
    : log(openLog(logPath, goesOn)), logged{logPath, log.get(), {}}, goesOn(goesOn), bar(isatty(STDERR_FILENO)) {}

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

void Progress::begin(const Data &data, uint64_t done, uint64_t count) {
  steps = count;
  if (log && goesOn)
    continueLog(log.get(), done);
  if (!data.tokenStream())
    return;
  const TokenStream &stream = *data.tokenStream();
  write(results, fmt::format("data: {}\n", data.describe()));
  if (log && done == 0)
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
  std::string waited =
      r.checkpointSeconds > 0 ? fmt::format(",\"checkpoint_seconds\":{}", number(r.checkpointSeconds)) : "";
  if (log)
    write(logged,
          fmt::format(
              "{{\"step\":{},\"loss\":{},\"grad_norm\":{},\"lr\":{},\"seconds\":{},\"samples_per_second\":{}{}{}}}\n",
              r.step, number(r.loss), number(r.norm), number(r.learningRate), number(r.seconds),
              number(r.samplesPerSecond), waited, scaled));
  if (bar) {
    int filled = (int)(30 * r.step / steps);
    std::fputs(fmt::format("[{:#<{}}{:.<{}}] {}/{}", "", filled, "", 30 - filled, r.step, steps).c_str(), stderr);
    std::fflush(stderr);
  }
}

} // namespace xlc::runtime
