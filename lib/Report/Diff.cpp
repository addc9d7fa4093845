// See Diff.h. Two plans are compared as their JSON, so a new field of the report is compared without new code. The unit
// of a figure follows from the object that contains it, by a table.
#include "xlc/Report/Diff.h"
#include "DescribePlan.h"
#include "ReportJson.h"
#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using Json = nlohmann::ordered_json;

namespace {

enum class Unit { None, Bytes, Flops, Seconds };

/// The unit of the numbers in an object of the report, by the begin of their keys.
constexpr std::pair<StringLiteral, Unit> kUnits[] = {{"memory.", Unit::Bytes},
                                                     {"traffic.", Unit::Bytes},
                                                     {"traffic_of_all_ranks.", Unit::Bytes},
                                                     {"zero.price.traffic", Unit::Bytes},
                                                     {"small_messages", Unit::Bytes},
                                                     {"checkpoint.seconds", Unit::Seconds},
                                                     {"checkpoint.", Unit::Bytes},
                                                     {"device_memory", Unit::Bytes},
                                                     {"flops.", Unit::Flops},
                                                     {"time.messages.gather.memory", Unit::Bytes},
                                                     {"time.messages.reduce.memory", Unit::Bytes},
                                                     {"time.messages.send.memory", Unit::Bytes},
                                                     {"time.messages.receive.memory", Unit::Bytes},
                                                     {"time.weight_gradients.", Unit::Bytes},
                                                     {"time.", Unit::Seconds},
                                                     {"blocking_step", Unit::Seconds}};

/// What two plans of one model have in different numbers without being different, and what stands for itself elsewhere.
constexpr StringLiteral kLeftOut[] = {"groups", "changes", "fp32", "model"};
constexpr StringLiteral kLeftOutOfGroups[] = {"ranks", "stage", "count"};

Unit unitOf(StringRef key) {
  for (const auto &[begin, unit] : kUnits)
    if (key.starts_with(begin))
      return unit;
  return Unit::None;
}

std::string show(Quantity number, Unit unit) {
  return unit == Unit::Bytes ? formatBytes(number) : unit == Unit::Flops ? formatFlops(number) : number.str();
}

std::string show(double number, Unit unit) {
  return unit == Unit::Seconds ? formatSeconds(number) : llvm::formatv("{0:f4}", number).str();
}

/// A value as people read it.
std::string show(const Json &value, Unit unit) {
  if (std::optional<Quantity> number = readQuantity(value); number && unit != Unit::Seconds)
    return show(*number, unit);
  if (value.is_number())
    return show(value.get<double>(), unit);
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string ratioOf(double a, double b) { return a > 0 && b > 0 ? llvm::formatv(", {0:f2} x", b / a).str() : ""; }

/// "+1.20 MiB, 1.50 x"
std::string showChange(const Json &a, const Json &b, Unit unit) {
  std::optional<Quantity> from = readQuantity(a), until = readQuantity(b);
  if (from && until)
    return (*until < *from ? "-" + show(*from - *until, unit) : "+" + show(*until - *from, unit)) +
           ratioOf(double(*from), double(*until));
  if (!a.is_number() || !b.is_number())
    return "";
  double change = b.get<double>() - a.get<double>();
  return (change < 0 ? "-" : "+") + show(std::abs(change), unit) + ratioOf(a.get<double>(), b.get<double>());
}

/// "memory.peak.action" for "/memory/peak/action".
std::string nameKey(StringRef pointer) {
  std::string key = pointer.drop_front().str();
  llvm::replace(key, '/', '.');
  return key;
}

struct Compared {
  std::string key;
  Json a, b;
};

using Figures = std::vector<std::pair<std::string, Json>>;

Figures flatten(const Json &json) {
  Figures figures;
  Json flat = json.flatten();
  for (const auto &[pointer, value] : flat.items())
    figures.emplace_back(nameKey(pointer), value);
  return figures;
}

/// Of the whole plan, and of the group of its fullest rank.
std::array<Figures, 2> listFigures(const PlanReport &report) {
  Json all = reportToJson(report, ""), group = all["groups"][findFullest(report) - report.groups.data()];
  for (StringRef key : kLeftOut)
    all.erase(key.str());
  for (StringRef key : kLeftOutOfGroups)
    group.erase(key.str());
  group["memory"]["peak"].erase("largest_buffers");
  return {flatten(all), flatten(group)};
}

std::vector<Compared> compare(const PlanReport &a, const PlanReport &b) {
  auto find = [](const Figures &figures, const std::string &key) {
    auto it = llvm::find_if(figures, [&](const auto &figure) { return figure.first == key; });
    return it == figures.end() ? Json() : it->second;
  };
  std::vector<Compared> compared;
  for (const auto &[left, right] : llvm::zip_equal(listFigures(a), listFigures(b))) {
    llvm::StringSet<> seen;
    for (const auto &[key, value] : left)
      if (Json other = find(right, key); seen.insert(key).second && other != value)
        compared.push_back({key, value, other});
    for (const auto &[key, value] : right)
      if (!seen.contains(key) && !value.is_null())
        compared.push_back({key, Json(), value});
  }
  return compared;
}

} // namespace

std::vector<Difference> xlc::findDifferences(const PlanReport &a, const PlanReport &b) {
  std::vector<Difference> differences;
  for (const Compared &each : compare(a, b)) {
    Unit unit = unitOf(each.key);
    differences.push_back({each.key, show(each.a, unit), show(each.b, unit), showChange(each.a, each.b, unit)});
  }
  return differences;
}

void xlc::printDiff(const NamedPlan &a, const NamedPlan &b, StringRef model, raw_ostream &out) {
  out << model << "\n  a  " << a.name << ": " << describePlan(a.report) << "\n  b  " << b.name << ": "
      << describePlan(b.report) << "\n\n";
  std::vector<Difference> differences = findDifferences(a.report, b.report);
  if (differences.empty()) {
    out << "nothing differs\n";
    return;
  }
  auto line = [&](StringRef key, StringRef left, StringRef right, StringRef change) {
    std::string text = llvm::formatv("  {0,-40} {1,13} {2,13}  {3}", key, left, right, change);
    out << StringRef(text).rtrim() << "\n";
  };
  line("of the fullest rank", "a", "b", "difference");
  for (const Difference &each : differences)
    line(each.key, each.a.empty() ? "-" : each.a, each.b.empty() ? "-" : each.b, each.change);
}

void xlc::printDiffJson(const NamedPlan &a, const NamedPlan &b, StringRef model, raw_ostream &out) {
  Json json{{"model", model.str()}, {"a", a.name}, {"b", b.name}};
  json["differences"] = Json::array();
  for (const Compared &each : compare(a.report, b.report))
    json["differences"].push_back({{"key", each.key}, {"a", each.a}, {"b", each.b}});
  out << dumpReport(json) << "\n";
}
