// Relations between the values of initializers: all the same number, equal, equal when transposed.
#ifndef XLC_IMPORT_TENSORVALUES_H
#define XLC_IMPORT_TENSORVALUES_H

#include "xlc/Onnx/Model.h"
#include <map>

namespace xlc::onnx {

/// The number that all elements equal; none if they differ, or if values are absent.
std::optional<float> findOneValue(const FileTensor &tensor);

/// The same of several, each of which is read once.
class OneValues {
public:
  explicit OneValues(const std::vector<FileTensor> &tensors) : tensors(tensors) {}

  std::optional<float> find(unsigned index) {
    auto [entry, isNew] = found.try_emplace(index);
    if (isNew)
      entry->second = findOneValue(tensors[index]);
    return entry->second;
  }
  bool has(unsigned index) { return find(index).has_value(); }

private:
  const std::vector<FileTensor> &tensors;
  std::map<unsigned, std::optional<float>> found;
};

/// All elements as floats; empty if they are absent, or more than `maximum`.
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
