// The expected result of a collective: for each element of a rank's result, the elements that it is computed from.
#include "Judge.h"
#include "xlc/Interpret/Interpret.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::verify;
using runtime::Position;
using Kind = dist::CollectiveKind;

namespace {

/// An element of what a rank gave.
struct Origin {
  int64_t rank, element;
};

/// Of kinds that move: where element i of the result of the rank of `index` comes from.
Origin originOf(const Rendezvous &m, int64_t ranks, int64_t index, int64_t i) {
  int64_t within = i % m.chunk, block = i / m.chunk;
  if (m.kind == Kind::all_gather)
    return {block % ranks, block / ranks * m.chunk + within};
  // all_to_all: dst is [outer, ranks, rows, chunk], src [outer, rows, ranks, chunk], or the other way round
  int64_t outer = block / (ranks * m.rows), rest = block % (ranks * m.rows);
  int64_t sender = m.ranksFirst ? rest % ranks : rest / m.rows, row = m.ranksFirst ? rest / ranks : rest % m.rows;
  int64_t from = m.ranksFirst ? index * m.rows + row : row * ranks + index;
  return {sender, (outer * ranks * m.rows + from) * m.chunk + within};
}

/// Of kinds that combine: the element of every rank that is combined into element i.
int64_t sourceOf(const Rendezvous &m, int64_t ranks, int64_t index, int64_t i) {
  return m.kind == Kind::reduce_scatter ? (i / m.chunk * ranks + index) * m.chunk + i % m.chunk : i;
}

} // namespace

Rendezvous Judge::rendezvousAt(const Position &at) {
  Operation *action = actionAt(at);
  if (auto run = dyn_cast<exec::RunOp>(action)) {
    auto op = cast<exec::CollectiveOp>(innerAt(at));
    return {op.getExchange(), operandOf(op.getSrc(), run, at.rank), operandOf(op.getDst(), run, at.rank)};
  }
  auto op = cast<exec::ExchangeOp>(action);
  exec::Exchange what = op.getExchange();
  auto place = [&](exec::PlaceAttr attribute, int64_t count) {
    return Operand::of(what.element, count, addressOf(attribute, at.rank));
  };
  return {what, place(op.getSrc(), what.sourceElements()), place(op.getDst(), what.resultElements())};
}

void Judge::exchange(const Position &at, const std::function<void()> &run) {
  std::unique_lock lock(mutex);
  Rendezvous rendezvous = rendezvousAt(at);
  SmallVector<int64_t> members = rendezvous.group.members(mesh, at.rank);
  std::string group;
  for (int64_t member : members)
    group += std::to_string(member) + " ";
  std::string key = llvm::formatv("{0}: {1}", group, met[{at.rank, group}]++);
  auto bytesOf = [](const Operand &operand) { return Bytes(operand.at, operand.at + operand.span()); };
  given[key][at.rank] = bytesOf(rendezvous.src);
  Bytes before = rendezvous.accumulate ? bytesOf(rendezvous.dst) : Bytes();
  lock.unlock();
  run();

  lock.lock();
  report.messages += 1;
  SmallVector<Operand> sources;
  for (int64_t member : members) {
    Bytes &bytes = given[key][member]; // it has come, or the message were not done
    sources.push_back(Operand::of(rendezvous.src.element, bytes.size() / rendezvous.src.bytes(), bytes.data()));
  }
  Operand old = rendezvous.dst;
  old.at = before.data();
  compareRendezvous(at, rendezvous, sources, old);
  if (++seen[key] == int64_t(members.size()))
    given.erase(key), seen.erase(key);
}

void Judge::compareRendezvous(const Position &at, const Rendezvous &m, ArrayRef<Operand> sources,
                              const Operand &before) {
  int64_t ranks = sources.size(), index = m.group.indexOf(mesh, at.rank), count = m.resultElements();
  int64_t bytes = m.dst.bytes(), off = 0;
  bool combines = m.kind == Kind::all_reduce || m.kind == Kind::all_reduce_max || m.kind == Kind::reduce_scatter;
  std::string what = dist::stringifyCollectiveKind(m.kind).str(), shown;
  bool isInteger = m.dst.element.isInteger();
  auto read = [&](const Operand &from, int64_t i) {
    const char *cell = from.at + i * bytes;
    return isInteger ? double(readInteger(cell, bytes)) : readFloat(cell, from.element);
  };
  auto cross = [&](Bounded value) {
    if (m.wire)
      interpret::roundTo<Bounded>(m.wire, value);
    return value;
  };
  for (int64_t i = 0; i < count; ++i) {
    Bounded wanted;
    if (combines) {
      int64_t from = sourceOf(m, ranks, index, i);
      wanted = cross(Bounded(read(sources[0], from)));
      for (const Operand &source : sources.drop_front())
        wanted = m.kind == Kind::all_reduce_max ? interpret::larger(wanted, Bounded(read(source, from)))
                                                : wanted + cross(Bounded(read(source, from)));
      wanted = cross(wanted);
      if (m.accumulate)
        wanted += Bounded(read(before, i));
      interpret::roundTo<Bounded>(m.dst.element, wanted);
    } else {
      Origin origin = originOf(m, ranks, index, i);
      wanted = Bounded(read(sources[origin.rank], origin.element));
    }
    double is = read(m.dst, i);
    bool isSame = is == wanted.get() || (std::isnan(is) && std::isnan(wanted.get())) ||
                  (!isInteger && std::abs(is - wanted.get()) <= wanted.error());
    if (!isSame && off++ == 0)
      shown = llvm::formatv("element {0} is {1:e8}, should be within {3:e8} of {2:e8}", i, is, wanted.get(),
                            wanted.error());
  }
  report.elements += count;
  report.differing += off;
  if (off)
    note(at, what, shown);
}
