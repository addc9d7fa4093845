// See FusedAttention.h. Engines match a graph by its operations: the operations and their order are those of NVIDIA's
// cudnn-frontend (node/scaled_dot_product_flash_attention.h).
#include "FusedAttention.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace xlc::runtime::cudnn {

FusedAttention::FusedAttention(const Library &library, const Device &device, const std::string &name,
                               const AttentionShape &shape, int64_t bytes)
    : library(library), shape(shape), workspace(shape), type(dataTypeOf(shape.type)),
      ofScores(contiguous(shape.batch, shape.heads, shape.queries, shape.keys)),
      ofRows(contiguous(shape.batch, shape.heads, shape.queries, 1)), graph(library, device, "'" + name + "'") {
  if (shape.backward)
    buildBackward();
  else
    buildForward();
  if (std::optional<std::string> why = graph.finalize(bytes - workspace.scratch))
    throw Rejected(fmt::format("error: {}; compile with runtime: {{attention: products}}", *why));
}

Sizes FusedAttention::sizesOf(const HeadStrides &strides, int64_t heads, int64_t rows, int64_t columns) const {
  return {{shape.batch, heads, rows, columns}, {strides.batch, strides.head, strides.position, 1}};
}

Graph::Tensor FusedAttention::scaled(Graph::Tensor scores) {
  Graph::Tensor made = graph.value(ofScores);
  graph.pointwise(PointwiseMode::Multiply, scores, graph.number((float)shape.scale), made);
  return made;
}

Graph::Tensor FusedAttention::biased(Graph::Tensor scores) {
  std::optional<ConditionParameters> given = condition();
  if (!given)
    return scores;
  // As many queries as the scores, as all that the documentation shows: those that are alike are a stride of 0.
  Sizes sizes = contiguous(given->batch, given->heads, given->queries, given->keys);
  sizes.dimensions[2] = shape.queries;
  if (given->queries != shape.queries)
    sizes.strides[2] = 0;
  Graph::Tensor bias = graph.operand(sizes, DataType::F32);
  Graph::Tensor made = graph.value(ofScores);
  graph.pointwise(PointwiseMode::Add, scores, bias, made);
  return made;
}

Graph::Tensor FusedAttention::selected(Graph::Tensor scores, PointwiseMode compares, Graph::Tensor first,
                                       Graph::Tensor second) {
  constexpr size_t firstWithInfinity = 91000; // older ones want the lowest number
  float never = library.versionNumber() < firstWithInfinity ? std::numeric_limits<float>::lowest()
                                                            : -std::numeric_limits<float>::infinity();
  Graph::Tensor isSeen = graph.value(ofScores, DataType::Boolean), made = graph.value(ofScores);
  graph.pointwise(compares, first, second, isSeen, DataType::Boolean);
  graph.select(isSeen, scores, graph.number(never), made);
  return made;
}

Graph::Tensor FusedAttention::masked(Graph::Tensor scores) {
  auto index = [&](int64_t axis) {
    Graph::Tensor made = graph.value(ofScores, DataType::I32);
    graph.pointwise(PointwiseMode::Index, scores, Graph::none, made, DataType::F32, axis);
    return made;
  };
  if (!shape.causal || condition())
    return scores;
  Graph::Tensor row = index(2), column = index(3);
  scores = selected(scores, PointwiseMode::GreaterOrEqual, row, column);
  if (shape.window == 0)
    return scores;
  row = index(2), column = index(3);
  Graph::Tensor end = graph.value(ofScores);
  graph.pointwise(PointwiseMode::Add, column, graph.number((float)shape.window), end);
  return selected(scores, PointwiseMode::Greater, end, row);
}

void FusedAttention::buildForward() {
  const AttentionShape &s = shape;
  Graph::Tensor q = graph.operand(sizesOf(s.q, s.heads, s.queries, s.d), type);
  Graph::Tensor k = graph.operand(transposed(sizesOf(s.k, s.groups, s.keys, s.d)), type);
  Graph::Tensor v = graph.operand(sizesOf(s.v, s.groups, s.keys, s.e), type);
  Graph::Tensor out = graph.operand(sizesOf(s.out, s.heads, s.queries, s.e), type);
  Graph::Tensor stats = graph.operand(ofRows, DataType::F32);

  Graph::Tensor scores = graph.value(ofScores);
  graph.multiply(q, k, scores);
  scores = masked(biased(scaled(scores)));

  Graph::Tensor largest = graph.value(ofRows), less = graph.value(ofScores), exponentials = graph.value(ofScores);
  Graph::Tensor sum = graph.value(ofRows), logarithm = graph.value(ofRows), p = graph.value(ofScores, type);
  graph.reduce(ReductionOperator::Max, scores, largest);
  graph.pointwise(PointwiseMode::Subtract, scores, largest, less);
  graph.pointwise(PointwiseMode::Exp, less, exponentials);
  graph.reduce(ReductionOperator::Add, exponentials, sum);
  graph.pointwise(PointwiseMode::Log, sum, logarithm);
  graph.pointwise(PointwiseMode::Add, largest, logarithm, stats);
  graph.pointwise(PointwiseMode::Divide, exponentials, sum, p);
  graph.multiply(p, v, out);
}

