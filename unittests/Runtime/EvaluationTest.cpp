// Metrics of counts, computed by hand, and the end of a run after its evaluations, by the rule of transformers.
#include "Job/MetricValues.h"
#include "Job/TensorBoard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

using namespace xlc::runtime;

namespace {

double valueOf(const char *name, const EvaluationSums &sums, std::optional<MetricAverage> average = std::nullopt) {
  return valueOf(*findMetric(name), average, sums);
}

TEST(Metrics, HaveTheirNames) {
  EXPECT_EQ(findMetric("top5"), (Metric{MetricKind::Top, 5}));
  EXPECT_EQ(findMetric("top5")->name(), "top5");
  EXPECT_EQ(findMetric("accuracy"), (Metric{MetricKind::Accuracy, 1}));
  for (const char *none : {"", "top", "top0", "top-1", "top5x", "Loss", "bleu"})
    EXPECT_FALSE(findMetric(none)) << none;
}

TEST(Metrics, OfALossAndItsTargets) {
  EvaluationSums sums{.loss = 6, .targets = 4, .top = {{1, 1}, {5, 3}}};
  EXPECT_EQ(valueOf("loss", sums), 1.5);
  EXPECT_EQ(valueOf("perplexity", sums), std::exp(1.5));
  EXPECT_EQ(valueOf("accuracy", sums), 0.25);
  EXPECT_EQ(valueOf("top5", sums), 0.75);
}

TEST(Metrics, OfNoTargets) {
  EvaluationSums none{.top = {{1, 0}}, .truePositives = {0, 0}, .falsePositives = {0, 0}, .falseNegatives = {0, 0}};
  EXPECT_TRUE(std::isnan(valueOf("loss", none)));
  for (const char *name : {"accuracy", "precision", "recall", "f1", "matthews"})
    EXPECT_EQ(valueOf(name, none), 0) << name;
}

/// Labels 0 0 0 1 1 2, answers 0 0 1 1 2 2; class 3 never occurs.
TEST(Metrics, OfClasses) {
  EvaluationSums sums{.truePositives = {2, 1, 1, 0}, .falsePositives = {0, 1, 1, 0}, .falseNegatives = {1, 1, 0, 0}};
  using enum MetricAverage;
  EXPECT_DOUBLE_EQ(valueOf("precision", sums), (1 + 0.5 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(valueOf("recall", sums, Macro), (2. / 3 + 0.5 + 1) / 3);
  EXPECT_DOUBLE_EQ(valueOf("precision", sums, Micro), 4. / 6);
  EXPECT_DOUBLE_EQ(valueOf("recall", sums, Weighted), (3 * (2. / 3) + 2 * 0.5 + 1) / 6);
  EXPECT_DOUBLE_EQ(valueOf("precision", sums, Binary), 0.5); // of class 1
  // c s - sum p t = 4 * 6 - (2 * 3 + 2 * 2 + 2 * 1); s^2 - sum p^2 = 36 - 12; s^2 - sum t^2 = 36 - 14
  EXPECT_DOUBLE_EQ(valueOf("matthews", sums), 12 / std::sqrt(24. * 22));
}

TEST(Metrics, OfTwoClassesAreThoseOfTheSecond) {
  EvaluationSums sums{.truePositives = {5, 3}, .falsePositives = {1, 1}, .falseNegatives = {1, 1}};
  EXPECT_DOUBLE_EQ(valueOf("f1", sums), 6. / 8);
}

/// The sequences of make_early_stopping.py.
TEST(Judge, EndsWhereTransformersDoes) {
  std::ifstream file(XLC_RUNTIME_INPUTS "/early-stopping.txt");
  size_t seen = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#'))
      continue;
    std::istringstream words(line);
    std::string mode, word;
    uint64_t patience, end, best, number = 0, ended = 0;
    double threshold;
    words >> mode >> patience >> threshold;
    Judge judge(mode == "min", patience, threshold);
    while (words >> word && word != "|")
      if (ended == 0) {
        judge.add(++number, std::strtod(word.c_str(), nullptr));
        if (number % 2) { // as if it were resumed
          Judge resumed(mode == "min", patience, threshold);
          resumed.continueFrom(judge.state());
          EXPECT_EQ(resumed.state(), judge.state());
        }
        ended = judge.ends() ? number : 0;
      }
    words >> end >> best;
    EXPECT_EQ(ended, end) << line;
    EXPECT_EQ(judge.state()->bestStep, best) << line;
    ++seen;
  }
  EXPECT_EQ(seen, 1000u);
}

/// RFC 3720, B.4, and the check value of the catalogue of CRCs.
TEST(TensorBoard, HasPublishedChecksums) {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i)
    ascending += (char)i, descending += (char)(31 - i);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(crc32c(descending), 0x113fdb5cu);
  EXPECT_EQ(crc32c(""), 0u);
}

} // namespace
