// The linker, called through a C++ compiler, which knows where the system's libraries are. What it says goes into
// memory and not beside the program, since a full disk is one of the things that it may have to say.
#include "Link.h"
#include "Files/OutputFile.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace xlc;

namespace {

std::string findCompiler(const EmitOptions &options) {
  for (const std::string &name : options.compilers)
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return "";
}

/// A file in memory that a child process can write to by name.
class MemoryFile {
public:
  MemoryFile() : file(memfd_create("log", 0)), path("/proc/self/fd/" + std::to_string(file)) {}
  ~MemoryFile() { close(file); }
  MemoryFile(const MemoryFile &) = delete;

  StringRef name() const { return path; }
  std::string read() const {
    auto text = llvm::MemoryBuffer::getOpenFile(file, path, /*FileSize=*/-1);
    return text ? (*text)->getBuffer().trim().str() : "";
  }

private:
  const int file;
  const std::string path; ///< the child's own name of the descriptor that it inherits
};

/// The environment of the linker: the given one, with the system's own PATH where there is none, because the compiler
/// looks for its linker there.
SmallVector<StringRef> findEnvironment(const EmitOptions &options, SmallString<64> &path) {
  SmallVector<StringRef> variables(options.environment.begin(), options.environment.end());
  if (llvm::none_of(variables, [](StringRef each) { return each.starts_with("PATH="); })) {
    char standard[48];
    confstr(_CS_PATH, standard, sizeof(standard));
    (path = "PATH=").append(StringRef(standard));
    variables.push_back(path);
  }
  return variables;
}

} // namespace

/// Runs the first compiler that there is.
static LogicalResult runLinker(const EmitOptions &options, ArrayRef<StringRef> words, Location loc) {
  std::string compiler = findCompiler(options);
  if (compiler.empty())
    return blame(Fault::User, emitError(loc)) << "cannot find a C++ compiler to link with: install clang-22 or g++";
  SmallVector<StringRef> arguments{compiler};
  llvm::append_range(arguments, words);
  SmallString<64> path;
  SmallVector<StringRef> environment = findEnvironment(options, path);
  MemoryFile log;
  std::optional<StringRef> redirects[] = {std::nullopt, log.name(), log.name()};
  std::string message;
  runtime::HeldSignals held;
  int status = llvm::sys::ExecuteAndWait(compiler, arguments, ArrayRef(environment), redirects, 0, 0, &message);
  if (status == 0)
    return success();
  auto diagnostic = blame(Fault::User, emitError(loc))
                    << "linking with " << compiler << " failed: " << message << log.read();
  if (!llvm::sys::findProgramByName("ld"))
    diagnostic << "; there is no linker 'ld' on the PATH: install binutils";
  return diagnostic;
}

LogicalResult xlc::linkProgram(const LinkNeeds &needs, const EmitOptions &options, StringRef object, StringRef output,
                               Location loc) {
  if (options.runtime.empty())
    return blame(Fault::User, emitError(loc))
           << "cannot find " << needs.runtime << " beside the compiler, in ../lib or ../lib/xlc";
  SmallVector<StringRef> words{"-o", output, object, options.runtime};
  llvm::append_range(words, needs.flags);
  return runLinker(options, words, loc);
}

LogicalResult xlc::linkShared(const EmitOptions &options, StringRef object, StringRef output, Location loc) {
  return runLinker(options, {"-shared", "-o", output, object}, loc);
}