void FusedAttention::buildBackward() {
  const AttentionShape &s = shape;
  Graph::Tensor q = graph.operand(sizesOf(s.q, s.heads, s.queries, s.d), type);
  Sizes ofKeys = transposed(sizesOf(s.k, s.groups, s.keys, s.d));
  Graph::Tensor k = graph.operand(ofKeys, type);
  Graph::Tensor v = graph.operand(transposed(sizesOf(s.v, s.groups, s.keys, s.e)), type);
  Graph::Tensor out = graph.operand(sizesOf(s.out, s.heads, s.queries, s.e), type);
  Graph::Tensor dout = graph.operand(sizesOf(s.dout, s.heads, s.queries, s.e), type);
  Graph::Tensor dq = graph.operand(sizesOf(s.dq, s.heads, s.queries, s.d), type);
  Graph::Tensor dk = graph.operand(sizesOf(s.dk, s.groups, s.keys, s.d), type);
  Graph::Tensor dv = graph.operand(sizesOf(s.dv, s.groups, s.keys, s.e), type);
  Graph::Tensor stats = graph.operand(ofRows, DataType::F32);
  Graph::Tensor wideDq = graph.operand(contiguous(s.batch, s.heads, s.queries, s.d), DataType::F32);
  Graph::Tensor sums = graph.operand(ofRows, DataType::F32);

  // Of each row, the sum of out dout.
  Graph::Tensor products = graph.value(contiguous(s.batch, s.heads, s.queries, s.e)), sum = graph.value(ofRows);
  graph.pointwise(PointwiseMode::Multiply, dout, out, products);
  graph.reduce(ReductionOperator::Add, products, sum);
  graph.pointwise(PointwiseMode::Multiply, sum, graph.number(1), sums);

  // p again, and dv = p^T dout. A group's gradient is the sum of its heads'.
  auto addHeads = [&](Graph::Tensor a, Graph::Tensor b, int64_t columns, Graph::Tensor to) {
    if (s.groups == s.heads)
      return graph.multiply(a, b, to);
    Graph::Tensor ofHeads = graph.value(contiguous(s.batch, s.heads, s.keys, columns), type);
    graph.multiply(a, b, ofHeads);
    graph.reduce(ReductionOperator::Add, ofHeads, to);
  };
  auto transpose = [&](Graph::Tensor x) {
    Graph::Tensor made = graph.value(transposed(ofScores), type);
    graph.reshape(x, made);
    return made;
  };
  Graph::Tensor scores = graph.value(ofScores), less = graph.value(ofScores), p = graph.value(ofScores);
  graph.multiply(q, k, scores);
  graph.pointwise(PointwiseMode::Subtract, biased(scaled(scores)), stats, less);
  graph.pointwise(PointwiseMode::Exp, masked(less), p);
  addHeads(transpose(p), dout, s.e, dv);

  // ds = scale p (dout v^T - sums), dk = ds^T q, dq = ds k
  Graph::Tensor dp = graph.value(ofScores), difference = graph.value(ofScores), weighted = graph.value(ofScores);
  graph.multiply(dout, v, dp);
  graph.pointwise(PointwiseMode::Subtract, dp, sums, difference);
  graph.pointwise(PointwiseMode::Multiply, difference, p, weighted);
  Graph::Tensor ds = scaled(weighted);
  addHeads(transpose(ds), q, s.d, dk);
  Graph::Tensor keys = graph.value(transposed(ofKeys), type);
  graph.reshape(k, keys);
  graph.multiply(ds, keys, wideDq);
  graph.pointwise(PointwiseMode::Identity, wideDq, dq);
}

void FusedAttention::run(std::span<char *const> operands, char *at, void *stream) const {
  std::array<char *, mostOperands + 4> all;
  char **end = std::ranges::copy(operands, all.begin()).out;
  *end++ = at + workspace.stats;
  if (shape.backward) {
    *end++ = at + workspace.dq;
    *end++ = at + workspace.sums;
  }
  if (condition())
    *end++ = at + workspace.bias;
  graph.run({all.begin(), end}, at + workspace.scratch, stream);
}

} // namespace xlc::runtime::cudnn
