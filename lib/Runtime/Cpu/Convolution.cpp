// See Convolution.h. The windows of a tile of outputs are written side by side, as a matrix [channel x window position,
// output], and multiplied by the weights in one product (Chellapilla et al., 2006). This is done a tile at a time, so
// that the matrix stays in the cache and never exists as a whole.
//
//   forward           y[f, tile]       = w[f, rows] windows[rows, tile]           an item: image, group, tile
//   transpose         windows[rows, tile] = w[f, rows]^T y[f, tile], added to x   an item: image, group, channels
//   weight backward   w[f, rows]      += y[f, tile] windows[rows, tile]^T         an item: group, channels
//
// If a window is one element, the matrix is x itself. If a group has one feature (depthwise convolutions, sums over
// windows), there is no product: elements are read in place.
#include "Convolution.h"

#include "Product.h"
#include "Windows.h"

#include <cstring>

namespace xlc::runtime {
namespace {

using Kind = ConvolutionShape::Kind;

int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }
int64_t divideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

constexpr int64_t tileFloats = 1 << 17;       // of a forward tile
constexpr int64_t chunkRows = 288;            // of a backward chunk
constexpr int64_t longestTile = 512;          // outputs
constexpr int64_t mostDirectTerms = 128;      // of a sum that is made without a product
constexpr int64_t smallConvolution = 1 << 24; // multiply-adds; see isSmall in Contract.cpp

/// How a convolution is cut, from its shape alone.
struct Cut {
  Windows windows;
  int64_t rows;  ///< of the whole matrix of windows: channels x window positions
  int64_t tile;  ///< outputs taken together
  int64_t chunk; ///< channels taken together in backward
  int64_t terms; ///< of a product's chunk
  bool isPointwise, isDirect;

  explicit Cut(const ConvolutionShape &s) : windows(s.dims), rows(s.inputs * windows.size) {
    bool isForward = s.kind == Kind::Forward;
    int64_t longest = isForward ? std::clamp<int64_t>(tileFloats / rows / 32 * 32, 64, 2 * longestTile) : longestTile;
    tile = std::min(longest, roundUp(windows.out, 16));
    chunk = isForward ? s.inputs : std::clamp<int64_t>(chunkRows / windows.size, 1, s.inputs);
    terms = s.batch * s.groups * s.outputs * rows * windows.out <= smallConvolution ? shortChunk : depthBlock;
    isPointwise = windows.arePlane();
    isDirect = s.outputs == 1 && rows <= mostDirectTerms;
  }
  int64_t tiles() const { return divideUp(windows.out, tile); }
  int64_t chunks(const ConvolutionShape &s) const { return divideUp(s.inputs, chunk); }
  int64_t matrixBytes() const { return isPointwise ? 0 : roundUp(chunk * windows.size * tile * 4, 64); }
};

/// One item at work: a group's operands, and scratch.
class Worker {
public:
  Worker(const ConvolutionShape &shape, const ConvolutionOperands &operands, const Cut &cut, bool add, char *scratch)
      : s(shape), operands(operands), cut(cut), w(cut.windows), add(add), matrix((float *)scratch),
        workspace(scratch + cut.matrixBytes()) {}

  void forward(int64_t item) {
    int64_t image = item / cut.tiles(), begin = item % cut.tiles() * cut.tile, end = std::min(begin + cut.tile, w.out);
    const float *x = planes(operands.x, image, s.inputs, w.in), *weights = weightsOf(image % s.groups);
    float *y = planes(operands.y, image, s.outputs, w.out);
    if (cut.isDirect)
      return forwardDirect(x, weights, y, begin, end);
    Matrix b = windowsOf(x, s.inputs, begin, end);
    multiply({s.outputs, end - begin, cut.rows, cut.rows, 1, b.rowStride, 1, w.out, 1, cut.terms}, weights, b.data,
             y + begin, add, workspace);
  }

