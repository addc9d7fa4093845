// The nodes of a file in inference mode, for evaluation.
//
//     Dropout                       gives its input (Sites, dropsNothing)
//     batch norm in training form   normalises by its running averages, which stay
//     stochastic depth              x * mask / p gives x: the mask is 1 with probability p, and stands for its mean
//
//         RandomUniformLike -> Less p -> Cast     Bernoulli p     RandomUniform -> Add p -> Floor     each becomes p
//
// Other nodes that draw, or change a buffer, are not converted to inference by any rule.
#ifndef XLC_LIB_IMPORT_INFERENCE_H
#define XLC_LIB_IMPORT_INFERENCE_H

#include "Parameters.h"

namespace xlc::onnx {

/// The nodes, one for one, and which of their inputs are parameters. None after an error that names the node.
struct InferringNodes {
  std::vector<Node> nodes;
  ParameterPlan plan;
};
std::optional<InferringNodes> makeInferring(const Model &model, const ParameterPlan &plan,
                                            FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
