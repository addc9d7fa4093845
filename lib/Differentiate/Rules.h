// The gradient rules by name, for the table; the bodies are in the *Gradients.cpp files.
#ifndef XLC_LIB_DIFFERENTIATE_RULES_H
#define XLC_LIB_DIFFERENTIATE_RULES_H

#include "xlc/Differentiate/Gradients.h"

namespace xlc::gradients {

#define XLC_RULE(NAME) mlir::LogicalResult NAME(GradientBuilder &, mlir::Operation *, mlir::ValueRange)
// ElementwiseGradients.cpp
XLC_RULE(neg);
XLC_RULE(abs);
XLC_RULE(exp);
XLC_RULE(log);
XLC_RULE(sqrt);
XLC_RULE(tanh);
XLC_RULE(erf);
XLC_RULE(sigmoid);
XLC_RULE(sin);
XLC_RULE(cos);
XLC_RULE(atan);
XLC_RULE(cast);
XLC_RULE(scale);
XLC_RULE(add);
XLC_RULE(sub);
XLC_RULE(mul);
XLC_RULE(div);
XLC_RULE(max);
XLC_RULE(min);
XLC_RULE(pow);
XLC_RULE(select);
// ShapeGradients.cpp
XLC_RULE(broadcast);
XLC_RULE(reshape);
XLC_RULE(transpose);
XLC_RULE(slice);
XLC_RULE(concat);
XLC_RULE(pad);
XLC_RULE(reduce);
XLC_RULE(gather);
XLC_RULE(gatherElements);
XLC_RULE(scatterAdd);
XLC_RULE(scatterElementsAdd);
XLC_RULE(scatterElements);
// NamedGradients.cpp
XLC_RULE(contract);
XLC_RULE(convolution);
XLC_RULE(convolutionTranspose);
XLC_RULE(maxPool);
XLC_RULE(softmax);
XLC_RULE(gelu);
XLC_RULE(silu);
XLC_RULE(layerNorm);
XLC_RULE(rmsNorm);
XLC_RULE(attention);
XLC_RULE(crossEntropy);
#undef XLC_RULE

} // namespace xlc::gradients

#endif
