// See Judge.h. One rank at a time is judged; the comparison itself uses all cores.
#include "Judge.h"
#include "Lockstep.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Interpret.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace mlir;
using namespace xlc;
using namespace xlc::verify;
using runtime::Position;

namespace {

/// Of a result's elements, so many may be off because of a comparison that rounding could turn.
int64_t mostTurned(int64_t elements) { return std::max<int64_t>(1, elements / 1000); }

bool isInf(double x) { return std::isinf(x); }

/// Whether a kernel may leave this where that is expected.
bool isWithin(double actual, Bounded expected) {
  double value = expected.get();
  if (actual == value || (std::isnan(actual) && std::isnan(value)))
    return true;
  bool isPastFloats = std::abs(value) + expected.error() > 3.4028e38;
  if (isInf(actual) && isPastFloats && (actual > 0) == (value > 0))
    return true;
  return std::isfinite(value) && !(std::abs(actual - value) > expected.error());
}

/// A copy of an operand's bytes, which it then names.
std::vector<char> keep(Operand &operand) {
  std::vector<char> bytes(operand.at, operand.at + operand.span());
  operand.at = bytes.data();
  return bytes;
}

std::string numberOf(double value) { return llvm::formatv("{0:e8}", value); }

} // namespace

Judge::Judge(ModuleOp program, graph::Purpose purpose, const std::vector<char *> &arenas, const KernelOptions &options,
             KernelReport &report)
    : symbols(program), purpose(purpose), arenas(arenas), options(options), report(report) {
  for (exec::ProgramOp op : exec::programsOf(program, purpose)) {
    mesh = op.getMesh();
    Stage &stage = stages.emplace_back(Stage{op, {}, {}});
    for (Operation &action : op.getBody().front())
      if (auto buffer = dyn_cast<exec::BufferOp>(action))
        stage.buffers.push_back(buffer);
      else if (isa<exec::Action>(action))
        stage.actions.push_back(&action);
  }
  for (auto function : program.getOps<func::FuncOp>())
    if (!function.isExternal())
      for (Operation &op : function.front())
        if (op.hasTrait<exec::Inner>())
          inner[function].push_back(&op);
}

Operation *Judge::innerAt(const Position &at) {
  auto run = cast<exec::RunOp>(actionAt(at));
  auto &calls = inner[symbols.lookup<func::FuncOp>(run.getFunction())];
  assert(size_t(at.call) < calls.size() && "the program counts the calls of the function that is judged");
  return calls[at.call];
}

char *Judge::addressOf(exec::PlaceAttr place, int rank) {
  int64_t begin = stageOf(rank).buffers[place.getBuffer()].getOffset();
  return arenas[rank] + begin + place.getOffset() + mesh.shardOf(rank) * place.getStride();
}

Operand Judge::operandOf(Value value, exec::RunOp run, int rank) {
  auto type = cast<MemRefType>(value.getType());
  int64_t offset = 0;
  while (auto view = value.getDefiningOp<exec::ViewOp>()) {
    auto element = cast<MemRefType>(view.getView().getType()).getElementType();
    offset += graph::getByteSize(element, int64_t(view.getOffset()));
    value = view.getSlot();
  }
  Attribute place = run.getPlaces()[cast<BlockArgument>(value).getArgNumber()];
  return Operand::of(type, addressOf(cast<exec::PlaceAttr>(place), rank) + offset);
}

void Judge::call(const Position &at, const char *bound, const std::function<void()> &run) {
  std::lock_guard lock(mutex);
  auto action = cast<exec::RunOp>(actionAt(at));
  auto op = cast<exec::CallOp>(innerAt(at));
  auto kernel = symbols.lookup<func::FuncOp>(op.getKernel());
  SmallVector<Operand> ins, outs, scratch;
  SmallVector<std::optional<Operand>> olds; // of results that are added to
  std::vector<std::vector<char>> kept;
  for (Value in : op.getIns())
    kept.push_back(keep(ins.emplace_back(operandOf(in, action, at.rank))));
  for (auto [out, accumulate] : llvm::zip(op.getOuts(), op.getAccumulate())) {
    auto mode = exec::Accumulate(accumulate);
    outs.push_back(operandOf(out, action, at.rank));
    olds.emplace_back();
    if (mode == exec::Accumulate::always || (mode == exec::Accumulate::later && !action.getFirst()))
      kept.push_back(keep(olds.back().emplace(outs.back())));
  }
  if (Value workspace = op.getWorkspace())
    scratch.push_back(operandOf(workspace, action, at.rank));
  const char *workspace = scratch.empty() ? nullptr : scratch[0].at;
  Surroundings around(arenas[at.rank], stageOf(at.rank).op.getArena(), outs, scratch);
  run();

  report.calls += 1;
  report.ran.insert(op.getKernel().str());
  std::string what = llvm::formatv("call '{0}'", op.getKernel());
  if (StringRef source = graph::getSourceName(op); !source.empty())
    what += llvm::formatv(" ('{0}')", source);
  if (bound != workspace) {
    report.differing += 1;
    auto nameOf = [&](const char *place) {
      return place ? "at byte " + std::to_string(place - arenas[at.rank]) : "absent";
    };
    note(at, what,
         llvm::formatv("its workspace in the arena is {0}, but must be {1}", nameOf(bound), nameOf(workspace)));
  }
  if (int64_t byte = around.findChanged(); byte >= 0) {
    report.differing += 1;
    note(at, what, llvm::formatv("changed byte {0} of the arena, outside its results", byte));
  }
  LogicalResult outcome = kernels.evaluate(kernel, ins, [&](const Expected &expected) {
    for (size_t i = 0; i < outs.size(); ++i)
      compare(at, what, outs[i], expected, i, olds[i] ? &*olds[i] : nullptr);
  });
  auto isAddedTo = llvm::map_to_vector(olds, [](const std::optional<Operand> &old) { return old.has_value(); });
  hasFailed |= failed(outcome) || failed(countNarrow(kernel, ins, outs, isAddedTo, report.narrow));
}

