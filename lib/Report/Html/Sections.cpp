// See Sections.h. Coordinates of memory and of the arena are bytes with a decimal point, so that a picture can be read
// back to the byte; those of time are columns, moments, or parts of a step.
#include "Sections.h"
#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
namespace json = llvm::json;

namespace {

constexpr size_t kCauses = exec::getMaxEnumValForCause() + 1;

std::string nameCause(exec::Cause cause) { return exec::stringifyCause(cause).str(); }

/// Bytes as coordinates. Browsers take no large ones: a point moves so many digits to the left that the height of the
/// picture has few before it, and no digit is lost.
class Coordinates {
public:
  static constexpr size_t kBefore = 5;

  explicit Coordinates(int64_t height) : height(height) {
    size_t all = std::to_string(height).size();
    digits = all > kBefore ? all - kBefore : 0;
  }
  std::string operator()(int64_t bytes) const {
    std::string text = std::to_string(std::abs(bytes));
    text.insert(0, digits >= text.size() ? digits - text.size() + 1 : 0, '0');
    std::string behind = StringRef(text).take_back(digits).rtrim('0').str();
    text.resize(text.size() - digits);
    return (bytes < 0 ? "-" : "") + text + (behind.empty() ? "" : "." + behind);
  }

  int64_t height;
  size_t digits; ///< behind the point
};

/// The area under steps of the heights that `heightOf` gives: from the top of the picture, "M0 Hy0 ..." closed along
/// its bottom.
std::string drawArea(ArrayRef<MemoryColumn> columns, const Coordinates &scale,
                     function_ref<int64_t(const MemoryColumn &)> heightOf) {
  std::string path;
  llvm::raw_string_ostream out(path);
  int64_t y = scale.height - heightOf(columns.front()), length = 0;
  out << "M0 " << scale(scale.height) << "V" << scale(y);
  for (const MemoryColumn &column : columns) {
    int64_t next = scale.height - heightOf(column);
    if (next != y) {
      out << "h" << length << "v" << scale(next - y);
      y = next, length = 0;
    }
    ++length;
  }
  out << "h" << length << "V" << scale(scale.height) << "z";
  return path;
}

/// The stacks of all causes, the topmost first: each area reaches to the bottom, and the next one covers what it
/// leaves.
json::Array drawStacks(ArrayRef<MemoryColumn> columns, const Coordinates &scale) {
  json::Array paths;
  for (size_t cause = kCauses; cause-- > 0;) {
    auto reach = [&](const MemoryColumn &column) {
      return std::accumulate(column.byCause.begin(), column.byCause.begin() + cause + 1, int64_t(0));
    };
    paths.push_back(json::Object{{"cause", nameCause(exec::Cause(cause))}, {"d", drawArea(columns, scale, reach)}});
  }
  return paths;
}

/// A box of height 1 for each stretch of columns of a pass.
json::Array drawStrips(ArrayRef<MemoryColumn> columns) {
  std::array<std::string, kStepParts> paths;
  for (size_t begin = 0, end = 0; begin < columns.size(); begin = end) {
    while (end < columns.size() && columns[end].part == columns[begin].part)
      ++end;
    paths[size_t(columns[begin].part)] += llvm::formatv("M{0} 0h{1}v1h-{1}z", begin, end - begin);
  }
  json::Array strips;
  for (auto [pass, path] : llvm::enumerate(paths))
    if (!path.empty())
      strips.push_back(json::Object{{"pass", nameOf(StepPart(pass))}, {"d", path}});
  return strips;
}

json::Array causeNames() {
  json::Array names;
  for (size_t cause = 0; cause < kCauses; ++cause)
    names.push_back(json::Object{{"cause", nameCause(exec::Cause(cause))}});
  return names;
}

json::Array passNames() {
  json::Array names;
  for (size_t part = 0; part < kStepParts; ++part)
    names.push_back(json::Object{{"pass", nameOf(StepPart(part))}});
  return names;
}

json::Object memoryFigure(const DrawnStage &stage, size_t index, int64_t height) {
  Coordinates scale(height);
  const StagePicture &picture = stage.picture;
  const MemoryColumn &fullest = picture.columns[picture.fullest];
  json::Object figure{{"name", stage.name},
                      {"index", int64_t(index)},
                      {"action", picture.actions.empty() ? "" : picture.actions[fullest.action]},
                      {"moment", fullest.moment},
                      {"moments", picture.moments},
                      {"bytes", formatBytes(fullest.total())},
                      {"top", formatBytes(height)},
                      {"fullest", int64_t(picture.fullest)},
                      {"mark", llvm::formatv("{0}.5", picture.fullest).str()},
                      {"columns", int64_t(picture.columns.size())},
                      {"height", scale(height)},
                      {"digits", int64_t(scale.digits)},
                      {"paths", drawStacks(picture.columns, scale)},
                      {"strips", drawStrips(picture.columns)}};
  if (stage.limit && *stage.limit < height)
    figure["limit"] = json::Object{{"y", scale(height - std::max<int64_t>(*stage.limit, 0))}};
  return figure;
}

json::Object memoryRow(const DrawnStage &stage) {
  const MemoryReport &memory = stage.first->memory;
  json::Array cells;
  for (int64_t bytes : memory.byCause)
    cells.push_back(describeBytes(bytes));
  for (int64_t bytes : {memory.lowerBound, memory.gaps(), memory.arena, sumOf(memory.outside), memory.total()})
    cells.push_back(describeBytes(bytes));
  return json::Object{{"name", stage.name}, {"cells", std::move(cells)}};
}

} // namespace

