// See Log.h.
#include "Log.h"

#include "Failure.h"
#include "Files/StandardStreams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr std::string_view ofEvaluation = "eval_";

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
    why = "another program is writing its log to this file";
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
std::optional<uint64_t> stepOf(std::string_view line, std::string_view begin) {
  uint64_t step = 0;
  if (!line.starts_with(begin))
    return std::nullopt;
  auto [end, error] = std::from_chars(line.data() + begin.size(), line.data() + line.size(), step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

/// Keeps the lines of a log up to those of step `done`, and writes on behind them. A last line that was not finished
/// goes. Returns whether any stays.
bool continueLog(FILE *log, uint64_t done, std::string_view begin) {
  off_t kept = 0;
  char *line = nullptr;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, log)) > 0 && line[length - 1] == '\n'; kept += length)
    if (std::optional<uint64_t> step = stepOf({line, (size_t)length}, begin); step && *step > done)
      break;
  std::free(line);
  int file = fileno(log);
  if (std::fseek(log, 0, SEEK_SET) == 0 && ftruncate(file, kept) == 0)
    std::fseek(log, kept, SEEK_SET);
  return kept > 0;
}

} // namespace

void LogRecord::add(std::string_view name, double value) {
  fields.push_back({std::string(name), std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"});
}

void LogRecord::addExact(std::string_view name, double value) {
  fields.push_back({std::string(name), std::isfinite(value) ? fmt::format("{}", value) : "null"});
}

void Lines::write(std::string_view text) {
  if (!file)
    return;
  bool isWritten = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fflush(file) == 0 && isWritten)
    return;
  int reason = errno;
  if (failure.empty())
    say(fmt::format("{}: warning: cannot be written: {}; training continues", name, std::strerror(reason)));
  failure = std::strerror(reason);
}

void Lines::check() const {
  if (!failure.empty())
    throw Rejected(fmt::format("{}: error: cannot be written: {}", name, failure));
}

Log::Log(const std::string &path, bool goesOn, const std::vector<std::string> &metrics)
    : isTable(path.ends_with(".csv")), goesOn(goesOn), file(openLog(path, goesOn)), lines(path, file.get()),
      columns{"loss", "grad_norm",          "lr",         "seconds", "samples_per_second", "tokens_per_second",
              "mfu",  "checkpoint_seconds", "loss_scale", "skipped", "skipped_steps"} {
  for (const std::string &metric : metrics)
    columns.push_back(std::string(ofEvaluation) + metric);
  if (!metrics.empty())
    for (const char *more : {"rows", "targets", "seconds"})
      columns.push_back(std::string(ofEvaluation) + more);
}

void Log::begin(uint64_t done) {
  bool isBegun = file && goesOn && continueLog(file.get(), done, isTable ? "" : "{\"step\":");
  if (file && isTable && !isBegun)
    lines.write(fmt::format("step,{}\n", fmt::join(columns, ",")));
}

std::string Log::rowOf(const LogRecord &record) const {
  std::string row = std::to_string(record.step);
  for (const std::string &column : columns) {
    std::string_view name = column;
    bool isOfEvaluation = name.starts_with(ofEvaluation);
    if (isOfEvaluation)
      name.remove_prefix(ofEvaluation.size());
    auto field = std::ranges::find(record.fields, name, &LogRecord::Field::name);
    bool isThere = isOfEvaluation == record.isEvaluation && field != record.fields.end() && field->isNumber;
    row += "," + (isThere && field->text != "null" ? field->text : "");
  }
  return row + "\n";
}

void Log::write(const LogRecord &record) {
  if (!file)
    return;
  if (isTable)
    return lines.write(rowOf(record));
  std::vector<std::string> fields;
  for (const LogRecord::Field &field : record.fields)
    fields.push_back(fmt::format("\"{}\":{}", field.name, field.text));
  std::string all = fmt::format("{}", fmt::join(fields, ","));
  lines.write(record.isEvaluation ? fmt::format("{{\"step\":{},\"eval\":{{{}}}}}\n", record.step, all)
                                  : fmt::format("{{\"step\":{},{}}}\n", record.step, all));
}

void Log::writeLine(const std::string &json) {
  if (!isTable)
    lines.write(json);
}

} // namespace xlc::runtime
