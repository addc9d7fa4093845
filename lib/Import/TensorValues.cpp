// Compares initializers that may be gigabytes in files: a few elements of each are read, and whole tensors only if
// these agree. Each tensor is read a fixed number of times, so that the work is linear in the size of the model.
#include "TensorValues.h"

#include "ConstantTensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr size_t chunk = 1 << 14;              ///< elements
constexpr int64_t compared = int64_t(1) << 26; ///< elements: of a larger tensor this many are compared, or samples
constexpr int samples = 64;
constexpr size_t maximumRivals = 8;

/// The bytes of a tensor, wherever they are.
class Bytes {
public:
  explicit Bytes(const FileTensor &tensor) : tensor(tensor) {
    if (tensor.isExternal && !tensor.isAbsent)
      descriptor = open(tensor.file.c_str(), O_RDONLY | O_CLOEXEC);
  }
  Bytes(const Bytes &) = delete;
  ~Bytes() {
    if (descriptor >= 0)
      close(descriptor);
  }

  /// Elements as floats, from number `first` on.
  bool read(int64_t first, size_t count, float *to) const {
    // In memory, 16-bit floats are floats already.
    int type = tensor.isExternal ? tensor.storedType : (int)tensor.type;
    size_t width = (size_t)(tensor.isExternal ? tensor.storedBytes() / tensor.numElements() : byteWidth(type));
    if (!tensor.isExternal)
      return convertToFloats(type, tensor.bytes.data() + first * width, count, to), true;
    std::vector<char> raw(count * width);
    bool isRead = descriptor >= 0 && pread(descriptor, raw.data(), raw.size(),
                                           (off_t)(tensor.offset + first * width)) == (ssize_t)raw.size();
    if (isRead)
      convertToFloats(type, raw.data(), count, to);
    return isRead;
  }
  float element(int64_t index) const {
    float value = 0;
    read(index, 1, &value);
    return value;
  }
  /// All of them; empty where they cannot be read.
  std::vector<float> all() const {
    std::vector<float> values(tensor.numElements());
    return read(0, values.size(), values.data()) ? values : std::vector<float>();
  }

private:
  const FileTensor &tensor;
  int descriptor = -1;
};

bool hasFloats(const FileTensor &tensor) {
  return isFloat(tensor.type) && !tensor.isAbsent && tensor.numElements() > 0;
}

/// Some elements and the shape of a matrix, or of its transpose.
size_t sampleMatrix(const FileTensor &tensor, bool transposes) {
  Bytes bytes(tensor);
  int64_t rows = tensor.shape[transposes], columns = tensor.shape[!transposes];
  size_t hash = hash_combine(rows, columns);
  for (int i = 0; i < samples; ++i) {
    int64_t row = (int64_t)(0x9e3779b97f4a7c15u * (i + 1) >> 33) % rows;
    int64_t column = (int64_t)(0xc2b2ae3d27d4eb4fu * (i + 1) >> 33) % columns;
    hash = hash_combine(
        hash, llvm::bit_cast<uint32_t>(bytes.element(transposes ? column * rows + row : row * columns + column)));
  }
  return hash;
}

bool isEqual(const FileTensor &a, const FileTensor &b, bool isTransposed) {
  if (a.shape[0] != b.shape[isTransposed] || a.shape[1] != b.shape[!isTransposed])
    return false;
  if (a.numElements() > compared)
    return true;
  std::vector<float> one = Bytes(a).all(), other = Bytes(b).all();
  auto isSame = [&](int64_t i, int64_t j) { return std::memcmp(&one[i], &other[j], sizeof(float)) == 0; };
  int64_t rows = a.shape[0], columns = a.shape[1];
  bool equal = !one.empty() && !other.empty();
  for (int64_t r = 0; equal && r < rows; ++r)
    for (int64_t c = 0; equal && c < columns; ++c)
      equal = isSame(r * columns + c, isTransposed ? c * rows + r : r * columns + c);
  return equal;
}

} // namespace

std::vector<float> xlc::onnx::readValues(const FileTensor &tensor, int64_t maximum) {
  return hasFloats(tensor) && tensor.numElements() <= maximum ? Bytes(tensor).all() : std::vector<float>();
}

std::optional<float> xlc::onnx::findOneValue(const FileTensor &tensor) {
  if (!hasFloats(tensor))
    return std::nullopt;
  Bytes bytes(tensor);
  float first = bytes.element(0);
  int64_t size = std::min(tensor.numElements(), compared);
  std::vector<float> buffer(std::min<size_t>(chunk, size)); // most tensors of a file are far smaller than a chunk
  for (int64_t at = 0; at < size; at += chunk) {
    size_t count = (size_t)std::min<int64_t>(chunk, size - at);
    if (!bytes.read(at, count, buffer.data()) || std::memcmp(buffer.data(), &first, sizeof(float)) != 0 ||
        std::memcmp(buffer.data(), buffer.data() + 1, (count - 1) * sizeof(float)) != 0)
      return std::nullopt;
  }
  return first;
}

std::vector<std::optional<Twin>> xlc::onnx::findTwins(std::vector<FileTensor> &tensors,
                                                      const std::vector<unsigned> &asked,
                                                      const std::vector<unsigned> &candidates) {
  auto isMatrix = [&](unsigned i) { return hasFloats(tensors[i]) && tensors[i].shape.size() == 2; };
  DenseMap<size_t, SmallVector<unsigned, 1>> known;
  auto add = [&](unsigned i) {
    auto &rivals = known[sampleMatrix(tensors[i], false) >> 2];
    if (rivals.size() < maximumRivals)
      rivals.push_back(i);
  };
  for (unsigned i : candidates)
    if (isMatrix(i))
      add(i);
  std::vector<std::optional<Twin>> twins;
  for (unsigned i : asked) {
    std::optional<Twin> &twin = twins.emplace_back();
    if (!isMatrix(i) || findOneValue(tensors[i]))
      continue;
    for (bool isTransposed : {false, true})
      if (auto found = known.find(sampleMatrix(tensors[i], isTransposed) >> 2); !twin && found != known.end())
        for (unsigned rival : found->second)
          if (!twin && isEqual(tensors[i], tensors[rival], isTransposed))
            twin = Twin{rival, isTransposed};
    if (!twin)
      add(i);
  }
  return twins;
}
