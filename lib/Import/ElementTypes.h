// Checks whether ONNX allows the combination of the element types of a node's operands.
#ifndef XLC_IMPORT_ELEMENTTYPES_H
#define XLC_IMPORT_ELEMENTTYPES_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Sets Node::misfit of nodes whose operands must have one element type, but have two that Import would make equal.
/// Types are inferred from inputs, initializers and attributes, as far as possible. Must be called while the model has
/// the types of its file, because NarrowTypes.cpp changes them.
void compareTypes(Model &model);

} // namespace xlc::onnx

#endif
