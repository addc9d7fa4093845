// See CudnnOperations.h.
#include "CudnnOperations.h"

#include "xlc/Runtime/Narrow.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace xlc::simulate::cudnn {

using runtime::Bf16;
using runtime::Half;
using runtime::cudnn::Filter;
using runtime::cudnn::Makes;
using Index = std::array<int64_t, 4>;

namespace {

template <class Body> void forEach(const Index &dimensions, Body body) {
  Index i;
  for (i[0] = 0; i[0] < dimensions[0]; ++i[0])
    for (i[1] = 0; i[1] < dimensions[1]; ++i[1])
      for (i[2] = 0; i[2] < dimensions[2]; ++i[2])
        for (i[3] = 0; i[3] < dimensions[3]; ++i[3])
          body(i);
}

float rounded(float number, DataType type) {
  return type == DataType::BF16 ? (float)Bf16(number) : type == DataType::F16 ? (float)Half(number) : number;
}

template <class T> float load(const char *at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return (float)number;
}
template <class T> void store(char *at, float number) {
  T made(number);
  std::memcpy(at, &made, sizeof made);
}

/// All tensors of a run as floats, by id, as they lie: element `offset` of a tensor is float `offset`.
class Values {
public:
  explicit Values(const Places &places) : places(places) {}

  std::vector<float> &of(const Tensor &tensor) {
    auto [found, isNew] = all.try_emplace(tensor.id);
    if (isNew) {
      found->second.resize((size_t)tensor.extent());
      if (auto place = places.find(tensor.id); place != places.end())
        read(tensor, place->second, found->second);
    }
    return found->second;
  }
  /// Of the element that `index` of a larger tensor means: repeated where this one has one, heads by their groups.
  float at(const Tensor &tensor, Index index, const Index &whole) {
    for (int i = 0; i < 4; ++i)
      index[i] = index[i] / std::max<int64_t>(1, whole[i] / tensor.dimensions[i]);
    return of(tensor)[(size_t)tensor.offset(index)];
  }
  /// Puts what an operation has made where it belongs.
  void finish(const Tensor &tensor) {
    std::vector<float> &numbers = of(tensor);
    for (float &number : numbers)
      number = rounded(number, tensor.type);
    auto place = places.find(tensor.id);
    if (place == places.end())
      return;
    forEach(tensor.dimensions, [&](const Index &i) {
      char *at = place->second + (uint64_t)tensor.offset(i) * tensor.bytes();
      float number = numbers[(size_t)tensor.offset(i)];
      tensor.type == DataType::BF16  ? store<Bf16>(at, number)
      : tensor.type == DataType::F16 ? store<Half>(at, number)
                                     : store<float>(at, number);
    });
  }

private:
  static void read(const Tensor &tensor, const char *begin, std::vector<float> &numbers) {
    forEach(tensor.dimensions, [&](const Index &i) {
      const char *at = begin + (uint64_t)tensor.offset(i) * tensor.bytes();
      numbers[(size_t)tensor.offset(i)] = tensor.type == DataType::BF16  ? load<Bf16>(at)
                                          : tensor.type == DataType::F16 ? load<Half>(at)
                                                                         : load<float>(at);
    });
  }
  const Places &places;
  std::map<int64_t, std::vector<float>> all;
};

float apply(const Operation &operation, float x, float b, float t, const Index &index) {
  switch (operation.mode) {
  case PointwiseMode::Add:
    return x + b;
  case PointwiseMode::Multiply:
    return x * b;
  case PointwiseMode::Divide:
    return x / b;
  case PointwiseMode::Subtract:
    return x - b;
  case PointwiseMode::Exp:
    return std::exp(x);
  case PointwiseMode::Log:
    return std::log(x);
  case PointwiseMode::Identity:
    return x;
  case PointwiseMode::Greater:
    return x > b ? 1 : 0;
  case PointwiseMode::GreaterOrEqual:
    return x >= b ? 1 : 0;
  case PointwiseMode::Index:
    return (float)index[(size_t)operation.axis];
  case PointwiseMode::Select:
    return t != 0 ? x : b;
  }
  endWith("cuDNN has no pointwise mode " + std::to_string((int)operation.mode));
}

void runPointwise(const Operation &o, Values &values) {
  std::vector<float> made((size_t)o.y.extent());
  forEach(o.y.dimensions, [&](const Index &i) {
    float b = o.b ? values.at(*o.b, i, o.y.dimensions) : 0, t = o.t ? values.at(*o.t, i, o.y.dimensions) : 0;
    made[(size_t)o.y.offset(i)] = apply(o, values.at(o.x, i, o.y.dimensions), b, t, i);
  });
  values.of(o.y) = std::move(made);
}

void runMatmul(const Operation &o, Values &values) {
  std::vector<float> made((size_t)o.y.extent());
  int64_t depth = o.x.dimensions[3];
  forEach(o.y.dimensions, [&](const Index &i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += (double)values.at(o.x, {i[0], i[1], i[2], k},
                               {o.y.dimensions[0], o.y.dimensions[1], o.y.dimensions[2], depth}) *
             values.at(*o.b, {i[0], i[1], k, i[3]}, {o.y.dimensions[0], o.y.dimensions[1], depth, o.y.dimensions[3]});
    made[(size_t)o.y.offset(i)] = (float)sum;
  });
  values.of(o.y) = std::move(made);
}

void runReduction(const Operation &o, Values &values) {
  bool isSum = o.reduction == ReductionOperator::Add;
  std::vector<float> made((size_t)o.y.extent(), isSum ? 0 : -std::numeric_limits<float>::infinity());
  forEach(o.x.dimensions, [&](const Index &i) {
    Index to = i;
    for (int d = 0; d < 4; ++d)
      to[d] = i[d] / (o.x.dimensions[d] / o.y.dimensions[d]);
    float &sum = made[(size_t)o.y.offset(to)], term = values.of(o.x)[(size_t)o.x.offset(i)];
    sum = isSum ? sum + term : std::max(sum, term);
  });
  values.of(o.y) = std::move(made);
}

/// As tensor cores read float32.
float shortened(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  bits &= ~uint32_t((1 << 13) - 1);
  std::memcpy(&number, &bits, sizeof bits);
  return number;
}

/// Visits what is multiplied with what: elements of x, w and y by their indices. The channels of x and y are cut in as many groups as
/// x has times those of a row of w.
template <class Body> void forEachProduct(const Filter &f, const Index &x, const Index &w, const Index &y, Body body) {
  int64_t ofGroup = w[0] / (x[1] / w[1]);
  forEach(y, [&](const Index &out) {
    forEach({1, w[1], w[2], w[3]}, [&](const Index &k) {
      Index in{out[0], out[1] / ofGroup * w[1] + k[1], 0, 0};
      bool isInside = true;
      for (size_t d = 0; d < 2; ++d) {
        in[2 + d] = out[2 + d] * f.strides[d] + k[2 + d] * f.dilations[d] - f.pads[d];
        isInside &= in[2 + d] >= 0 && in[2 + d] < x[2 + d];
      }
      if (isInside)
        body(in, Index{out[1], k[1], k[2], k[3]}, out);
    });
  });
}

void runConvolution(const Operation &o, Values &values) {
  const Tensor &x = o.makes == Makes::X ? o.y : o.x, &w = o.makes == Makes::W ? o.y : *o.b;
  const Tensor &y = o.makes == Makes::Y ? o.y : o.makes == Makes::X ? o.x : *o.b;
  std::vector<double> sums((size_t)o.y.extent());
  const std::vector<float> &xs = values.of(x), &ws = values.of(w), &ys = values.of(y);
  auto read = [&](const std::vector<float> &numbers, int64_t at) {
    return (double)(o.roundsOperands ? shortened(numbers[(size_t)at]) : numbers[(size_t)at]);
  };
  forEachProduct(o.filter, x.dimensions, w.dimensions, y.dimensions,
                 [&](const Index &i, const Index &k, const Index &out) {
                   int64_t atX = x.offset(i), atW = w.offset(k), atY = y.offset(out);
                   if (o.makes == Makes::Y)
                     sums[(size_t)atY] += read(xs, atX) * read(ws, atW);
                   else if (o.makes == Makes::X)
                     sums[(size_t)atX] += read(ys, atY) * read(ws, atW);
                   else
                     sums[(size_t)atW] += read(xs, atX) * read(ys, atY);
                 });
  std::vector<float> &made = values.of(o.y);
  for (size_t i = 0; i < made.size(); ++i)
    made[i] = (float)(sums[i] + (o.factor == 0 ? 0 : o.factor * made[i]));
}

} // namespace

