// Writes the parameters of the spec's precision.keep into the module.
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Precision/Precision.h"
#include "xlc/Spec/SpecPlace.h"

using namespace mlir;
using namespace xlc;

static void keepIn(func::FuncOp function, const Spec &spec, SmallVectorImpl<bool> &isUsed) {
  Builder builder(function.getContext());
  graph::SignatureAttributes attributes(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringAttr name = graph::Argument(function, i).getParameter();
    if (!name)
      continue;
    for (auto [k, pattern] : llvm::enumerate(spec.precision.keep))
      isUsed[k] = isUsed[k] || matchesPatterns(name.getValue(), {StringRef(pattern).ltrim('!').str()});
    if (matchesPatterns(name.getValue(), spec.precision.keep))
      attributes.setArgument(i, graph::kKeep, builder.getUnitAttr());
  }
}

LogicalResult xlc::keepParameters(ModuleOp module, const Spec &spec, Diagnostics &diagnostics) {
  SmallVector<bool> isUsed(spec.precision.keep.size(), false);
  for (graph::Entry entry : graph::Entry::all(module))
    keepIn(entry.getFunction(), spec, isUsed);
  bool isFine = true;
  for (auto [pattern, used] : llvm::zip(spec.precision.keep, isUsed))
    if (!used) {
      diagnostics.error(findPlace(spec, "precision.keep").value_or(spec.path),
                        "precision.keep: '" + pattern + "' does not match a parameter");
      isFine = false;
    }
  return success(isFine);
}