json::Object xlc::describeBytes(Quantity bytes) {
  return json::Object{{"bytes", formatBytes(bytes)}, {"exact", groupDigits(bytes) + " B"}};
}

json::Object xlc::memorySection(ArrayRef<DrawnStage> stages) {
  int64_t height = 1;
  for (const DrawnStage &stage : stages)
    height = std::max(height, stage.first->memory.lowerBound);
  int64_t highest = height;
  for (const DrawnStage &stage : stages)
    if (stage.limit && double(*stage.limit) < 1.25 * double(highest))
      height = std::max(height, *stage.limit + 1);
  json::Array figures, rows;
  for (auto [index, stage] : llvm::enumerate(stages)) {
    figures.push_back(memoryFigure(stage, index, height));
    rows.push_back(memoryRow(stage));
  }
  std::string text = "Live bytes of the arena, by cause, from the first moment of a step to its last; a moment is a "
                     "call of a kernel or an action between two runs. The dashed line marks the fullest moment.";
  if (llvm::any_of(stages, [&](const DrawnStage &stage) { return stage.limit && *stage.limit < height; }))
    text += " The red line is the device memory that is available to the arena.";
  return json::Object{{"text", text},
                      {"causes", causeNames()},
                      {"passes", passNames()},
                      {"stages", std::move(figures)},
                      {"rows", std::move(rows)}};
}

json::Object xlc::scriptData(ArrayRef<DrawnStage> stages) {
  json::Array all, labels;
  for (const DrawnStage &stage : stages) {
    json::Array moments, actions;
    for (const MemoryColumn &column : stage.picture.columns) {
      moments.push_back(column.moment);
      actions.push_back(int64_t(labels.size() + column.action));
    }
    all.push_back(json::Object{{"moments", std::move(moments)}, {"actions", std::move(actions)}});
    for (const std::string &label : stage.picture.actions)
      labels.push_back(label);
  }
  return json::Object{{"stages", std::move(all)}, {"actions", std::move(labels)}};
}

json::Object xlc::arenaSection(ArrayRef<const DrawnStage *> stages) {
  json::Array maps;
  for (const DrawnStage *stage : stages) {
    json::Array rects;
    int64_t arena = std::max<int64_t>(stage->first->memory.arena, 1);
    Coordinates scale(arena);
    for (const MappedBuffer &buffer : stage->picture.mapped)
      rects.push_back(json::Object{{"cause", nameCause(buffer.cause)},
                                   {"name", buffer.name},
                                   {"bytes", formatBytes(buffer.size)},
                                   {"x", buffer.first},
                                   {"y", scale(arena - buffer.offset - buffer.size)},
                                   {"width", buffer.last - buffer.first + 1},
                                   {"height", scale(buffer.size)}});
    maps.push_back(json::Object{{"name", stage->name},
                                {"bytes", formatBytes(arena)},
                                {"moments", std::max<int64_t>(stage->picture.moments, 1)},
                                {"height", scale(arena)},
                                {"count", int64_t(stage->picture.mapped.size())},
                                {"left", int64_t(stage->picture.unmapped)},
                                {"rects", std::move(rects)}});
  }
  return json::Object{
      {"text",
       llvm::formatv("Placement of the buffers: offsets in the arena from bottom to top, time from left to right, "
                     "colours as above. Shown are buffers of at least 1/{0} of the arena, at most {1} per stage.",
                     StagePicture::kMappedPart, StagePicture::kMapped)
           .str()},
      {"maps", std::move(maps)}};
}

