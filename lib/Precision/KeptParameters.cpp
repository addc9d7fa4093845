// What the spec's precision.keep names, written into the module.
#include "xlc/Dialect/Graph/Signature.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Precision/Precision.h"
#include "xlc/Spec/SpecPlace.h"

using namespace mlir;
using namespace xlc;

LogicalResult xlc::keepParameters(ModuleOp module, const Spec &spec, Diagnostics &diagnostics) {
  auto function = graph::findFunction(module, graph::kMicroBatch);
  Builder builder(module.getContext());
  graph::SignatureAttributes attributes(function);
  SmallVector<bool> isUsed(spec.precision.keep.size(), false);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringAttr name = graph::Argument(function, i).getParameter();
    if (!name)
      continue;
    for (auto [k, pattern] : llvm::enumerate(spec.precision.keep))
      isUsed[k] = isUsed[k] || matchesPatterns(name.getValue(), {StringRef(pattern).ltrim('!').str()});
    if (matchesPatterns(name.getValue(), spec.precision.keep))
      attributes.setArgument(i, graph::kKeep, builder.getUnitAttr());
  }
  bool isFine = true;
  for (auto [pattern, used] : llvm::zip(spec.precision.keep, isUsed))
    if (!used) {
      diagnostics.error(findPlace(spec, "precision.keep").value_or(spec.path),
                        "precision.keep: '" + pattern + "' matches no parameter");
      isFine = false;
    }
  return success(isFine);
}
