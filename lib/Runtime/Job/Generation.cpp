// See Generation.h.
#include "Generation.h"

#include "Data/StoredElements.h"
#include "Data/TokenFiles.h"
#include "Plan/Elements.h"
#include "Plan/Ranks.h"
#include "xlc/Runtime/Philox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace xlc::runtime {
namespace {

/// What random numbers are for, among those of the seed.
constexpr uint64_t drawsTokens = hashName("generate");

/// A number of [0, 1) of 53 bits, for token `index`.
double drawUniform(uint64_t seed, uint64_t index) {
  uint64_t high = drawWord(2 * index, drawsTokens, seed), low = drawWord(2 * index + 1, drawsTokens, seed);
  return (double)(high << 21 | low >> 11) * 0x1p-53;
}

const plan::InputDataT &dataOf(const Plan &plan, size_t input) { return *plan.dataset->inputs[input]; }

} // namespace

Generation::Generation(const Plan &plan, const Options &options)
    : plan(plan), choice(*options.generate), seed(options.seed.value_or(plan.seed)) {
  if (!plan.evaluation)
    throw Rejected(
        "error: --generate requires a program with an evaluation: add 'eval: {outputs: [LOGITS]}' to the spec");
  findInput();
  findLogits();
  readPrompt();
}

/// The one input of tokens: that of the stream, or the only one that has ids.
void Generation::findInput() {
  std::vector<uint32_t> streams, ids;
  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    const plan::InputT &input = *plan.inputs[i];
    if (!isOfData(input) || !input.whole_of.empty())
      continue;
    if (dataOf(plan, i).source == plan::InputSource::Tokens && input.has_limit && !input.has_ignore)
      streams.push_back(i);
    if (isInteger(input.element) && input.has_limit && !input.has_ignore && input.row_shape.size() == 1)
      ids.push_back(i);
  }
  std::vector<uint32_t> &found = streams.empty() ? ids : streams;
  if (found.size() != 1)
    throw Rejected(fmt::format("error: --generate requires a model with exactly one token input, but this model has {}",
                               found.size()));
  tokenInput = found.front(), length = plan.inputs[tokenInput]->row_shape[0];
  areBytes = plan.dataset->stream && plan.dataset->stream->type == plan::TokenType::U8;
}

/// The output that has classes for each position.
void Generation::findLogits() {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < plan.outputs.size(); ++i) {
    const plan::OutputT &output = *plan.outputs[i];
    bool has = output.element == plan::Element::F32 && !output.shape.empty() && output.shape.back() > 0 &&
               sampleElements(output) == length * output.shape.back();
    if (has)
      found.push_back(i);
  }
  if (found.size() != 1)
    throw Rejected(fmt::format("error: --generate requires exactly one output in eval.outputs with float32 logits for "
                               "{} positions, but {} outputs match",
                               length, found.size()));
  logits = found.front(), classes = plan.outputs[logits]->shape.back();
}

void Generation::readPrompt() {
  plan::TokenType type = plan.dataset->stream ? plan.dataset->stream->type : plan::TokenType::Auto;
  TokenFile file = openTokens(choice.prompt, type, Scan::All);
  if (file.tokens == 0)
    throw Rejected(fmt::format("{}: error: has no tokens; a prompt needs at least one", choice.prompt));
  uint64_t first = file.tokens - std::min(file.tokens, length), count = file.tokens - first; // what a window can hold
  std::vector<char> stored(count * bytesOf(file.type));
  file.bytes().read(file.begin + first * bytesOf(file.type), stored.size(), stored.data());
  IdRule rule(*plan.inputs[tokenInput], file.type);
  if (uint64_t bad = rule.findBad(stored.data(), count); bad < count)
    throw Rejected(
        fmt::format("{}: error: token {}: {}", choice.prompt, first + bad, rule.describe(stored.data(), bad)));
  tokens.resize(count);
  convertStored(file.type, stored.data(), count, plan::Element::I64, (char *)tokens.data());
}

