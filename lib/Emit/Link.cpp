// Links with LLD in this process: no compiler, linker or shell is started, and the only files used are those installed
// with the compiler (docs/rationale/Link.md). LLD's messages are collected in memory, since a full disk may be one of
// the errors to report.
#include "Files/OutputFile.h"
#include "lld/Common/Driver.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace xlc;

/// For any output. Small links gain nothing by threads.
static constexpr const char *kOptions[] = {
    "ld.lld",          "-m", "elf_x86_64", "--threads=1", "-z", "relro", "--gc-sections", "--eh-frame-hdr",

    "--hash-style=gnu"};

/// Of a program, in the order of a C++ compiler: what comes before the objects, and behind them.
static constexpr const char *kBefore[] = {"Scrt1.o", "crti.o", "crtbeginS.o"};
static constexpr const char *kBehind[] = {"libstdc++.a", "libm.so.6",        "libgcc.a",  "libgcc_eh.a",
                                          "libc.so.6",   "libc_nonshared.a", "crtendS.o", "crtn.o"};
static constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2"; // as the ABI names it

namespace {

/// A pipe, and the bytes that were written into it: a thread collects them until the write end is closed.
class Outlet {
public:
  Outlet() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot create a pipe for the linker");
    reader = std::thread([this] {
      std::vector<char> block(1 << 16);
      for (ssize_t count; (count = ::read(ends[0], block.data(), block.size())) > 0 || (count < 0 && errno == EINTR);)
        bytes.append(block.data(), size_t(std::max<ssize_t>(count, 0)));
    });
  }
  ~Outlet() {
    finish();
    close(ends[0]);
  }
  Outlet(const Outlet &) = delete;

  /// By which this process can open it.
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[1]); }
  /// All that was written.
  const std::string &finish() {
    if (reader.joinable()) {
      close(ends[1]);
      reader.join();
    }
    return bytes;
  }

private:
  int ends[2] = {-1, -1};
  std::string bytes;
  std::thread reader;
};

/// Bytes that this process can open as a file.
class MemoryFile {
public:
  explicit MemoryFile(StringRef bytes) : file(memfd_create("object", MFD_CLOEXEC)) {
    llvm::raw_fd_ostream out(file, /*shouldClose=*/false);
    out << bytes;
    out.flush();
    if (out.has_error())
      throw std::system_error(out.error(), "cannot allocate the linker's object file");
  }
  ~MemoryFile() { close(file); }
  MemoryFile(const MemoryFile &) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  const int file;
};

} // namespace

/// LLD maps a file that it writes, and a disk that is full would end this process: it writes into a pipe instead.
static LogicalResult runLinker(ArrayRef<std::string> words, runtime::OutputFile &made, Location loc) {
  Outlet outlet;
  std::string said, output = outlet.path();
  SmallVector<const char *> arguments(std::begin(kOptions), std::end(kOptions));
  arguments.append({"-o", output.c_str()});
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  llvm::raw_string_ostream log(said);
  lld::Result result = lld::lldMain(arguments, log, log, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return blame(Fault::User, emitError(loc)) << "linking failed: " << StringRef(said).trim();
  made.write(outlet.finish());
  made.allowExecution();
  return success();
}

LogicalResult xlc::linkProgram(Location loc, const LinkFiles &files, const llvm::MemoryBuffer &object,
                               runtime::OutputFile &program) {
  MemoryFile input(object.getBuffer());
  SmallVector<std::string> words{"-pie", "-dynamic-linker", kLoader, "--as-needed"};
  auto add = [&](const char *name) {
    SmallString<256> path(files.folder);
    llvm::sys::path::append(path, name);
    words.push_back(path.str().str());
  };
  llvm::for_each(kBefore, add);
  words.push_back(input.path());
  words.push_back(files.runtime);
  llvm::for_each(kBehind, add);
  return runLinker(words, program, loc);
}

LogicalResult xlc::linkImage(Location loc, const llvm::MemoryBuffer &object, runtime::OutputFile &image) {
  MemoryFile input(object.getBuffer());
  return runLinker({"-shared", input.path()}, image, loc);
}
