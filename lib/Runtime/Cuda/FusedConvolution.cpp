// See FusedConvolution.h.
#include "FusedConvolution.h"

#include "xlc/Runtime/FusedConvolution.h"

namespace xlc::runtime::cudnn {
namespace {

Makes whichIsMade(ConvolutionShape::Kind kind) {
  return kind == ConvolutionShape::Kind::Forward     ? Makes::Y
         : kind == ConvolutionShape::Kind::Transpose ? Makes::X
                                                     : Makes::W;
}

} // namespace

std::unique_ptr<FusedConvolution> FusedConvolution::tryMake(const Library &library, const Device &device,
                                                            const std::string &name, const ConvolutionShape &s,
                                                            bool adds, int64_t bytes) {
  if (!isFusedConvolution(s))
    return nullptr;
  std::unique_ptr<FusedConvolution> made(new FusedConvolution(library, device, name));
  Windows windows(s.dims);
  const WindowDim &rows = windows.dims[1], &columns = windows.dims[2];
  Graph &graph = made->graph;
  auto operand = [&](int64_t images, int64_t channels, int64_t height, int64_t width) {
    return graph.operand(contiguous(images, channels, height, width), dataTypeOf(s.type));
  };
  Graph::Tensor x = operand(s.batch, s.groups * s.inputs, rows.in, columns.in);
  Graph::Tensor w = operand(s.groups * s.outputs, s.inputs, rows.size, columns.size);
  Graph::Tensor y = operand(s.batch, s.groups * s.outputs, rows.out, columns.out);
  Filter filter{{rows.stride, columns.stride},
                {rows.dilation, columns.dilation},
                {rows.pad, columns.pad},
                {*padBehind(rows), *padBehind(columns)}};
  graph.convolve(whichIsMade(s.kind), filter, x, w, y, adds);
  Engines engines = s.type == FloatType::F32 ? Engines::Exact : Engines::Repeatable;
  return graph.finalize(bytes, engines) ? nullptr : std::move(made);
}

void FusedConvolution::run(char *x, char *w, char *y, char *workspace, void *stream) const {
  graph.run(std::array{x, w, y}, workspace, stream);
}

} // namespace xlc::runtime::cudnn
