// See MessageStream.h. A line is printed when it ends; how much was left out is said when the process ends.
#include "MessageStream.h"
#include "Files/Messages.h"

namespace {

class MessageStream : public llvm::raw_ostream {
public:
  MessageStream() { SetUnbuffered(); }
  ~MessageStream() override {
    if (!line.empty())
      printLine();
    llvm::errs() << limit.takeRest();
  }

private:
  void write_impl(const char *from, size_t count) override {
    size += count;
    for (llvm::StringRef rest(from, count); !rest.empty();) {
      size_t end = rest.find('\n');
      line += rest.take_front(end);
      if (end == llvm::StringRef::npos)
        return;
      printLine();
      rest = rest.drop_front(end + 1);
    }
  }
  uint64_t current_pos() const override { return size; }

  void printLine() {
    llvm::errs() << limit.take(line);
    line.clear();
  }

  std::string line;
  uint64_t size = 0;
  xlc::runtime::MessageLimit limit;
};

} // namespace

llvm::raw_ostream &xlc::messages() {
  static MessageStream stream;
  return stream;
}
