// Convolutions by cuDNN: of one or two dimensions, all images and groups in one call. Numbers are multiplied as they are, and added up
// as float32 in one order, so that a run can be repeated; what there is no such engine for is made of products (ConvolutionSteps.h).
#ifndef XLC_LIB_RUNTIME_CUDA_FUSEDCONVOLUTION_H
#define XLC_LIB_RUNTIME_CUDA_FUSEDCONVOLUTION_H

#include "CudnnGraph.h"
#include "xlc/Runtime/LibraryShapes.h"

#include <memory>

namespace xlc::runtime::cudnn {

class FusedConvolution {
public:
  /// Null where the library has no engine for it within so many bytes of workspace. The result is added to if `adds`.
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
