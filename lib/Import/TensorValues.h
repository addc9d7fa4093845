// What the values of initializers say about each other: all the same number, equal, equal when transposed.
#ifndef XLC_IMPORT_TENSORVALUES_H
#define XLC_IMPORT_TENSORVALUES_H

#include "xlc/Onnx/Model.h"

namespace xlc::onnx {

/// The number that all elements are; none where they differ, or where values are absent.
std::optional<float> findOneValue(const FileTensor &tensor);

/// All elements as floats; empty where they are absent, or more than `maximum`.
std::vector<float> readValues(const FileTensor &tensor, int64_t maximum);

/// An initializer with the values of another one, perhaps transposed.
struct Twin {
  unsigned initializer;
  bool isTransposed;
};

/// For each of `asked` (positions in `tensors`, in the order of `tensors`) the first of `candidates`, or of those asked
/// before it, that has its values. Only matrices of floats that are not uniform have twins.
std::vector<std::optional<Twin>> findTwins(std::vector<FileTensor> &tensors, const std::vector<unsigned> &asked,
                                           const std::vector<unsigned> &candidates);

} // namespace xlc::onnx

#endif
