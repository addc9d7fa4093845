// Reads a reference file without trusting it: sizes are checked before elements, names and numbers before they are
// used.
#include "Failure.h"
#include "Files/Safetensors.h"
#include "xlc/Reference/Reference.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace xlc;
using namespace xlc::reference;
using llvm::StringRef;
using Json = nlohmann::json;
namespace rt = xlc::runtime;

namespace {

constexpr StringRef documentKey = "xlc.reference";
constexpr int64_t version = 1;
constexpr int deepest = 8;                 // levels of the document; version 1 has three
constexpr uint64_t largestFile = 64 << 20; // hundreds of kB in practice

template <class To, class From> std::vector<To> convert(const std::vector<char> &bytes) {
  std::vector<To> elements(bytes.size() / sizeof(From));
  for (size_t i = 0; i < elements.size(); ++i) {
    From from;
    std::memcpy(&from, bytes.data() + i * sizeof(From), sizeof(From));
    elements[i] = (To)from;
  }
  return elements;
}

/// Reads one file; what is wrong with it throws runtime::Rejected.
class Reading {
public:
  explicit Reading(const std::string &path) : reader(path) { result.path = path; }

  Reference run() {
    readDocument();
    readInputs();
    readLoss();
    readGradients();
    readBuffers();
    return std::move(result);
  }

private:
  /// The document's members that are not tensors' names.
  void readDocument() {
    auto text = reader.metadata().find(documentKey.str());
    if (text == reader.metadata().end())
      reader.reject("the file has no metadata '" + documentKey.str() + "'; write it with xlc_export.reference");
    document = Json::parse(
        text->second.begin(), text->second.end(),
        [](int depth, Json::parse_event_t, Json &) { return depth < deepest; }, /*allow_exceptions=*/false);
    if (!document.is_object())
      reader.reject("'" + documentKey.str() + "' is not a JSON object");
    if (int64_t found = number("version"); found != version)
      reader.reject("the file has format version " + std::to_string(found) + ", but this xlc reads version " +
                    std::to_string(version));
    result.rows = number("rows");
    if (result.rows < 1 || result.rows > 1 << 20)
      reader.reject("'rows' is " + std::to_string(result.rows) + "; it must be between 1 and 1048576");
    result.torch = textOf("torch");
    result.labels = textOf("labels");
    for (std::string &name : names("frozen"))
      result.frozen.insert(std::move(name));
    result.unmatched = names("unmatched");
    for (const auto &[first, others] : find("ties").items())
      for (std::string &other : texts(others, "ties"))
        result.ties.emplace(std::move(other), first);
    const Json &forward = find("forward");
    if (const Json *evaluator = member(forward, "evaluator"); evaluator && evaluator->is_string())
      result.evaluator = evaluator->get<std::string>();
    if (const Json *loss = member(forward, "loss"); loss && loss->is_number())
      result.evaluatedLoss = loss->get<double>();
  }

  static const Json *member(const Json &object, const std::string &key) {
    auto found = object.find(key); // the end where it is no object
    return found == object.end() ? nullptr : &*found;
  }
  /// Null where the document has no such member.
  const Json &find(const std::string &key) const {
    static const Json none;
    const Json *found = member(document, key);
    return found ? *found : none;
  }

  int64_t number(const std::string &key) const {
    const Json &value = find(key);
    if (!value.is_number_integer())
      reader.reject("'" + key + "' of '" + documentKey.str() + "' is not an integer");
    return value.get<int64_t>();
  }

  /// Empty where it is not a text.
  std::string textOf(const std::string &key) const {
    const Json &value = find(key);
    return value.is_string() ? value.get<std::string>() : "";
  }

  std::vector<std::string> texts(const Json &value, const std::string &key) const {
    bool isList = value.is_array() && llvm::all_of(value, [](const Json &each) { return each.is_string(); });
    if (!isList)
      reader.reject("'" + key + "' of '" + documentKey.str() + "' is not a list of strings");
    return value.get<std::vector<std::string>>();
  }
  /// A list that may be left out.
  std::vector<std::string> names(const std::string &key) const {
    const Json &value = find(key);
    return value.is_null() ? std::vector<std::string>() : texts(value, key);
  }

  const rt::StoredTensor &tensor(const std::string &name) {
    auto found = reader.tensors().find(name);
    if (found == reader.tensors().end())
      reader.reject("the file has no tensor '" + name + "'");
    if (found->second.bytes > largestFile)
      reader.reject("tensor '" + name + "' has " + std::to_string(found->second.bytes) + " bytes, but at most " +
                    std::to_string(largestFile) + " are read");
    return found->second;
  }

  std::vector<char> bytesOf(const rt::StoredTensor &stored) {
    std::vector<char> bytes(stored.bytes);
    reader.read(stored.begin, stored.bytes, bytes.data());
    return bytes;
  }

