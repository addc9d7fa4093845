// Convolutions by cuDNN: of one or two dimensions, all images and groups in one call. Operands are multiplied unrounded
// and summed in float32 in one order, so that a run is repeatable. If no such engine exists, the convolution consists
// of products (ConvolutionSteps.h).
#ifndef XLC_LIB_RUNTIME_CUDA_FUSEDCONVOLUTION_H
#define XLC_LIB_RUNTIME_CUDA_FUSEDCONVOLUTION_H

#include "CudnnGraph.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <memory>

namespace xlc::runtime::cudnn {

class FusedConvolution {
public:
  /// Returns null if the library has no engine for the call within this many bytes of workspace. If `adds`, the call
  /// adds to the result.
  static std::unique_ptr<FusedConvolution> tryMake(const Library &library, const Device &device,
                                                   const std::string &name, const ConvolutionShape &shape, bool adds,
                                                   int64_t bytes);

  void run(char *x, char *w, char *y, char *workspace, void *stream) const;
  bool usesTensorCores() const { return graph.usesTensorCores(); }

private:
  FusedConvolution(const Library &library, const Device &device, const std::string &name)
      : graph(library, device, "'" + name + "'") {}

  Graph graph;
};

} // namespace xlc::runtime::cudnn

#endif