json::Object xlc::largestSection(const DrawnStage &stage) {
  json::Array rows;
  for (const PeakBuffer &buffer : stage.picture.largest) {
    json::Object row = describeBytes(buffer.bytes);
    row["name"] = buffer.name;
    row["cause"] = nameCause(buffer.cause);
    row["width"] = std::lround(1000 * double(buffer.bytes) / double(stage.picture.largest.front().bytes));
    rows.push_back(std::move(row));
  }
  return json::Object{{"name", stage.name}, {"rows", std::move(rows)}};
}

json::Object xlc::unitsSection(const DrawnStage &stage) {
  constexpr size_t kLines = 30;
  std::vector<const RunLine *> lines;
  Quantity all, others;
  int64_t otherRuns = 0;
  for (const RunLine &line : stage.picture.runs)
    lines.push_back(&line), all += line.flops;
  llvm::sort(lines, [](const RunLine *a, const RunLine *b) {
    return std::tie(b->flops, a->label) < std::tie(a->flops, b->label);
  });
  json::Array rows;
  auto add = [&](std::string label, int64_t runs, Quantity flops) {
    int64_t width = all ? std::lround(1000 * double(flops) / double(all)) : 0;
    rows.push_back(
        json::Object{{"label", std::move(label)}, {"runs", runs}, {"flops", formatFlops(flops)}, {"width", width}});
  };
  for (auto [number, line] : llvm::enumerate(lines))
    if (number < kLines)
      add(line->label, line->runs, line->flops);
    else
      otherRuns += line->runs, others += line->flops;
  if (otherRuns > 0)
    add(formatCount(int64_t(lines.size() - kLines), "function") + " more", otherRuns, others);
  return json::Object{{"name", stage.name}, {"rows", std::move(rows)}};
}

json::Object xlc::trafficSection(ArrayRef<DrawnStage> stages) {
  json::Array kinds, rows;
  for (const char *kind : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all", "transfers"})
    kinds.push_back(json::Object{{"name", kind}});
  for (const DrawnStage &stage : stages)
    for (auto [axis, bytes] : llvm::enumerate(stage.first->traffic.axes)) {
      if (dist::Axis(axis) != dist::Axis::dp && !bytes.total())
        continue;
      json::Array cells;
      for (Quantity kind :
           {bytes.allGather, bytes.reduceScatter, bytes.allReduce, bytes.allToAll, bytes.transfer, bytes.total()})
        cells.push_back(describeBytes(kind));
      rows.push_back(json::Object{
          {"name", stage.name}, {"axis", dist::stringifyAxis(dist::Axis(axis)).str()}, {"cells", std::move(cells)}});
    }
  return json::Object{{"kinds", std::move(kinds)}, {"rows", std::move(rows)}};
}

json::Array xlc::outsideRows(ArrayRef<DrawnStage> stages) {
  json::Array rows;
  auto add = [&](const DrawnStage &stage, StringRef part, int64_t bytes) {
    json::Object row = describeBytes(bytes);
    row["ranks"] = stage.name;
    row["part"] = part;
    rows.push_back(std::move(row));
  };
  for (const DrawnStage &stage : stages) {
    for (const OutsideLine &line : stage.first->memory.outside)
      add(stage, line.name, line.bytes);
    add(stage, "host: rows that are read ahead", stage.first->memory.data);
  }
  return rows;
}

json::Object xlc::changesSection(const PlanReport &report) {
  json::Array rows;
  for (const Change &change : report.changes)
    rows.push_back(json::Object{{"what", change.what},
                                {"total", formatBytes(change.total)},
                                {"traffic", formatBytes(change.traffic)},
                                {"fits", change.fits ? "yes" : "no"}});
  bool isAny = !report.changes.empty();
  return json::Object{{"text", !isAny ? "No single change of the spec reduces the memory of the fullest rank."
                               : report.changes.front().fits
                                   ? "Each of these changes alone makes the plan fit."
                                   : "No single change makes the plan fit; this one comes closest."},
                      {"any", isAny},
                      {"rows", std::move(rows)}};
}