uint64_t Tensor::bytes() const { return type == DataType::BF16 || type == DataType::F16 ? 2 : 4; }

int64_t Tensor::offset(const Index &index) const {
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += index[i] * strides[i];
  return sum;
}

int64_t Tensor::extent() const {
  return offset({dimensions[0] - 1, dimensions[1] - 1, dimensions[2] - 1, dimensions[3] - 1}) + 1;
}

std::vector<Span> Tensor::spans(const char *begin) const {
  int along = strides[3] == 1 ? 3 : 2;
  Index firsts = dimensions;
  firsts[along] = 1;
  std::vector<Span> result;
  forEach(firsts, [&](const Index &i) {
    result.push_back({begin + (uint64_t)offset(i) * bytes(), (uint64_t)dimensions[along] * bytes()});
  });
  return result;
}

std::string check(const std::vector<Operation> &operations) {
  std::set<int64_t> written;
  auto isMissing = [&](const Tensor &tensor) { return tensor.isVirtual && !written.count(tensor.id); };
  for (const Operation &operation : operations) {
    if (isMissing(operation.x) || (operation.b && isMissing(*operation.b)) || (operation.t && isMissing(*operation.t)))
      return "an operation reads a value that no earlier operation computes";
    if (!written.insert(operation.y.id).second)
      return "two operations write the same tensor";
  }
  return "";
}

void run(const std::vector<Operation> &operations, const Places &places) {
  Values values(places);
  for (const Operation &operation : operations) {
    switch (operation.kind) {
    case Operation::Kind::Pointwise:
      runPointwise(operation, values);
      break;
    case Operation::Kind::Matmul:
      runMatmul(operation, values);
      break;
    case Operation::Kind::Reduction:
      runReduction(operation, values);
      break;
    case Operation::Kind::Reshape:
      values.of(operation.y) = values.of(operation.x);
      break;
    case Operation::Kind::Convolution:
      runConvolution(operation, values);
      break;
    }
    values.finish(operation.y);
  }
}

} // namespace xlc::simulate::cudnn
