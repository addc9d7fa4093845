// See Picture.h. A column represents several moments of a long step and shows the fullest of them, so that no peak is
// lost: the largest column is the plan's lower bound, and its causes are those of the report.
#include "Picture.h"
#include "../Moments.h"
#include "xlc/Memory/Lifetimes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xlc;

namespace {

/// Labels by number, each kept once.
class Labels {
public:
  explicit Labels(std::vector<std::string> &kept) : kept(kept) {}
  size_t numberOf(StringRef label) {
    auto [it, isNew] = numbers.try_emplace(label, kept.size());
    if (isNew)
      kept.push_back(label.str());
    return it->second;
  }

private:
  std::vector<std::string> &kept;
  llvm::StringMap<size_t> numbers;
};

/// The actions of a program by number.
std::vector<exec::Action> listActions(exec::ProgramOp program) {
  std::vector<exec::Action> actions;
  for (auto action : program.getBody().front().getOps<exec::Action>())
    actions.push_back(action);
  return actions;
}

StepPart partOf(exec::Action action) {
  auto run = dyn_cast<exec::RunOp>(action.getOperation());
  return run ? xlc::partOf(run.getRole()) : StepPart::Other;
}

void fillColumns(exec::ProgramOp program, const Lifetimes &lifetimes, StagePicture &picture) {
  picture.moments = lifetimes.moments;
  int64_t count = std::clamp<int64_t>(lifetimes.moments, 1, StagePicture::kColumns);
  std::vector<exec::Action> actions = listActions(program);
  std::vector<BytesByCause> changes = changesOfMemory(program, lifetimes);
  Labels labels(picture.actions);
  BytesByCause live = {};
  for (int64_t number = 0; number < count; ++number) {
    MemoryColumn column;
    int64_t most = -1;
    for (int64_t moment = number * lifetimes.moments / count; moment < (number + 1) * lifetimes.moments / count;
         ++moment) {
      for (auto [sum, change] : llvm::zip(live, changes[moment]))
        sum += change;
      if (int64_t total = std::accumulate(live.begin(), live.end(), int64_t(0)); total > most)
        most = total, column.moment = moment, column.byCause = live;
    }
    if (size_t at = actionAt(lifetimes, column.moment); at < actions.size())
      column.action = labels.numberOf(actions[at].getLabel()), column.part = ::partOf(actions[at]);
    picture.columns.push_back(column);
    if (most > picture.columns[picture.fullest].total())
      picture.fullest = picture.columns.size() - 1;
  }
}

/// The largest of those that are live at a moment.
void fillLargest(exec::ProgramOp program, const Lifetimes &lifetimes, const BufferNames &names, StagePicture &picture) {
  int64_t peak = picture.columns[picture.fullest].moment;
  std::vector<PeakBuffer> live;
  for (auto [buffer, interval] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), lifetimes.buffers))
    if (interval.first <= peak && interval.last >= peak && interval.size > 0)
      live.push_back({buffer.getName().str(), buffer.getCause(), interval.size});
  llvm::sort(live, [](const PeakBuffer &a, const PeakBuffer &b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
  if (live.size() > StagePicture::kLargest)
    live.resize(StagePicture::kLargest);
  for (PeakBuffer &buffer : live)
    buffer.name = names.describe(buffer.name);
  picture.largest = std::move(live);
}

void fillMap(exec::ProgramOp program, const Lifetimes &lifetimes, const BufferNames &names, StagePicture &picture) {
  auto isLarge = [&](int64_t size) {
    return size > 0 && size >= int64_t(program.getArena()) / StagePicture::kMappedPart;
  };
  auto areaOf = [](const MappedBuffer &buffer) { return double(buffer.size) * double(buffer.last - buffer.first + 1); };
  for (auto [buffer, interval] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), lifetimes.buffers))
    if (isLarge(interval.size))
      picture.mapped.push_back({buffer.getName().str(), buffer.getCause(), buffer.getOffset(), interval.size,
                                interval.first, interval.last});
    else
      ++picture.unmapped;
  if (picture.mapped.size() > StagePicture::kMapped) {
    llvm::sort(picture.mapped, [&](const MappedBuffer &a, const MappedBuffer &b) {
      return std::tuple(-areaOf(a), a.offset, a.first) < std::tuple(-areaOf(b), b.offset, b.first);
    });
    picture.unmapped += picture.mapped.size() - StagePicture::kMapped;
    picture.mapped.resize(StagePicture::kMapped);
  }
  for (MappedBuffer &buffer : picture.mapped)
    buffer.name = names.describe(buffer.name);
}

void fillRuns(exec::ProgramOp program, StagePicture &picture) {
  FunctionCosts costs(program->getParentOfType<ModuleOp>());
  llvm::MapVector<Attribute, RunLine> lines;
  for (auto run : program.getBody().front().getOps<exec::RunOp>()) {
    RunLine &line = lines[run.getFunctionAttr()];
    if (++line.runs == 1)
      line.label = run.getLabel().str();
    line.flops += costs.of(run.getFunction()).flops;
  }
  for (auto &[function, line] : lines)
    picture.runs.push_back(std::move(line));
}

} // namespace

StringRef xlc::nameOf(StepPart part) {
  constexpr std::array<StringLiteral, kStepParts> names = {"forward", "backward", "update", "other"};
  return names[size_t(part)];
}

StepPart xlc::partOf(graph::Role role) {
  switch (role) {
  case graph::Role::F:
    return StepPart::Forward;
  case graph::Role::I:
  case graph::Role::W:
  case graph::Role::B:
    return StepPart::Backward;
  case graph::Role::U:
    return StepPart::Update;
  }
  llvm_unreachable("a role without a pass");
}

StagePicture xlc::makeMemoryPicture(exec::ProgramOp program) {
  StagePicture picture;
  fillColumns(program, findLifetimes(program), picture);
  return picture;
}

StagePicture xlc::makePicture(exec::ProgramOp program) {
  StagePicture picture;
  Lifetimes lifetimes = findLifetimes(program);
  BufferNames names(program->getParentOfType<ModuleOp>());
  fillColumns(program, lifetimes, picture);
  fillLargest(program, lifetimes, names, picture);
  fillMap(program, lifetimes, names, picture);
  fillRuns(program, picture);
  return picture;
}
