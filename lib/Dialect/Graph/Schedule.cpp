// See Schedule.h.
#include "xlc/Dialect/Graph/Schedule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "xlc/Dialect/Graph/Update.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;
using runtime::RateCurve, runtime::RateSchedule, runtime::ScheduleRow;

namespace {

constexpr StringLiteral kType = "type", kWarmupShape = "warmup_shape", kDecayShape = "decay_shape",
                        kMilestones = "milestones";

const ScheduleRow *findRow(DictionaryAttr entries) {
  auto name = entries ? entries.getAs<StringAttr>(kType) : StringAttr();
  const ScheduleRow *row = llvm::find_if(
      runtime::kSchedules, [&](const ScheduleRow &each) { return name && name.getValue() == StringRef(each.name); });
  return row == std::end(runtime::kSchedules) ? nullptr : row;
}

std::optional<RateCurve> findCurve(DictionaryAttr entries, StringRef key) {
  auto name = entries.getAs<StringAttr>(key);
  const auto *found = llvm::find_if(runtime::kRateCurves,
                                    [&](std::string_view each) { return name && name.getValue() == StringRef(each); });
  return found == std::end(runtime::kRateCurves) ? std::nullopt
                                                 : std::optional(RateCurve(found - std::begin(runtime::kRateCurves)));
}

} // namespace

DictionaryAttr graph::toAttribute(const RateSchedule &schedule, MLIRContext *context) {
  Builder b(context);
  SmallVector<NamedAttribute> entries{b.getNamedAttr(kType, b.getStringAttr(schedule.row().name))};
  for (const runtime::ScheduleKeyRow &row : runtime::kScheduleKeys)
    if (std::optional<double> number = schedule.numbers[size_t(row.key)])
      entries.push_back(b.getNamedAttr(row.name, b.getF64FloatAttr(*number)));
  if (schedule.warmupShape)
    entries.push_back(b.getNamedAttr(kWarmupShape, b.getStringAttr(nameOf(*schedule.warmupShape))));
  if (schedule.decayShape)
    entries.push_back(b.getNamedAttr(kDecayShape, b.getStringAttr(nameOf(*schedule.decayShape))));
  if (!schedule.milestones.empty())
    entries.push_back(b.getNamedAttr(kMilestones, b.getDenseF64ArrayAttr(schedule.milestones)));
  return b.getDictionaryAttr(entries);
}

LogicalResult graph::verifySchedule(function_ref<InFlightDiagnostic()> emitError, Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  const ScheduleRow *row = findRow(entries);
  if (!row)
    return emitError() << kSchedule << " must have the name of a schedule as its " << kType;
  for (NamedAttribute entry : entries) {
    StringRef name = entry.getName();
    const auto *key = llvm::find_if(runtime::kScheduleKeys,
                                    [&](const runtime::ScheduleKeyRow &each) { return name == StringRef(each.name); });
    bool isNumber = key != std::end(runtime::kScheduleKeys) && row->find(key->key) && isa<FloatAttr>(entry.getValue());
    bool isShape = (name == kWarmupShape || name == kDecayShape) && findCurve(entries, name);
    if (!isNumber && !isShape && name != kType && !(name == kMilestones && isa<DenseF64ArrayAttr>(entry.getValue())))
      return emitError() << kSchedule << " of type " << StringRef(row->name) << " cannot have " << name << " = "
                         << entry.getValue();
  }
  return success();
}

RateSchedule graph::scheduleOf(ModuleOp module) {
  RateSchedule schedule;
  std::vector<OptimizerGroup> groups = OptimizerGroup::of(module);
  schedule.firstRate = groups.empty() ? 0 : groups.front().get(HyperParameter::LearningRate);
  auto entries = module->getAttrOfType<DictionaryAttr>(kSchedule);
  if (!entries)
    return schedule;
  schedule.type = findRow(entries)->type;
  for (const runtime::ScheduleKeyRow &row : runtime::kScheduleKeys)
    if (auto number = entries.getAs<FloatAttr>(StringRef(row.name)))
      schedule[row.key] = number.getValueAsDouble();
  schedule.warmupShape = findCurve(entries, kWarmupShape), schedule.decayShape = findCurve(entries, kDecayShape);
  if (auto milestones = entries.getAs<DenseF64ArrayAttr>(kMilestones))
    schedule.milestones = milestones.asArrayRef().vec();
  return schedule;
}
