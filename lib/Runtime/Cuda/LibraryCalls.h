// Calls of the plan that are no generated kernels: products by cuBLASLt, device code of our own (DeviceKernels.h), and convolutions,
// which are made of both. All is found and made when a call is prepared: to run it allocates nothing, looks up no name.
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
  /// Libraries are opened; `fusing`, which attention needs, may be null, and convolutions are products then. `code` is the program's,
  /// and outlives this. Of `tuning`, which may be null, products take their algorithms.
  LibraryCalls(const Driver &driver, const OpenedLibrary &products, const cudnn::Library *fusing, const Plan &plan,
               Library code, const Tuning *tuning)
      : driver(driver), plan(plan), code(code), products(products), fusing(fusing), tuning(tuning), places(plan) {}
  ~LibraryCalls();

  /// Throws Rejected where a library cannot do the call, DeviceFailure where it fails.
  void prepare(const plan::CallT &call);
  /// Puts a call that was prepared into the stream.
  void run(const plan::CallT &call, const CallOperands &operands, Stream stream);

  /// Of the calls that were prepared. Some may be alike.
  std::vector<Product *> listProducts();

private:
  template <class Parameters> struct Launch {
    Function function;
    int64_t blocks;
    Parameters parameters;
  };
  struct Convolution {
    ConvolutionShape::Kind kind;
    int64_t scratch; ///< of a product, bytes; the steps' own workspace stands behind it
    ConvolutionSteps write, add;
    const Product *product;
    Function columns, fromColumns;
    Function widen, narrow; ///< of sixteen bits, else null
    std::unique_ptr<cudnn::FusedConvolution> fusedWrite,
        fusedAdd; ///< in the place of steps that write or add; null: those run
  };

  /// Parts of a product, of which each begins so many bytes behind the operands.
  struct Contraction {
    struct Part {
      const Product *product;
      int64_t a, b, bias, y;
      bool adds;
    };
    std::vector<Part> parts;
    int64_t sums = -1, count = 0; ///< where in the workspace f32 sums are, and how many; -1: there are none
    Function round = nullptr;     ///< makes y of them
  };

  struct Attention {
    const cudnn::FusedAttention *fused;
    Function convert;   ///< log-sum-exps, between the plan's type and the library's
    Function condition; ///< null: there is none
  };

  Function find(const std::string &name) const;
  /// The product that does `shape` at these alignments; calls of one name that are alike share it.
  const Product *prepareProduct(const plan::CallT &call, const ContractShape &shape, uint64_t workspace,
                                const ProductAlignment &alignment);
  Contraction prepareContraction(const plan::CallT &call, const plan::ContractT &contract);
  Attention prepareAttention(const plan::CallT &call, const plan::AttentionT &attention);
  Convolution prepareConvolution(const plan::CallT &call, const plan::ConvolutionT &convolution);
  /// Null where the steps run.
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
  std::map<std::string, Product> prepared;                                    ///< by what they depend on
  std::map<uint32_t, std::unique_ptr<cudnn::FusedAttention>> fusedAttentions; ///< by kernel of the plan
  // By call; looked up only.
  std::unordered_map<const plan::CallT *, Contraction> contractions;
  std::unordered_map<const plan::CallT *, Launch<ScatterParameters>> scatters;
  std::unordered_map<const plan::CallT *, Launch<ScatterIntoParameters>> scattersInto;
  std::unordered_map<const plan::CallT *, Launch<MaxPoolParameters>> pools;
  std::unordered_map<const plan::CallT *, Convolution> convolutions;
  std::unordered_map<const plan::CallT *, Attention> attentions;
};

} // namespace xlc::runtime::cuda

#endif
