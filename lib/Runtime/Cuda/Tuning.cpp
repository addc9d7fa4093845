// See Tuning.h.
#include "Tuning.h"

#include "Failure.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

namespace xlc::runtime::cuda {
namespace {

using Json = nlohmann::ordered_json;

/// Of the time of the first choice.
constexpr Milliseconds leastGain = 0.01F;

std::string recordOf(const cublaslt::Algorithm &algorithm) {
  std::string digits;
  for (uint64_t word : algorithm.data)
    digits += fmt::format("{:016x}", word);
  return digits;
}

/// None where it is no record.
std::optional<cublaslt::Algorithm> algorithmOf(const std::string &record) {
  constexpr size_t digits = 16;
  cublaslt::Algorithm algorithm;
  if (record.size() != digits * std::size(algorithm.data))
    return std::nullopt;
  for (size_t i = 0; i < std::size(algorithm.data); ++i) {
    const char *begin = record.data() + i * digits;
    auto [end, problem] = std::from_chars(begin, begin + digits, algorithm.data[i], 16);
    if (problem != std::errc() || end != begin + digits)
      return std::nullopt;
  }
  return algorithm;
}

/// Places of operands one behind the other, each at a multiple of what any algorithm may ask for.
class Places {
public:
  /// With a null base it only counts.
  explicit Places(char *base) : base(base) {}
  void *next(uint64_t bytes) {
    char *place = base && bytes ? base + taken : nullptr;
    taken += (bytes + cublaslt::mostAlignment - 1) / cublaslt::mostAlignment * cublaslt::mostAlignment;
    return place;
  }
  uint64_t bytes() const { return taken; }

private:
  char *const base;
  uint64_t taken = 0;
};

ProductOperands place(const Product &product, Places &places) {
  const Product::Spans &s = product.spans();
  return {places.next(s.a), places.next(s.b), places.next(s.bias), places.next(s.beside), places.next(s.y)};
}

uint64_t mostWorkspace(const Product &product) {
  uint64_t most = 0;
  for (const cublaslt::Choice &choice : product.algorithms())
    most = std::max<uint64_t>(most, choice.workspace);
  return most;
}

/// To what the clock of a GPU shows.
double shorten(Milliseconds time) { return std::round(time * 1e4) / 1e4; }

/// Null where the object has no such text.
const std::string *findText(const Json &object, const char *key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get_ptr<const std::string *>() : nullptr;
}

} // namespace

void Tuning::reject(const std::string &why) const { throw Rejected(fmt::format("{}: error: {}", name, why)); }

Tuning Tuning::read(const std::string &name, const std::string &text) {
  Tuning made("", "");
  made.name = name;
  Json whole = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string *gpu = findText(whole, "gpu"), *library = findText(whole, "cublaslt");
  auto products = whole.is_object() ? whole.find("products") : whole.end();
  if (!gpu || !library || products == whole.end() || !products->is_array())
    made.reject("not a tuning file: it must have 'gpu', 'cublaslt' and 'products'");
  made.gpu = *gpu, made.library = *library;
  for (const Json &each : *products) {
    const std::string *product = findText(each, "product"), *algorithm = findText(each, "algorithm");
    if (!product || !algorithm)
      made.reject(fmt::format("entry {} of 'products' must have 'product' and 'algorithm'", made.products.size() + 1));
    if (!made.products.insert({*product, {*algorithm, 0, 0}}).second)
      made.reject(fmt::format("'products' has the product {} twice", *product));
  }
  return made;
}

std::string Tuning::write() const {
  Json entries = Json::array();
  for (const auto &[product, tuned] : products)
    entries.push_back({{"product", product},
                       {"algorithm", tuned.algorithm},
                       {"milliseconds", shorten(tuned.taken)},
                       {"first", shorten(tuned.first)}});
  return Json{{"gpu", gpu}, {"cublaslt", library}, {"products", entries}}.dump(1) + "\n";
}

void Tuning::check(const std::string &here, const std::string &version) const {
  if (gpu != here || library != version)
    reject(
        fmt::format("it is for {} and cuBLASLt {}, but this machine has {} and cuBLASLt {}: create a file with --tune",
                    gpu, library, here, version));
}

void Tuning::apply(const std::string &call, Product &product) const {
  auto found = products.find(product.description());
  if (found == products.end())
    reject(fmt::format("it has no entry for the product of call '{}', {}: the file was created by a different program, "
                       "or before this program was compiled; create a file with --tune",
                       call, product.description()));
  const std::vector<cublaslt::Choice> &offered = product.algorithms();
  for (size_t i = 0; i < offered.size(); ++i)
    if (recordOf(offered[i].algorithm) == found->second.algorithm)
      return product.take(i);
  std::optional<cublaslt::Algorithm> written = algorithmOf(found->second.algorithm);
  if (!written || !product.restore(*written))
    reject(fmt::format(
        "cuBLASLt {} does not accept the recorded algorithm for call '{}', {}: create a tuning file with --tune",
        library, call, product.description()));
}

uint64_t bytesToTime(const Product &product) {
  Places places(nullptr);
  places.next(mostWorkspace(product));
  place(product, places);
  return places.bytes();
}

TunedProduct tune(Product &product, char *memory, const Stopwatch &watch, Stream stream) {
  Places places(memory);
  void *workspace = places.next(mostWorkspace(product));
  ProductOperands operands = place(product, places);
  auto run = [&] { product.run(operands, /*adds=*/false, workspace, stream); };
  auto isRefused = [&] {
    try {
      run();
      return false;
    } catch (const DeviceFailure &) {
      return true;
    }
  };
  Milliseconds first = watch.time(run), best = std::numeric_limits<Milliseconds>::max();
  size_t fastest = 0;
  for (size_t i = 1; i < product.algorithms().size(); ++i) {
    product.take(i);
    if (isRefused()) // where the device has failed, so does the next call
      continue;
    if (Milliseconds taken = watch.time(run); taken < best)
      best = taken, fastest = i;
  }
  product.take(0);
  first = std::min(first, watch.time(run)); // the device may have been idle before
  if (best >= first * (1 - leastGain))
    best = first, fastest = 0;
  product.take(fastest);
  return {recordOf(product.algorithms()[fastest].algorithm), best, first};
}

} // namespace xlc::runtime::cuda
