// The log of a run: a record for each step and each evaluation, as JSON lines or, if the file's name ends in .csv, as
// lines of one table. A resumed run appends to the records of completed steps.
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

/// A record of the log.
struct LogRecord {
  /// `text`: in the syntax of JSON. `isNumber`: also part of tables and charts; otherwise only of JSON.
  struct Field {
    std::string name, text;
    bool isNumber = true;
  };
  uint64_t step = 0;
  bool isEvaluation = false;
  std::vector<Field> fields;

  /// Adds a number with nine digits, enough for every bit of a float; JSON has no infinities.
  void add(std::string_view name, double value);
  /// Adds a number with all digits of a double.
  void addExact(std::string_view name, double value);
  void addText(std::string_view name, std::string text) {
    fields.push_back({std::string(name), std::move(text), false});
  }
};

/// Lines of a file. A full disk must not end hours of training: the error is reported once when it occurs, and at the
/// end.
class Lines {
public:
  Lines(std::string name, FILE *file) : name(std::move(name)), file(file) {}
  void write(std::string_view text);
  /// Throws Rejected if a line could not be written.
  void check() const;

private:
  const std::string name;
  FILE *const file;
  std::string failure;
};

class Log {
public:
  /// `path` may be empty: then there is no log. `goesOn`: existing records are kept, up to the step given to `begin`.
  /// `metrics`: those of the run's evaluations, as columns of a table. Throws Rejected if the log cannot be written.
  Log(const std::string &path, bool goesOn, const std::vector<std::string> &metrics);

  /// Call before the first step, after `done` steps of earlier runs: removes records of steps that are repeated.
  void begin(uint64_t done);
  void write(const LogRecord &record);
  /// Writes a line of JSON that is not a record of a step; a table omits it.
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
  std::vector<std::string> columns; ///< of a table, after the step
};

} // namespace xlc::runtime

#endif
