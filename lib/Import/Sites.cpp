// See Sites.h.
#include "Sites.h"

#include "TracedCalls.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

Sites::Sites(const Model &model, int64_t rows, bool dropsNothing, const SitesElsewhere *elsewhere)
    : rows(rows), lies(rows), isOff(dropsNothing), trains(findTraining(model)), elsewhere(elsewhere) {}

int64_t Sites::add(const NodeImport &n, ArrayRef<int64_t> shape, std::optional<double> ratio) {
  sites.push_back({n.node.name, n.node.op, ratio, shape.vec()});
  return int64_t(sites.size()) - 1;
}

/// Of a tensor of known elements.
SampleRows::Lie Sites::ofShape(int64_t site, ArrayRef<int64_t> shape) const {
  ArrayRef<int64_t> other;
  int64_t otherRows = elsewhere ? elsewhere->rows : 0;
  if (elsewhere && elsewhere->rows != rows && size_t(site) < elsewhere->sites.size())
    other = elsewhere->sites[site].shape;
  bool isComparable = other.size() == shape.size();
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool isBatch = isComparable ? other[d] != size && other[d] * rows == size * otherRows : size % rows == 0;
    if (isBatch)
      return {shard::Layout::split(int64_t(d), 1, rows), true, true};
  }
  return {};
}

/// The number of each element of a site, under the shape in which the dimension of the samples stands alone.
Value Sites::index(NodeImport &n, const SampleRows::Lie &of, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes;
  int64_t samples = -1; // the dimension of the samples
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (!of.layout.isSplit() || int64_t(d) != of.layout.dim) {
      sizes.push_back(size);
      continue;
    }
    if (of.layout.outer > 1)
      sizes.push_back(of.layout.outer);
    samples = int64_t(sizes.size());
    sizes.push_back(rows);
    if (int64_t inner = size / (of.layout.outer * rows); inner > 1)
      sizes.push_back(inner);
  }
  if (samples < 0 && rows == 1 && of.hasInput) // all of it is one sample's
    sizes.insert(sizes.begin(), 1), samples = 0;
  graph::Formula f(n.builder, n.loc, graph::Spelling::Plain);
  auto type = RankedTensorType::get(sizes, n.builder.getI64Type());
  Value index;
  auto add = [&](Value term) { index = index ? f.add(index, term) : term; };
  int64_t stride = 1;
  for (int64_t d = int64_t(sizes.size()) - 1; d >= 0; --d) {
    if (d == samples || sizes[d] == 1)
      continue;
    Value place = f.iota(sizes, d);
    add(stride == 1 ? place : f.mul(place, (double)stride));
    stride *= sizes[d];
  }
  if (samples >= 0) {
    SmallVector<int64_t> alone(sizes.size(), 1);
    alone[samples] = rows;
    Value number = f.broadcast(f.reshape(sampleInput(*n.builder.getInsertionBlock(), rows), alone), sizes);
    add(stride == 1 ? number : f.mul(number, (double)stride));
  }
  if (!index)
    index = f.number(0, type);
  return f.reshape(index, shape);
}

Value Sites::draw(NodeImport &n, int64_t site, Value like, ArrayRef<int64_t> shape, Places places) {
  SampleRows::Lie of = like ? lies.of(like) : ofShape(site, shape);
  if (!of.isKnown)
    return n.fail("draws random numbers, but the rows of the batch cannot be tracked to this node"), Value();
  graph::Formula f(n.builder, n.loc, graph::Spelling::Plain);
  Value elements = places(f, index(n, of, shape));
  auto repeat = [&](Value number) { return f.broadcast(number, shape); };
  Value key = graph::StepNumberOp::create(n.builder, n.loc, runtime::StepNumber::RandomKey);
  Value subsequence = graph::SiteOp::create(n.builder, n.loc, site);
  return graph::RandomBitsOp::create(n.builder, n.loc, elements, repeat(key), repeat(subsequence));
}
