// Reads state dicts with the reader of the training programs (lib/Runtime/Files), which checks the header according to
// the format, and the checksums of a file that has some. Here names are checked as those of a model are, and values are
// converted to float32, the type of all parameters. Integers are entries too (counters, masks); they are never
// parameters.
#include "StateDict.h"
#include "xlc/Runtime/Narrow.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;
using namespace xlc::onnx;

namespace {

struct FloatType {
  StringLiteral name;
  int width;
};
constexpr FloatType floatTypes[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}};

const FloatType *findType(StringRef name) {
  const auto *row = llvm::find_if(floatTypes, [&](const FloatType &type) { return type.name == name; });
  return row == std::end(floatTypes) ? nullptr : row;
}

/// The float32 that `width` bytes of `type` stand for.
float convert(StringRef type, const char *from) {
  uint16_t half;
  std::memcpy(&half, from, sizeof half);
  if (type == "F16")
    return xlc::runtime::fromHalf(half);
  if (type == "BF16")
    return xlc::runtime::fromBf16(half);
  double value;
  std::memcpy(&value, from, sizeof value);
  return (float)value;
}

} // namespace

int64_t StateTensor::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool StateTensor::isFloat() const { return findType(type); }

StateDict::StateDict() = default;
StateDict::StateDict(StateDict &&) = default;
StateDict::~StateDict() = default;

std::optional<StateDict> StateDict::open(const Spec &spec, FileDiagnostics &diagnostics) {
  const std::string &path = spec.init.stateDict;
  StateDict dict;
  dict.spec = &spec;
  dict.file = path;
  try {
    dict.reader = std::make_unique<runtime::SafetensorsReader>(path);
    dict.seal = dict.reader->seal();
  } catch (const std::runtime_error &problem) {
    diagnostics.error(spec, "init.from", "init.from: " + Twine(problem.what()));
    return std::nullopt;
  }
  if (!dict.takeTensors(diagnostics))
    return std::nullopt;
  return dict;
}

bool StateDict::takeTensors(FileDiagnostics &diagnostics) {
  auto refuse = [&](StringRef name, const Twine &why) {
    diagnostics.error(*spec, "init.from", "init.from: " + Twine(file) + ": error: '" + name + "' " + why);
    return false;
  };
  bool isGood = true;
  for (const auto &[name, stored] : reader->tensors()) {
    StateTensor &tensor = all.emplace_back(StateTensor{name, stored.dtype, {}, stored.begin});
    if (std::string problem = checkName(name); !problem.empty())
      isGood = refuse(name, problem);
    if (stored.shape.size() > maximumRank)
      isGood = refuse(name, "has " + Twine(stored.shape.size()) + " dimensions, but at most " + Twine(maximumRank) +
                                " are supported");
    uint64_t elements = 1;
    for (uint64_t size : stored.shape) {
      elements *= std::max<uint64_t>(size, 1);
      if (size > (uint64_t)maximumElements || elements > (uint64_t)maximumElements) {
        isGood = refuse(name, "has more elements than xlc supports");
        break;
      }
      tensor.shape.push_back((int64_t)size);
    }
  }
  return isGood;
}

bool StateDict::read(const StateTensor &tensor, std::vector<float> &elements, FileDiagnostics &diagnostics) const {
  const FloatType *type = findType(tensor.type);
  size_t count = (size_t)tensor.numElements();
  elements.resize(count);
  try {
    if (type->width == 4 && tensor.type == "F32") {
      reader->read(tensor.offset, count * 4, elements.data());
      runtime::Checksum checksum;
      checksum.add(elements.data(), count * 4);
      if (std::string why = seal ? seal->findDamage(tensor.name, checksum) : ""; !why.empty())
        reader->reject(why);
      return true;
    }
    std::vector<char> stored(count * type->width + sizeof(double)); // so that a read of 8 bytes stays within
    reader->read(tensor.offset, count * type->width, stored.data());
    for (size_t i = 0; i < count; ++i)
      elements[i] = convert(type->name, &stored[i * type->width]);
    return true;
  } catch (const std::runtime_error &problem) {
    diagnostics.error(*spec, "init.from", "init.from: " + Twine(problem.what()));
    return false;
  }
}

std::optional<InitialValue> StateDict::initialValue(const StateTensor &tensor, FileDiagnostics &diagnostics) const {
  if (tensor.type == "F32")
    return InitialValue{file, tensor.offset, {}};
  std::vector<float> elements;
  if (!read(tensor, elements, diagnostics))
    return std::nullopt;
  return InitialValue{
      {}, 0, std::string(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(float))};
}
