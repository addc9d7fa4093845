// The record as `xlc_export` writes it is a JSON document:
//
//   {"version": 1, "parameters": [{"name": "wte.weight", "shape": [50257, 768], "dtype": "float32",
//     "requires_grad": true, "reads": 2, "ties": ["lm_head.weight"]}, ...], "buffers": [...], ...}
//
// Keys that are not read here are for people. All fields are checked first, since a file may contain anything,
// including a deeply nested document. planRecorded (RecordedParameters.cpp) checks the record against the graph.
#include "ReadRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <nlohmann/json.hpp>

using namespace llvm;
using namespace xlc::onnx;
using Json = nlohmann::json;

namespace {

constexpr int deepest = 6; ///< {"parameters": [{"shape": [...]}]} is 4

class RecordReader {
public:
  explicit RecordReader(FileDiagnostics &diagnostics) : diagnostics(diagnostics) {}

  std::optional<ExportRecord> read(StringRef text) {
    Json json = Json::parse(
        text.begin(), text.end(), [](int depth, Json::parse_event_t, Json &) { return depth < deepest; },
        /*allow_exceptions=*/false);
    if (!json.is_object())
      return complain("is not a JSON object"), std::nullopt;
    auto version = json.find("version");
    if (version == json.end() || !version->is_number_integer() || *version != ExportRecord::version)
      return complain("must have version " + Twine(ExportRecord::version) +
                      "; export the model again with the xlc_export that belongs to this xlc"),
             std::nullopt;
    readList(json, "parameters", record.parameters, /*areParameters=*/true);
    readList(json, "buffers", record.buffers, /*areParameters=*/false);
    readDropouts(json);
    return isBad ? std::nullopt : std::optional<ExportRecord>(std::move(record));
  }

private:
  void complain(const Twine &what) {
    isBad = true;
    diagnostics.error("the record '" + ExportRecord::key + "' in the metadata " + what);
  }

  void readList(const Json &json, const char *key, std::vector<ExportRecord::Tensor> &to, bool areParameters) {
    auto list = json.find(key);
    if (list == json.end() || !list->is_array())
      return complain("has no list '" + Twine(key) + "'");
    for (const Json &entry : *list) {
      std::string where = "'" + std::string(key) + "[" + std::to_string(to.size()) + "]'";
      ExportRecord::Tensor &tensor = to.emplace_back();
      if (!entry.is_object())
        return complain("needs a JSON object at " + where);
      if (!readName(entry.value("name", Json()), tensor.name) || !readShape(entry, tensor.shape) ||
          !readName(entry.value("dtype", Json()), tensor.dtype) || !readReads(entry, tensor.reads) ||
          !readTies(entry, tensor.ties) || (areParameters && !readGradient(entry, tensor.requiresGradient)))
        return complain("needs " + problem + " in " + where);
      for (const std::string &name : tensor.ties)
        addName(name);
      addName(tensor.name);
    }
  }

  void readDropouts(const Json &json) {
    auto list = json.find("dropout");
    if (list == json.end() || !list->is_array())
      return;
    for (const Json &entry : *list) {
      ExportRecord::Dropout &made = record.dropouts.emplace_back();
      Json ratio = entry.is_object() ? entry.value("p", Json()) : Json(),
           isOn = entry.is_object() ? entry.value("training", Json()) : Json();
      if (!ratio.is_number() || !isOn.is_boolean() || !entry.value("module", Json()).is_string())
        return complain("needs a string 'module', a number 'p' and a boolean 'training' in 'dropout[" +
                        Twine(record.dropouts.size() - 1) + "]'");
      made = {entry["module"].get<std::string>(), ratio.get<double>(), isOn.get<bool>()};
    }
  }

  void addName(const std::string &name) {
    if (!names.insert(name).second)
      complain("lists '" + name + "' twice");
  }

  bool readName(const Json &value, std::string &to) {
    problem = "strings 'name' and 'dtype'";
    if (!value.is_string())
      return false;
    to = value.get<std::string>();
    return !to.empty() && checkName(to).empty();
  }

  bool readShape(const Json &entry, std::vector<int64_t> &to) {
    problem = "a 'shape' of at most " + std::to_string(maximumRank) + " sizes";
    auto shape = entry.find("shape");
    if (shape == entry.end() || !shape->is_array() || shape->size() > (size_t)maximumRank)
      return false;
    for (const Json &size : *shape) {
      if (!isCount(size))
        return false;
      to.push_back(size.get<int64_t>());
    }
    return true;
  }

  bool readReads(const Json &entry, int64_t &to) {
    problem = "a number 'reads'";
    auto reads = entry.find("reads");
    if (reads == entry.end() || !isCount(*reads))
      return false;
    to = reads->get<int64_t>();
    return true;
  }

  static bool isCount(const Json &value) {
    return value.is_number_integer() && value >= 0 && value <= (uint64_t)maximumElements;
  }

  bool readTies(const Json &entry, std::vector<std::string> &to) {
    auto ties = entry.find("ties");
    if (ties == entry.end())
      return true;
    bool isList =
        ties->is_array() && llvm::all_of(*ties, [&](const Json &name) { return readName(name, to.emplace_back()); });
    problem = "a list 'ties' of names";
    return isList;
  }

  bool readGradient(const Json &entry, bool &to) {
    problem = "a boolean 'requires_grad'";
    auto value = entry.find("requires_grad");
    if (value == entry.end() || !value->is_boolean())
      return false;
    to = value->get<bool>();
    return true;
  }

  FileDiagnostics &diagnostics;
  ExportRecord record;
  StringSet<> names;
  std::string problem; ///< what the last check asked for
  bool isBad = false;
};

} // namespace

std::optional<ExportRecord> xlc::onnx::readExportRecord(StringRef text, FileDiagnostics &diagnostics) {
  return RecordReader(diagnostics).read(text);
}