void Judge::compare(const Position &at, StringRef what, const Operand &actual, const Expected &expected, size_t result,
                    const Operand *before) {
  int64_t bytes = actual.bytes(), next = 0, off = 0, first = -1;
  const Datum<Bounded> &value = expected.results[result];
  auto *floats = std::get_if<Tensor<Bounded>>(&value);
  int64_t count = floats ? floats->elements.size() : std::get<Integers>(value).elements.size();
  bool isPiece = count != actual.count();
  Operand here = isPiece ? actual.piece(expected.first, count) : actual;
  std::optional<Operand> old;
  if (before)
    old = isPiece ? before->piece(expected.first, count) : *before;
  auto expectedAt = [&](int64_t i, const char *cell) {
    Bounded wanted = floats->elements[i];
    if (old) {
      wanted = Bounded(readFloat(old->at + (cell - here.at), here.element)) + wanted;
      interpret::roundTo<Bounded>(here.element, wanted);
    }
    return wanted;
  };
  std::string shown;
  int64_t boundless = 0;
  here.forEach([&](const char *cell) {
    int64_t i = next++;
    if (!floats) {
      int64_t wanted = std::get<Integers>(value).elements[i], is = readInteger(cell, bytes);
      if (old)
        wanted += readInteger(old->at + (cell - here.at), bytes);
      if (is != wanted && off++ == 0)
        first = i, shown = llvm::formatv("{0}, should be {1}", is, wanted);
      return;
    }
    Bounded wanted = expectedAt(i, cell);
    double is = readFloat(cell, here.element);
    if (!std::isfinite(wanted.error()))
      ++boundless;
    if (!isWithin(is, wanted) && off++ == 0)
      first = i, shown = llvm::formatv("{0}, should be within {2} of {1}", numberOf(is), numberOf(wanted.get()),
                                       numberOf(wanted.error()));
  });
  std::lock_guard lock(reporting); // pieces are compared by several threads
  report.elements += count;
  report.boundless += boundless;
  if (boundless && report.boundlessCall.empty())
    report.boundlessCall = what.str();
  if (off == 0)
    return;
  if (expected.openDecisions > 0 && off <= mostTurned(count)) {
    report.turned += off;
    return;
  }
  report.differing += off;
  note(at, what, llvm::formatv("element {1} of result {0} is {2}", result, expected.first + first, shown));
}

void Judge::act(const Position &at, const std::function<void()> &run) { run(); }

void Judge::transfer(const Position &at, const std::function<void()> &run) {
  Operation *action = actionAt(at);
  auto send = dyn_cast<exec::SendOp>(action);
  auto receive = dyn_cast<exec::ReceiveOp>(action);
  int64_t stageRanks = mesh.getStageRanks(), place = at.rank % stageRanks;
  int64_t sender = send ? at.rank : int64_t(receive.getPeer()) * stageRanks + place;
  int64_t number = send ? send.getMessage() : receive.getMessage();
  std::string key = llvm::formatv("message {0} of rank {1} in step {2}", number, sender, at.step);
  if (send) {
    std::lock_guard lock(mutex);
    const char *from = addressOf(send.getPlace(), at.rank);
    given[key][sender] = Bytes(from, from + send.getBytes());
  }
  run();
  std::lock_guard lock(mutex);
  report.messages += 1;
  if (send)
    return;
  const Bytes &bytes = given[key][sender];
  const char *to = addressOf(receive.getPlace(), at.rank);
  report.elements += receive.getBytes() / 4;
  if (bytes.size() != receive.getBytes() || std::memcmp(to, bytes.data(), bytes.size()) != 0) {
    report.differing += 1;
    note(at, "transfer", "did not deliver the data that was sent");
  }
  given.erase(key);
}

void Judge::note(const Position &at, StringRef what, std::string difference) {
  if (noted.insert(what.str()).second && report.differences.size() < options.maximalDifferences)
    report.differences.push_back(describe(at) + ", " + what.str() + ": " + difference);
}

std::string Judge::describe(const Position &at) {
  return llvm::formatv("{0}step {1}, rank {2}, action '{3}'",
                       purpose == graph::Purpose::train ? "" : "evaluation after ", at.step, at.rank,
                       cast<exec::Action>(actionAt(at)).getLabel());
}