  void transpose(int64_t item) {
    int64_t image = item / cut.chunks(s), channel = item % cut.chunks(s) * cut.chunk;
    int64_t channels = std::min(cut.chunk, s.inputs - channel), rows = channels * w.size;
    const float *y = planes(operands.y, image, s.outputs, w.out);
    const float *weights = weightsOf(image % s.groups) + channel * w.size;
    float *x = planes(operands.x, image, s.inputs, w.in) + channel * w.in;
    if (!add && !cut.isPointwise)
      std::memset(x, 0, channels * w.in * 4);
    for (int64_t begin = 0; begin < w.out; begin += cut.tile) {
      int64_t end = std::min(begin + cut.tile, w.out);
      if (cut.isDirect && !cut.isPointwise) {
        transposeDirect(y, weights, x, channels, begin, end);
        continue;
      }
      float *to = cut.isPointwise ? x + begin : matrix;
      int64_t stride = cut.isPointwise ? w.in : cut.tile;
      multiply({rows, end - begin, s.outputs, 1, cut.rows, w.out, 1, stride, 1, cut.terms}, weights, y + begin, to,
               add && cut.isPointwise, workspace);
      if (!cut.isPointwise)
        addWindows(x, channels, begin, end);
    }
  }

  void weightBackward(int64_t item) {
    int64_t group = item / cut.chunks(s), channel = item % cut.chunks(s) * cut.chunk;
    int64_t channels = std::min(cut.chunk, s.inputs - channel), rows = channels * w.size;
    float *weights = weightsOf(group) + channel * w.size;
    if (cut.isDirect)
      return weightDirect(group, channel, weights, rows);
    for (int64_t n = 0; n < s.batch; ++n) {
      const float *x = planes(operands.x, n * s.groups + group, s.inputs, w.in) + channel * w.in;
      const float *y = planes(operands.y, n * s.groups + group, s.outputs, w.out);
      for (int64_t begin = 0; begin < w.out; begin += cut.tile) {
        int64_t end = std::min(begin + cut.tile, w.out);
        Matrix b = windowsOf(x, channels, begin, end);
        multiply({s.outputs, rows, end - begin, w.out, 1, 1, b.rowStride, cut.rows, 1, cut.terms}, y + begin, b.data,
                 weights, add || n > 0 || begin > 0, workspace);
      }
    }
  }

private:
  struct Matrix {
    const float *data;
    int64_t rowStride;
  };

  /// `count` planes of image x group number `image`.
  static float *planes(float *of, int64_t image, int64_t count, int64_t size) { return of + image * count * size; }
  float *weightsOf(int64_t group) const { return operands.w + group * s.outputs * cut.rows; }

  /// The windows of outputs [begin, end) in `channels` planes, as [channel x window position, output].
  Matrix windowsOf(const float *x, int64_t channels, int64_t begin, int64_t end) {
    if (cut.isPointwise)
      return {x + begin, w.in};
    int64_t step = w.dims[2].stride;
    for (int64_t row = 0; row < channels * w.size; ++row) {
      const float *plane = x + row / w.size * w.in;
      float *to = matrix + row * cut.tile - begin;
      forEachRun(w, row % w.size, begin, end, [&](int64_t output, int64_t input, int64_t count) {
        if (input < 0)
          std::memset(to + output, 0, count * 4);
        else if (step == 1)
          std::memcpy(to + output, plane + input, count * 4);
        else
          for (int64_t i = 0; i < count; ++i)
            to[output + i] = plane[input + i * step];
      });
    }
    return {matrix, cut.tile};
  }

  /// The transpose of windowsOf: adds the matrix to the planes.
  void addWindows(float *x, int64_t channels, int64_t begin, int64_t end) {
    int64_t step = w.dims[2].stride;
    for (int64_t row = 0; row < channels * w.size; ++row) {
      float *plane = x + row / w.size * w.in;
      const float *from = matrix + row * cut.tile - begin;
      forEachInside(w, row % w.size, begin, end, [&](int64_t output, int64_t input, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
          plane[input + i * step] += from[output + i];
      });
    }
  }

