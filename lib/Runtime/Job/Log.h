// The log of a run: a record for each step and each evaluation, as JSON lines, or where the file's name ends in .csv as
// lines of one table. After a resume it goes on behind the records of steps that are done.
//
//     {"step":500,"loss":3.2,...}                 500,3.2,...,,
//     {"step":500,"eval":{"loss":3.3,...}}        500,,...,3.3,...       columns eval_loss, ...
#ifndef XLC_LIB_RUNTIME_JOB_LOG_H
#define XLC_LIB_RUNTIME_JOB_LOG_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// What a log has of one moment of a run.
struct LogRecord {
  /// `text`: as JSON has it. `isNumber`: also for a table and for charts; else JSON alone has it.
  struct Field {
    std::string name, text;
    bool isNumber = true;
  };
  uint64_t step = 0;
  bool isEvaluation = false;
  std::vector<Field> fields;

  /// A number with nine digits, enough for every bit of a float; JSON has no infinities.
  void add(std::string_view name, double value);
  /// With all digits of a double.
  void addExact(std::string_view name, double value);
  void addText(std::string_view name, std::string text) {
    fields.push_back({std::string(name), std::move(text), false});
  }
};

/// Lines that go to a file. A disk that is full must not end hours of training: it is said once, and at the end.
class Lines {
public:
  Lines(std::string name, FILE *file) : name(std::move(name)), file(file) {}
  void write(std::string_view text);
  /// Throws Rejected where a line could not be written.
  void check() const;

private:
  const std::string name;
  FILE *const file;
  std::string failure;
};

class Log {
public:
  /// `path` may be empty: there is no log. `goesOn`: what is in it stays, as far as `begin` says. `metrics`: those of
  /// the run's evaluations, as columns of a table. Throws Rejected where it cannot be written.
  Log(const std::string &path, bool goesOn, const std::vector<std::string> &metrics);

  /// Before the first step, `done` steps having been done before: takes records of steps that are done again away.
  void begin(uint64_t done);
  void write(const LogRecord &record);
  /// A line of JSON of something else; a table has none.
  void writeLine(const std::string &json);
  void check() const { lines.check(); }

private:
  std::string rowOf(const LogRecord &record) const;

  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  const bool isTable, goesOn;
  std::unique_ptr<FILE, Close> file;
  Lines lines;
  std::vector<std::string> columns; ///< of a table, behind the step
};

} // namespace xlc::runtime

#endif
