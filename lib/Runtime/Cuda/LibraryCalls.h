// Calls of the plan that are not generated kernels: products by cuBLASLt, xlc's own device code (DeviceKernels.h), and
// convolutions, which consist of both. All objects are created when a call is prepared: running it allocates nothing
// and looks up no name.
#ifndef XLC_LIB_RUNTIME_CUDA_LIBRARYCALLS_H
#define XLC_LIB_RUNTIME_CUDA_LIBRARYCALLS_H

#include "CallPlaces.h"
#include "ConvolutionSteps.h"
#include "Device/Device.h"
#include "Driver.h"
#include "FusedAttention.h"
#include "FusedConvolution.h"
#include "Plan/DeviceCalls.h"
#include "Products.h"
#include "Tuning.h"

#include <map>
#include <span>
#include <unordered_map>

namespace xlc::runtime::cuda {

class LibraryCalls {
public:
  /// The libraries must be open. `fusing`, which attention requires, may be null; convolutions are then products.
  /// `code` is that of the program, and outlives this object. Products take their algorithms from `tuning`, which may
  /// be null.
  LibraryCalls(const Driver &driver, const OpenedLibrary &products, const cudnn::Library *fusing, const Plan &plan,
               Library code, const Tuning *tuning)
      : driver(driver), plan(plan), code(code), products(products), fusing(fusing), tuning(tuning), places(plan) {}
  ~LibraryCalls();

  /// Throws Rejected if a library does not support the call, DeviceFailure if it fails.
  void prepare(const plan::CallT &call);
  /// Enqueues a prepared call on the stream.
  void run(const plan::CallT &call, const CallOperands &operands, Stream stream);

  /// The products of the prepared calls. Some may be equal.
  std::vector<Product *> listProducts();

private:
  template <class Parameters> struct Launch {
    Function function;
    int64_t blocks;
    Parameters parameters;
  };
  struct Convolution {
    ConvolutionShape::Kind kind;
    int64_t scratch; ///< bytes for a product; the workspace of the steps follows
    ConvolutionSteps write, add;
    const Product *product;
    Function columns, fromColumns;
    Function widen, narrow; ///< for sixteen bits, else null
    std::unique_ptr<cudnn::FusedConvolution> fusedWrite,
        fusedAdd; ///< replace steps that write or add; null: the steps run
  };

  /// Parts of a product, each of which begins this many bytes after the operands.
  struct Contraction {
    struct Part {
      const Product *product;
      int64_t a, b, bias, y;
      bool adds;
    };
    std::vector<Part> parts;
    int64_t sums = -1, count = 0; ///< offset in the workspace and number of f32 sums; -1: none
    Function round = nullptr;     ///< converts the sums to y
  };

  struct Attention {
    const cudnn::FusedAttention *fused;
    Function convert;   ///< log-sum-exps, between the plan's type and the library's
    Function condition; ///< null: no condition
  };

  Function find(const std::string &name) const;
  /// The product that computes `shape` at these alignments; equal calls with the same name share it.
  const Product *prepareProduct(const plan::CallT &call, const ContractShape &shape, uint64_t workspace,
                                const ProductAlignment &alignment);
  Contraction prepareContraction(const plan::CallT &call, const plan::ContractT &contract);
  Attention prepareAttention(const plan::CallT &call, const plan::AttentionT &attention);
  Convolution prepareConvolution(const plan::CallT &call, const plan::ConvolutionT &convolution);
  /// Returns null if the steps run instead.
  std::unique_ptr<cudnn::FusedConvolution> fuse(const plan::CallT &call, const ConvolutionShape &shape, bool adds);
  cudnn::Device fusingDevice();

  template <class Parameters>
  void launch(const Launch<Parameters> &what, std::span<char *const> operands, bool adds, Stream stream) const;
  void runContraction(const plan::CallT &call, const CallOperands &operands, Stream stream) const;
  void runAttention(const plan::CallT &call, const CallOperands &operands, Stream stream) const;
  void addCondition(Function kernel, ConditionParameters given, char *condition, char *bias, Stream stream) const;
  void convert(Function kernel, char *from, char *to, int64_t count, Stream stream) const;
  void runConvolution(const Convolution &what, const CallOperands &operands, Stream stream) const;

  const Driver &driver;
  const Plan &plan;
  Library const code;
  const Products products;
  const cudnn::Library *const fusing; ///< may be null
  const Tuning *const tuning;
  cudnn::Handle fusingHandle = nullptr;
  const CallPlaces places;
  std::map<std::string, Product> prepared; ///< by all properties on which they depend
  std::map<uint32_t, std::unique_ptr<cudnn::FusedAttention>> fusedAttentions; ///< by kernel of the plan
  // By call; used only for lookups.
  std::unordered_map<const plan::CallT *, Contraction> contractions;
  std::unordered_map<const plan::CallT *, Launch<ScatterParameters>> scatters;
  std::unordered_map<const plan::CallT *, Launch<ScatterIntoParameters>> scattersInto;
  std::unordered_map<const plan::CallT *, Launch<MaxPoolParameters>> pools;
  std::unordered_map<const plan::CallT *, Convolution> convolutions;
  std::unordered_map<const plan::CallT *, Attention> attentions;
};

} // namespace xlc::runtime::cuda

#endif
