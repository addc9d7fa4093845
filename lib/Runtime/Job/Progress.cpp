// See Progress.h. Results are written to stdout, the bar to stderr.
#include "Progress.h"

#include "Files/StandardStreams.h"

#include <fmt/format.h>

#include <cmath>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr char clearLine[] = "\r\x1b[K";

/// "1:02:03", "2:03".
std::string describeTime(double seconds) {
  auto whole = (uint64_t)std::max(seconds, 0.);
  std::string rest = fmt::format("{:02}", whole % 60);
  return whole < 3600 ? fmt::format("{}:{}", whole / 60, rest)
                      : fmt::format("{}:{:02}:{}", whole / 3600, whole / 60 % 60, rest);
}

/// `productSeconds`: of the plan.
LogRecord recordOf(const StepResult &r, uint64_t tokensOfSample, double productSeconds) {
  LogRecord record{.step = r.step, .isEvaluation = false, .fields = {}};
  record.add("loss", r.loss), record.add("grad_norm", r.norm), record.add("lr", r.learningRate);
  record.add("seconds", r.seconds), record.add("samples_per_second", r.samplesPerSecond);
  if (tokensOfSample > 0)
    record.add("tokens_per_second", r.samplesPerSecond * (double)tokensOfSample);
  if (productSeconds > 0)
    record.add("mfu", productSeconds / r.seconds);
  if (r.checkpointSeconds > 0)
    record.add("checkpoint_seconds", r.checkpointSeconds);
  if (r.scale) {
    record.add("loss_scale", r.scale->factor);
    record.addText("skipped", r.scale->isSkipped ? "true" : "false");
    record.add("skipped_steps", (double)r.scale->skipped);
  }
  return record;
}

const std::vector<std::string> &metricsOf(const Plan &plan) {
  static const std::vector<std::string> none;
  return plan.evaluation ? plan.evaluation->metrics : none;
}

} // namespace

Progress::Progress(const Plan &plan, const Options &options)
    : file(options.log, !options.resume.empty(), metricsOf(plan)), productSeconds(plan.product_seconds),
      bar(isatty(STDERR_FILENO)), showsData(!options.generate) {
  if (!options.tensorboard.empty())
    charts.emplace(options.tensorboard);
}

Progress::~Progress() { clearBar(); }

void Progress::checkWritten() const {
  results.check();
  file.check();
  if (charts)
    charts->check();
}

void clearBar() {
  if (isatty(STDERR_FILENO))
    std::fputs(clearLine, stderr);
}

void sayAboveBar(const std::string &message) {
  clearBar();
  say(message);
}

void Progress::begin(const Data &data, uint64_t before, uint64_t count) {
  done = before, steps = count;
  file.begin(done);
  if (charts)
    charts->begin(done);
  if (!data.tokenStream())
    return;
  const TokenStream &stream = *data.tokenStream();
  tokensOfSample = stream.length();
  if (showsData)
    results.write(fmt::format("data: {}\n", data.describe()));
  if (done == 0)
    file.writeLine(fmt::format("{{\"data\":{{\"rows\":{},\"row_tokens\":{},\"files\":{},\"tokens_left\":{}}}}}\n",
                               data.rows(), stream.length(), stream.fileCount(), stream.tokensLeft()));
}

void Progress::record(const LogRecord &record) {
  file.write(record);
  if (charts)
    charts->write(record);
}

void Progress::show(const StepResult &r) {
  if (bar)
    clearBar();
  std::string shown = fmt::format("step {:>4}  loss {:<11.8g} grad norm {:<11.6g} lr {:<9.4g} {:.4g} samples/s", r.step,
                                  r.loss, r.norm, r.learningRate, r.samplesPerSecond);
  if (tokensOfSample > 0)
    shown += fmt::format("  {:.4g} tokens/s", r.samplesPerSecond * (double)tokensOfSample);
  if (productSeconds > 0)
    shown += fmt::format("  mfu {:.3g} %", 100 * productSeconds / r.seconds);
  if (r.scale) {
    shown += fmt::format("  scale {:.9g}", r.scale->factor);
    if (r.scale->isSkipped)
      shown += fmt::format("  skipped, {} so far", r.scale->skipped);
  }
  results.write(shown + "\n");
  record(recordOf(r, tokensOfSample, productSeconds));
  seconds += r.seconds;
  if (bar)
    showBar(r.step);
}

void Progress::show(const EvaluationResult &result) {
  if (bar)
    clearBar();
  results.write(describe(result) + "\n");
  record(recordOf(result));
  if (!result.metrics.empty())
    lastEvaluation = fmt::format("  eval {} {:.5g}", result.metrics.front().first, result.metrics.front().second);
  if (bar)
    showBar(result.step);
}

void Progress::showBar(uint64_t step) const {
  if (steps == 0 || step <= done)
    return;
  int filled = (int)(30 * step / steps);
  double left = seconds / (double)(step - done) * (double)(steps - std::min(step, steps));
  std::fputs(fmt::format("[{:#<{}}{:.<{}}] {}/{}  {} left{}", "", filled, "", 30 - filled, step, steps,
                         describeTime(left), lastEvaluation)
                 .c_str(),
             stderr);
  std::fflush(stderr);
}

} // namespace xlc::runtime
