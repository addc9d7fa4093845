// What kernels have made of their operands: a program that runs once more in another order of its streams makes most of it
// again.
#ifndef XLC_LIB_INTERPRET_RANKS_KERNELRESULTS_H
#define XLC_LIB_INTERPRET_RANKS_KERNELRESULTS_H

#include "Digest.h"
#include "xlc/Interpret/Interpret.h"
#include <unordered_map>

namespace xlc::interpret {

/// Of one module, evaluated with the same options. Operands are equal where their digests are.
template <class E> class KernelResults {
public:
  llvm::LogicalResult evaluate(mlir::func::FuncOp kernel, llvm::ArrayRef<const Datum<E> *> arguments,
                               const Options &options, llvm::SmallVectorImpl<Datum<E>> &results) {
    uint64_t key = mix(uint64_t(reinterpret_cast<uintptr_t>(kernel.getAsOpaquePointer())));
    for (const Datum<E> *argument : arguments)
      key = hashOf(key, digestOf<E>(*argument));
    if (auto it = known.find(key); it != known.end()) {
      results.assign(it->second.begin(), it->second.end());
      return llvm::success();
    }
    if (failed(evaluateLent<E>(kernel, arguments, options, results)))
      return llvm::failure();
    for (const Datum<E> &result : results)
      held += std::visit([](auto &tensor) { return tensor.elements.size(); }, result);
    if (held < kMostElements)
      known[key].assign(results.begin(), results.end());
    return llvm::success();
  }

private:
  static constexpr size_t kMostElements = size_t(1) << 26; ///< 512 MiB
  std::unordered_map<uint64_t, llvm::SmallVector<Datum<E>, 1>> known;
  size_t held = 0;
};

} // namespace xlc::interpret

#endif
