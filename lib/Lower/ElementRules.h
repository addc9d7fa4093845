// The element rules by name, for the table; the bodies are in ArithmeticRules.cpp, ShapeRules.cpp, ReduceRule.cpp and
// RandomRule.cpp.
#ifndef XLC_LIB_LOWER_ELEMENTRULES_H
#define XLC_LIB_LOWER_ELEMENTRULES_H

#include "KernelEmitter.h"

namespace xlc::lower {

#define XLC_RULE(NAME) mlir::Value NAME(KernelEmitter &, mlir::Operation *, mlir::ArrayRef<Index>, const Lanes &)
// ArithmeticRules.cpp
XLC_RULE(negElement);
XLC_RULE(absElement);
XLC_RULE(signElement);
XLC_RULE(expElement);
XLC_RULE(logElement);
XLC_RULE(sqrtElement);
XLC_RULE(tanhElement);
XLC_RULE(erfElement);
XLC_RULE(sinElement);
XLC_RULE(cosElement);
XLC_RULE(atanElement);
XLC_RULE(floorElement);
XLC_RULE(notElement);
XLC_RULE(isNanElement);
XLC_RULE(castElement);
XLC_RULE(stochasticCastElement);
XLC_RULE(addElement);
XLC_RULE(subElement);
XLC_RULE(mulElement);
XLC_RULE(divElement);
XLC_RULE(maxElement);
XLC_RULE(minElement);
XLC_RULE(powElement);
XLC_RULE(andElement);
XLC_RULE(orElement);
XLC_RULE(compareElement);
XLC_RULE(selectElement);
// ShapeRules.cpp
XLC_RULE(constantElement);
XLC_RULE(iotaElement);
XLC_RULE(broadcastElement);
XLC_RULE(reshapeElement);
XLC_RULE(transposeElement);
XLC_RULE(sliceElement);
XLC_RULE(concatElement);
XLC_RULE(padElement);
XLC_RULE(gatherElement);
XLC_RULE(gatherElementsElement);
// ReduceRule.cpp
XLC_RULE(reduceElement);
// RandomRule.cpp
XLC_RULE(randomBitsElement);
#undef XLC_RULE

/// a (kind) b, and the neutral element of that operation.
mlir::Value combineElements(KernelEmitter &emitter, graph::Reduction kind, mlir::Value a, mlir::Value b);
mlir::Value neutralElement(KernelEmitter &emitter, graph::Reduction kind, mlir::Type element);

/// Whether a power is neither a root nor a product of a few factors.
bool needsLibraryPower(graph::PowOp op);

/// Converts an i64 to a number of type `element` (vectors element by element).
mlir::Value convertElement(KernelEmitter &emitter, mlir::Value value, mlir::Type element);

} // namespace xlc::lower

#endif
