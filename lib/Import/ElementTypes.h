// Whether the operands of a node have the element types that ONNX lets it have together.
#ifndef XLC_IMPORT_ELEMENTTYPES_H
#define XLC_IMPORT_ELEMENTTYPES_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// Writes Node::misfit of nodes whose operands must have one element type, and have two that Import would make one. Types
/// follow from inputs, initializers and attributes, as far as they do. To be called while the model has the types of its
/// file: NarrowTypes.cpp changes them.
void compareTypes(Model &model);

} // namespace xlc::onnx

#endif
