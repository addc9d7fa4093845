// See Underway.h.
#include "Underway.h"

#include "Fabric/Waiting.h"
#include "Parts.h"

#include <algorithm>
#include <utility>

namespace xlc::runtime::mpi {

void MessagesUnderway::begin(Batch &batch) {
  batch.left = 1; // until all have begun
  if (!batch.words.empty()) {
    void *const inPlace = (void *)1;
    library.check(library.startReduceAll(inPlace, batch.words.data(), (int)batch.words.size(), library.whole64,
                                         library.largest, comm, &add(batch)));
  }
  for (const Posting &message : batch.messages)
    forEachPart(message.memory, mostBytesOfPart, [&](const Runs &part) { beginPart(batch, message, part); });
  endOne(batch);
}

Request &MessagesUnderway::add(Batch &batch) {
  ++batch.left;
  owners.push_back(&batch);
  return requests.emplace_back();
}

void MessagesUnderway::beginPart(Batch &batch, const Posting &message, const Runs &memory) {
  Datatype type = library.byte;
  auto count = (int)memory.bytes;
  auto wrap = [&](uint64_t runs, uint64_t step) {
    Datatype inner = type;
    library.check(library.makeVector((int)runs, count, (ptrdiff_t)step, inner, &type));
    if (inner != library.byte)
      library.check(library.freeType(&inner));
    count = 1;
  };
  if (memory.rows > 1)
    wrap(memory.rows, memory.steps.row);
  if (memory.outer > 1)
    wrap(memory.outer, memory.steps.outer);
  if (type != library.byte)
    library.check(library.commitType(&type));
  Request &request = add(batch);
  if (message.way == Posting::Way::Send)
    library.check(library.startSend(memory.begin, count, type, message.peer, (int)message.tag, comm, &request));
  else
    library.check(library.startReceive(memory.begin, count, type, message.peer, (int)message.tag, comm, &request));
  if (type != library.byte)
    library.check(library.freeType(&type)); // once the message has ended
}

void MessagesUnderway::endOne(Batch &batch) {
  if (--batch.left > 0)
    return;
  batch.ended->fetch_add(1, std::memory_order_release);
  wakeAll(*batch.ended);
  over.push_back(&batch);
}

bool MessagesUnderway::test() {
  if (requests.empty())
    return false;
  ended.resize(requests.size());
  int count = 0;
  library.check(library.testSome((int)requests.size(), requests.data(), &count, ended.data(), nullptr));
  if (count <= 0) // none, or none that could
    return false;
  for (int i = 0; i < count; ++i)
    endOne(*owners[(size_t)ended[(size_t)i]]);
  size_t kept = 0;
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i] != library.none)
      requests[kept] = requests[i], owners[kept++] = owners[i];
  requests.resize(kept), owners.resize(kept);
  return true;
}

bool NotesUnderway::hasLike(const Note &note) const {
  return std::ranges::any_of(leaving,
                             [&](const Note &other) { return other.to == note.to && other.kind == note.kind; });
}

void NotesUnderway::send(Note given) {
  Note &note = leaving.emplace_back(std::move(given));
  library.check(library.startSend(note.bytes.data(), (int)note.bytes.size(), library.byte, note.to, (int)note.kind,
                                  comm,
                                  &note.request)); // one that ends has been heard
}

bool NotesUnderway::takeSent() {
  for (size_t i = 0; i < leaving.size(); ++i) {
    int isDone = 0;
    library.check(library.test(&leaving[i].request, &isDone, nullptr));
    if (isDone)
      return leaving.erase(leaving.begin() + (ptrdiff_t)i), true;
  }
  return false;
}

void NotesUnderway::hear() {
  library.check(
      library.startReceive(heard.data(), (int)heard.size(), library.byte, anySource, anyTag, comm, &hearing.emplace()));
}

bool NotesUnderway::testHeard(const std::function<void(int from, uint32_t kind, std::span<const char> bytes)> &take) {
  bool isAny = false;
  Status status = {};
  int isDone = 0;
  for (; hearing; isAny = true) {
    library.check(library.test(&*hearing, &isDone, &status));
    if (!isDone)
      break;
    take(status.source, (uint32_t)status.tag, {heard.data(), status.bytes});
    hear();
  }
  return isAny;
}

void NotesUnderway::cease() {
  if (!hearing)
    return;
  library.check(library.cancel(&*hearing));
  library.check(library.wait(&*hearing, nullptr));
}

} // namespace xlc::runtime::mpi
