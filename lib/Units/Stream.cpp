// See Stream.h.
#include "Stream.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;

Stream::Stream(func::FuncOp function) : function(function) {
  collectOps();
  collectRanges();
}

int Stream::sourceOf(Value value) const {
  if (Operation *op = value.getDefiningOp())
    return sources.lookup(op);
  unsigned number = cast<BlockArgument>(value).getArgNumber();
  return graph::Argument(function, number).getParameter() ? parameter : input;
}

void Stream::collectOps() {
  auto body = function.front().without_terminator();
  for (Operation &op : body) {
    int source = none;
    for (Value operand : op.getOperands())
      source |= sourceOf(operand);
    sources[&op] = source;
    if (source == both)
      ops.push_back(&op);
  }
  if (ops.empty()) // nothing is learned from inputs: everything is one unit
    for (Operation &op : body)
      ops.push_back(&op);
  for (auto [place, op] : llvm::enumerate(ops))
    places[op] = place;
}

void Stream::collectRanges() {
  for (auto [place, op] : llvm::enumerate(ops))
    for (Value result : op->getResults()) {
      LiveRange range{place, place, place};
      for (Operation *user : result.getUsers()) {
        if (isa<func::ReturnOp>(user)) // a loss or the next value of a buffer: no later unit reads it
          continue;
        auto found = places.find(user);
        size_t at = found == places.end() ? ops.size() : found->second;
        if (at > range.end)
          range.before = range.end, range.end = at;
        else if (at < range.end)
          range.before = std::max(range.before, at);
      }
      if (range.length() > 0)
        ranges.push_back(range);
    }
}

std::vector<Atom> Stream::cut(const std::vector<size_t> &ends) const {
  std::vector<int> change(ops.size() + 1, 0); // in the number of live values, behind each place
  for (auto [range, end] : llvm::zip_equal(ranges, ends))
    ++change[range.begin], --change[end];
  std::vector<Atom> atoms;
  int live = 0;
  size_t begin = 0;
  for (size_t place = 0; place < ops.size(); ++place) {
    live += change[place];
    if (live > 1 && place + 1 < ops.size())
      continue;
    atoms.push_back({begin, place + 1});
    begin = place + 1;
  }
  return atoms;
}

bool Stream::computesOnParameters(Operation *op) const {
  return !isStream(op) && sources.lookup(op) == parameter && !graph::computesNothing(op);
}

Stream::Shared Stream::findShared(const std::vector<Atom> &atoms) const {
  std::vector<size_t> atomAt(ops.size());
  for (auto [i, atom] : llvm::enumerate(atoms))
    std::fill(atomAt.begin() + atom.begin, atomAt.begin() + atom.end, i);
  llvm::DenseMap<Operation *, std::pair<size_t, size_t>> readers; // first and last atom that reads a side op
  SmallVector<std::pair<Operation *, size_t>> found;
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (isStream(&op))
      continue;
    size_t first = SIZE_MAX, last = 0;
    auto extend = [&](size_t from, size_t to) { first = std::min(first, from), last = std::max(last, to); };
    for (Operation *user : op.getUsers())
      if (auto at = places.find(user); at != places.end())
        extend(atomAt[at->second], atomAt[at->second]);
      else if (auto side = readers.find(user); side != readers.end())
        extend(side->second.first, side->second.second);
    if (first == SIZE_MAX)
      continue;
    bool isShared = first != last && computesOnParameters(&op);
    if (isShared)
      found.emplace_back(&op, first);
    readers[&op] = {first, isShared ? first : last};
  }
  Shared shared;
  for (auto [op, atom] : llvm::reverse(found))
    shared[op] = atom;
  return shared;
}

void Stream::collectSides(Operation *op, const Shared &shared, OpSet &seen, SmallVectorImpl<Operation *> &sides) const {
  SmallVector<std::pair<Operation *, unsigned>> path{{op, 0}}; // not recursive: files may be deep
  while (!path.empty()) {
    auto &[current, next] = path.back();
    if (next == current->getNumOperands()) {
      if (current != op)
        sides.push_back(current);
      path.pop_back();
      continue;
    }
    Operation *side = current->getOperand(next++).getDefiningOp();
    if (side && !isStream(side) && !shared.contains(side) && seen.insert(side).second)
      path.emplace_back(side, 0);
  }
}

/// The words of one atom on their way.
struct Stream::Description {
  explicit Description(const Stream &stream) : stream(stream) {}

  const Stream &stream;
  Words words;
  llvm::DenseMap<Value, unsigned> numbers;
  bool hasParameter = false;

  void add(uintptr_t word) { words.push_back(reinterpret_cast<const void *>(word)); }

  void add(Operation *op) {
    words.push_back(op->getName().getAsOpaquePointer());
    if (!isa<graph::SiteOp>(op)) // layers may differ in their sites
      words.push_back(op->getAttrDictionary().getAsOpaquePointer());
    for (Type type : op->getResultTypes())
      words.push_back(type.getAsOpaquePointer());
    for (Value operand : op->getOperands()) {
      auto [it, isNew] = numbers.try_emplace(operand, (unsigned)numbers.size());
      add(it->second);
      if (isNew)
        addOutside(operand);
    }
    for (Value result : op->getResults())
      numbers.try_emplace(result, (unsigned)numbers.size());
  }

  /// What kind of thing comes from outside, and its type.
  void addOutside(Value value) {
    int source = value.getDefiningOp() ? both : stream.sourceOf(value);
    hasParameter |= source == parameter;
    add(source);
    words.push_back(value.getType().getAsOpaquePointer());
    if (source == input) // inputs are not interchangeable
      words.push_back(value.getAsOpaquePointer());
  }
};

Stream::Words Stream::describe(const Atom &atom, const Shared &shared, bool &hasParameter) const {
  Description description(*this);
  OpSet seen;
  SmallVector<Operation *> inOrder;
  for (size_t place = atom.begin; place < atom.end; ++place) {
    collectSides(ops[place], shared, seen, inOrder);
    inOrder.push_back(ops[place]);
  }
  for (Operation *op : inOrder)
    description.add(op);
  hasParameter = description.hasParameter;
  return std::move(description.words);
}
