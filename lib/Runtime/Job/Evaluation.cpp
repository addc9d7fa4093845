// See Evaluation.h.
#include "Evaluation.h"

#include "Plan/Elements.h"
#include "Plan/Ranks.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>

namespace xlc::runtime {
namespace {

Judge judgeOf(const plan::EvaluationT &evaluation) {
  return Judge(evaluation.smallest, evaluation.patience, evaluation.min_delta);
}

} // namespace

Evaluation::Evaluation(const JobContext &job, const Data &data, int rank, RankMemory memory, RankTrace *trace)
    : judge(judgeOf(*job.plan.evaluation)), plan(job.plan), data(data), rank(rank), memory(memory),
      program(job, rank, *memory.device, memory.arena, trace, plan::Purpose::evaluate) {}

bool Evaluation::isDue(const Plan &plan, const RunProgress &done, uint64_t step, uint64_t rows) {
  const plan::EvaluationT &given = *plan.evaluation;
  uint64_t batch = globalBatch(plan), first = done.samples + (step - 1 - done.step) * batch;
  bool isBySteps = given.every_steps > 0 && step % given.every_steps == 0;
  return isBySteps || (given.by_epoch && first / rows != (first + batch) / rows);
}

uint64_t Evaluation::countSteps(uint64_t &left) const {
  uint64_t batch = globalBatch(plan), rows = data.rows();
  left = plan.evaluation->whole_batches ? rows % batch : 0;
  return (rows - left + batch - 1) / batch;
}

std::optional<EvaluationResult> Evaluation::run(uint64_t step, Rows which, const std::function<bool()> &isStopped) {
  auto begin = std::chrono::steady_clock::now();
  EvaluationResult result;
  result.step = step;
  uint64_t counted = countSteps(result.left), steps = counted + (which == Rows::All && result.left > 0);
  for (uint64_t i = 1; i <= steps; ++i) {
    program.runStep(i);
    if (isStopped())
      return std::nullopt;
    if (i > counted)
      break;
    bool wasFinite = std::isfinite(result.sums.loss);
    addSums(result.sums);
    if (rank == 0 && wasFinite && !std::isfinite(result.sums.loss))
      result.bad = data.findNaN(i - 1);
  }
  result.rows = data.rows() - result.left;
  std::optional<MetricAverage> average;
  if (plan.evaluation->average)
    average = (MetricAverage)*plan.evaluation->average;
  for (const std::string &name : plan.evaluation->metrics) {
    double value = valueOf(*findMetric(name), average, result.sums);
    result.metrics.emplace_back(name, value);
    if (name == plan.evaluation->judged)
      result.isBest = judge.add(step, value);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

/// Of the step that was run last.
void Evaluation::addSums(EvaluationSums &sums) const {
  for (const auto &home : programOf(plan, plan::Purpose::evaluate, rank).states) {
    const plan::StateT &row = *plan.states[home->state];
    if (row.kind != plan::StateKind::Result)
      continue;
    std::vector<char> bytes(row.elements * bytesOf(row.element));
    memory.device->read(bytes.data(), memory.arena + offsetOf(*home->place, rank, *plan.mesh), bytes.size());
    auto at = [&]<class T>(T, uint64_t i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      return value;
    };
    auto addClasses = [&](std::vector<int64_t> &to) {
      to.resize(row.elements);
      for (uint64_t i = 0; i < row.elements; ++i)
        to[i] += at(int64_t(), i);
    };
    if (row.name == kLossSumResult)
      sums.loss += at(double(), 0);
    else if (row.name == kTargetsResult)
      sums.targets += row.element == plan::Element::F64 ? at(double(), 0) : (double)at(int64_t(), 0);
    else if (row.name == kTruePositives)
      addClasses(sums.truePositives);
    else if (row.name == kFalsePositives)
      addClasses(sums.falsePositives);
    else if (row.name == kFalseNegatives)
      addClasses(sums.falseNegatives);
    else
      for (const std::string &name : plan.evaluation->metrics)
        if (Metric metric = *findMetric(name); metric.k > 0 && nameOfTop(metric.k) == row.name) {
          sums.top[metric.k] += at(int64_t(), 0);
          break;
        }
  }
}

LogRecord recordOf(const EvaluationResult &result) {
  LogRecord record{.step = result.step, .isEvaluation = true, .fields = {}};
  for (const auto &[name, value] : result.metrics)
    record.addExact(name, value);
  const EvaluationSums &sums = result.sums;
  record.addExact("rows", (double)result.rows), record.addExact("targets", sums.targets);
  for (const auto &[k, count] : sums.top)
    record.addText(nameOfTop(k), std::to_string(count));
  for (const auto &[name, all] : {std::pair(kTruePositives, &sums.truePositives),
                                  {kFalsePositives, &sums.falsePositives},
                                  {kFalseNegatives, &sums.falseNegatives}})
    if (!all->empty())
      record.addText(name, fmt::format("[{}]", fmt::join(*all, ",")));
  record.add("seconds", result.seconds);
  return record;
}

std::string describe(const EvaluationResult &result) {
  std::string text = fmt::format("eval {:>4}", result.step);
  for (const auto &[name, value] : result.metrics)
    text += fmt::format("  {} {:<.8g}", name, value);
  text += fmt::format("  ({} row{}, {:.3g} s)", result.rows, result.rows == 1 ? "" : "s", result.seconds);
  if (result.left > 0)
    text += fmt::format("; {} row{} not evaluated: fewer than a global batch", result.left,
                        result.left == 1 ? " is" : "s are");
  return text;
}

} // namespace xlc::runtime