  void forwardDirect(const float *x, const float *weights, float *y, int64_t begin, int64_t end) {
    int64_t step = w.dims[2].stride;
    if (!add)
      std::memset(y + begin, 0, (end - begin) * 4);
    for (int64_t row = 0; row < cut.rows; ++row)
      forEachInside(w, row % w.size, begin, end, [&](int64_t output, int64_t input, int64_t count) {
        const float *from = x + row / w.size * w.in + input;
        for (int64_t i = 0; i < count; ++i)
          y[output + i] += weights[row] * from[i * step];
      });
  }

  void transposeDirect(const float *y, const float *weights, float *x, int64_t channels, int64_t begin, int64_t end) {
    int64_t step = w.dims[2].stride;
    for (int64_t row = 0; row < channels * w.size; ++row)
      forEachInside(w, row % w.size, begin, end, [&](int64_t output, int64_t input, int64_t count) {
        float *to = x + row / w.size * w.in + input;
        for (int64_t i = 0; i < count; ++i)
          to[i * step] += weights[row] * y[output + i];
      });
  }

  void weightDirect(int64_t group, int64_t channel, float *weights, int64_t rows) {
    int64_t step = w.dims[2].stride;
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int64_t n = 0; n < s.batch; ++n) {
        const float *x = planes(operands.x, n * s.groups + group, s.inputs, w.in) + (channel + row / w.size) * w.in;
        const float *y = planes(operands.y, n * s.groups + group, 1, w.out);
        forEachInside(w, row % w.size, 0, w.out, [&](int64_t output, int64_t input, int64_t count) {
          float part = 0;
          for (int64_t i = 0; i < count; ++i)
            part += x[input + i * step] * y[output + i];
          sum += part;
        });
      }
      weights[row] = (float)(add ? weights[row] + sum : sum);
    }
  }

  const ConvolutionShape &s;
  const ConvolutionOperands &operands;
  const Cut &cut;
  const Windows &w;
  const bool add;
  float *const matrix;
  char *const workspace;
};

} // namespace

int64_t convolutionItems(const ConvolutionShape &s) {
  Cut cut(s);
  switch (s.kind) {
  case Kind::Forward:
    return s.batch * s.groups * cut.tiles();
  case Kind::Transpose:
    return s.batch * s.groups * cut.chunks(s);
  case Kind::WeightBackward:
    return s.groups * cut.chunks(s);
  }
  return 0;
}

int64_t convolutionScratch(const ConvolutionShape &s) {
  Cut cut(s);
  if (cut.isDirect && !(cut.isPointwise && s.kind == Kind::Transpose))
    return 0;
  int64_t rows = cut.chunk * cut.windows.size, tile = cut.tile, stride = std::max(cut.tile, cut.windows.in);
  ProductShape product = s.kind == Kind::Forward     ? ProductShape{s.outputs, tile, rows, rows, 1, stride, 1, tile, 1}
                         : s.kind == Kind::Transpose ? ProductShape{rows, tile, s.outputs, 1, rows, tile, 1, stride, 1}
                                                     : ProductShape{s.outputs, rows, tile, tile, 1, 1, stride, rows, 1};
  return cut.matrixBytes() + roundUp(productWorkspace(product), 64);
}

void runConvolution(const ConvolutionShape &shape, const ConvolutionOperands &operands, int64_t item, bool add,
                    char *scratch) {
  Cut cut(shape);
  Worker worker(shape, operands, cut, add, scratch);
  if (shape.kind == Kind::Forward)
    return worker.forward(item);
  shape.kind == Kind::Transpose ? worker.transpose(item) : worker.weightBackward(item);
}

int64_t convolutionWorkspace(const ConvolutionShape &shape, int threads) {
  return convolutionScratch(shape) * std::min<int64_t>(threads, convolutionItems(shape));
}

} // namespace xlc::runtime