/// Of an input: the window, numbers that the spec fills it with, or the numbers of samples; labels may be any.
void Generation::giveRow(uint32_t index, uint64_t number, const Take &take) const {
  const plan::InputT &input = *plan.inputs[index];
  if (!isOfData(input)) {
    giveSampleNumbers(number, 1, take);
    return;
  }
  std::vector<char> row(rowElements(input) * bytesOf(input.element));
  if (const plan::InputDataT &data = dataOf(plan, index); data.source == plan::InputSource::Fill)
    for (uint64_t i = 0; i < rowElements(input); ++i)
      putNumber(input.element, data.fill, row.data(), i);
  if (index == tokenInput)
    for (uint64_t i = 0, first = tokens.size() - std::min<uint64_t>(tokens.size(), length); first + i < tokens.size();
         ++i)
      putNumber(input.element, (double)tokens[first + i], row.data(), i);
  take(row.data(), row.size());
}

void Generation::load(uint32_t index, uint64_t, uint32_t microBatch, int rank, const Take &take) const {
  const plan::InputT &input = *plan.inputs[index];
  uint64_t dp = plan.mesh->dp(), dpIndex = (uint64_t)rank / plan.mesh->tp() % dp;
  uint64_t first = input.whole_of.empty() ? (microBatch * dp + dpIndex) * plan.micro : 0;
  for (uint64_t i = 0; i < rowsOf(plan, input); ++i)
    giveRow(index, first + i, take);
}

/// Of the first sample of a step, once.
bool Generation::takes(uint32_t output, uint64_t, uint32_t microBatch, int rank) const {
  uint64_t within = (uint64_t)rank % stageRanks(plan);
  return output == logits && microBatch == 0 && within == 0;
}

void Generation::take(uint32_t, uint64_t step, uint32_t, int, const char *samples) {
  uint64_t position = std::min<uint64_t>(tokens.size(), length) - 1;
  std::vector<float> of(classes);
  std::memcpy(of.data(), samples + position * classes * sizeof(float), classes * sizeof(float));
  Request::raise(told->generated, (step + 1) << 32 | draw(of, step));
}

/// Draws from softmax(scores / temperature): finds the uniform number among the running sums. Classes are in their
/// order, with topK in that of their scores.
uint64_t Generation::draw(const std::vector<float> &scores, uint64_t step) const {
  auto largest = std::ranges::max_element(scores);
  if (!std::isfinite(*largest) || std::ranges::any_of(scores, [](float score) { return std::isnan(score); }))
    throw NotFinite(fmt::format("the logits of generated token {} are not finite", step + 1));
  if (choice.temperature == 0)
    return (uint64_t)(largest - scores.begin());
  std::vector<uint64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  if (choice.topK > 0 && choice.topK < order.size()) {
    std::ranges::sort(order, {}, [&](uint64_t i) { return std::pair(-scores[i], i); });
    order.resize(choice.topK);
  }
  std::vector<double> sums;
  double sum = 0;
  for (uint64_t token : order)
    sums.push_back(sum += std::exp(((double)scores[token] - *largest) / choice.temperature));
  auto drawn = std::ranges::upper_bound(sums, drawUniform(seed, step) * sum);
  return order[std::min<size_t>((size_t)(drawn - sums.begin()), order.size() - 1)];
}

std::string Generation::append() {
  auto token = (uint32_t)told->generated;
  tokens.push_back(token);
  return areBytes ? std::string(1, (char)token) : fmt::format("{} ", token);
}

void Generation::run(const Turn &turn, const std::function<void(const std::string &)> &print) {
  if (turn.isFirstOfProcess)
    told = &turn.request;
  turn.fabric.meet(turn.pulse);
  bool isStopped = false;
  for (uint64_t i = 1; i <= choice.tokens && !isStopped; ++i) {
    turn.program.runStep(i);
    isStopped = turn.isStopped();
    if (turn.isFirstOfProcess)
      if (std::string text = append(); turn.rank == 0)
        print(text);
    turn.fabric.meet(turn.pulse);
  }
  if (turn.rank == 0)
    print("\n");
}

} // namespace xlc::runtime
