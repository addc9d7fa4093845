// See MessageStream.h. A line is printed when it ends; the amount of omitted text is reported when the process ends.
#include "MessageStream.h"
#include "Files/Messages.h"

namespace {

class MessageStream : public llvm::raw_ostream {
public:
  MessageStream() { SetUnbuffered(); }
  ~MessageStream() override {
    if (!line.empty())
      printLine();
    print(limit.takeRest());
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
    print(limit.take(line));
    line.clear();
  }

  /// Where stderr takes nothing nobody can be told, and the result stays what it is: LLVM would end the process for it.
  static void print(const std::string &text) {
    llvm::errs() << text;
    llvm::errs().clear_error();
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
