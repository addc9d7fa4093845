// See FusedConvolution.h.
#include "FusedConvolution.h"

#include "xlc/Runtime/Windows.h"

#include <algorithm>
#include <optional>

namespace xlc::runtime::cudnn {
namespace {

/// Padding behind the last element, such that windows end where the convolution's do; none where the library would see others.
std::optional<int64_t> padBehind(const WindowDim &d) {
  int64_t reach = (d.size - 1) * d.dilation + 1;
  int64_t pad = std::max<int64_t>(0, (d.out - 1) * d.stride + reach - d.in - d.pad);
  return (d.in + d.pad + pad - reach) / d.stride + 1 == d.out ? std::optional(pad) : std::nullopt;
}

bool isTrivial(const WindowDim &d) { return d.in == 1 && d.out == 1 && d.size == 1 && d.pad == 0; }

std::optional<Filter> findFilter(const Windows &windows) {
  const auto &[depth, rows, columns] = windows.dims;
  std::optional<int64_t> behindRows = padBehind(rows), behindColumns = padBehind(columns);
  if (!isTrivial(depth) || !behindRows || !behindColumns)
    return std::nullopt;
  return Filter{{rows.stride, columns.stride},
                {rows.dilation, columns.dilation},
                {rows.pad, columns.pad},
                {*behindRows, *behindColumns}};
}

Makes whichIsMade(ConvolutionShape::Kind kind) {
  return kind == ConvolutionShape::Kind::Forward     ? Makes::Y
         : kind == ConvolutionShape::Kind::Transpose ? Makes::X
                                                     : Makes::W;
}

} // namespace

std::unique_ptr<FusedConvolution> FusedConvolution::tryMake(const Library &library, const Device &device,
                                                            const std::string &name, const ConvolutionShape &s,
                                                            bool adds, int64_t bytes) {
  Windows windows(s.dims);
  std::optional<Filter> filter = findFilter(windows);
  if (!filter)
    return nullptr;
  std::unique_ptr<FusedConvolution> made(new FusedConvolution(library, device, name));
  const auto &[depth, rows, columns] = windows.dims;
  Graph &graph = made->graph;
  Graph::Tensor x = graph.operand(contiguous(s.batch, s.groups * s.inputs, rows.in, columns.in), DataType::F32);
  Graph::Tensor w = graph.operand(contiguous(s.groups * s.outputs, s.inputs, rows.size, columns.size), DataType::F32);
  Graph::Tensor y = graph.operand(contiguous(s.batch, s.groups * s.outputs, rows.out, columns.out), DataType::F32);
  graph.convolve(whichIsMade(s.kind), *filter, x, w, y, adds);
  return graph.finalize(bytes, Engines::Exact) ? nullptr : std::move(made);
}

void FusedConvolution::run(char *x, char *w, char *y, char *workspace, void *stream) const {
  graph.run(std::array{x, w, y}, workspace, stream);
}

} // namespace xlc::runtime::cudnn