  /// `count` numbers of float64.
  std::vector<double> numbers(const std::string &name, uint64_t count) {
    const rt::StoredTensor &stored = tensor(name);
    if (stored.dtype != "F64" || stored.bytes != count * sizeof(double))
      reader.reject("tensor '" + name + "' must have " + std::to_string(count) + " elements of type F64");
    return convert<double, double>(bytesOf(stored));
  }

  void readInputs() {
    constexpr StringRef prefix = "input.";
    const Json &scales = find("scales");
    for (const auto &[name, stored] : reader.tensors()) {
      StringRef input = name;
      if (!input.consume_front(prefix))
        continue;
      const Json *scale = member(scales, input.str());
      Input read{{stored.shape.begin(), stored.shape.end()}, {}};
      if (read.shape.empty() || read.shape.front() != result.rows)
        reader.reject("input '" + input.str() + "' does not have " + std::to_string(result.rows) +
                      " rows along dimension 0");
      std::optional<double> step = scale && scale->is_number() ? std::optional(scale->get<double>()) : std::nullopt;
      read.elements = elementsOf(input, tensor(name), step);
      result.inputs.emplace(input.str(), std::move(read));
    }
    if (!result.labels.empty() && !result.inputs.contains(result.labels))
      reader.reject("the file has no rows for the labels '" + result.labels + "'");
  }

  std::variant<std::vector<double>, std::vector<int64_t>> elementsOf(StringRef input, const rt::StoredTensor &stored,
                                                                     std::optional<double> scale) {
    std::vector<char> bytes = bytesOf(stored);
    if (scale && stored.dtype == "I8") { // of floats, in steps of the scale
      std::vector<double> elements = convert<double, int8_t>(bytes);
      for (double &element : elements)
        element *= *scale;
      return elements;
    }
    if (stored.dtype == "F32")
      return convert<double, float>(bytes);
    if (stored.dtype == "F64")
      return convert<double, double>(bytes);
    if (stored.dtype == "I64")
      return convert<int64_t, int64_t>(bytes);
    if (stored.dtype == "I32")
      return convert<int64_t, int32_t>(bytes);
    if (stored.dtype == "BOOL" || stored.dtype == "U8")
      return convert<int64_t, uint8_t>(bytes);
    reader.reject("input '" + input.str() + "' has type " + stored.dtype +
                  "; it must be F32, F64, I64, I32, U8 or BOOL");
  }

  void readLoss() {
    result.loss = numbers("loss", 1).front();
    result.lossFloat32Distance = std::abs(numbers("loss.float32", 1).front() - result.loss);
  }

  static Fingerprint fingerprintAt(const double *from) {
    Fingerprint made{from[0], {}};
    std::copy_n(from + 1, made.projections.size(), made.projections.begin());
    return made;
  }

  void readGradients() {
    std::vector<std::string> all = names("parameters");
    constexpr size_t width = 1 + std::tuple_size_v<decltype(Fingerprint::projections)>;
    std::vector<double> wide = numbers("gradients", all.size() * width),
                        narrow = numbers("gradients.float32", all.size() * width);
    for (auto [i, name] : llvm::enumerate(all)) {
      Fingerprint value = fingerprintAt(&wide[i * width]);
      result.parameters.push_back({name, value, estimateDistance(value, fingerprintAt(&narrow[i * width]))});
    }
  }

  void readBuffers() {
    std::vector<std::string> projected = names("projected");
    for (const std::string &name : names("buffers")) {
      bool isProjected = llvm::is_contained(projected, name);
      Expectation &buffer = result.buffers.emplace_back(name, readBuffer("buffer." + name, isProjected));
      if (std::string begin = "begin." + name; reader.tensors().count(begin)) // files before it have none
        buffer.begin = readBuffer(begin, isProjected);
    }
  }

  Fingerprint readBuffer(const std::string &name, bool isProjected) {
    std::vector<double> values = numbers(name, tensor(name).bytes / sizeof(double));
    if (!isProjected)
      return fingerprintOf(values);
    if (values.size() != 17)
      reader.reject("tensor '" + name + "' has " + std::to_string(values.size()) +
                    " elements, but a projection must have 17");
    return fingerprintAt(values.data());
  }

  rt::SafetensorsReader reader;
  Json document;
  Reference result;
};

} // namespace

std::optional<Reference> reference::readReference(StringRef path, Diagnostics &diagnostics) {
  try {
    return Reading(path.str()).run();
  } catch (const rt::Rejected &problem) {
    StringRef text = problem.what(); // "error: FILE: ...", or "FILE: error: ..."
    text.consume_front("error: ");
    text.consume_front(path);
    text.consume_front(": ");
    text.consume_front("error: ");
    diagnostics.error(path, text);
    return std::nullopt;
  }
}
