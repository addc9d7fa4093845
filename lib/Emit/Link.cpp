// LLD, in this process: no compiler, linker or shell is started, and nothing of the machine is used but the files beside
// the compiler (docs/rationale/Link.md). What it says goes into memory, since a full disk is one of the things that it
// may have to say.
#include "Link.h"
#include "Files/OutputFile.h"
#include "lld/Common/Driver.h"
#include "xlc/Support/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace xlc;

/// For any output. Small links gain nothing by threads; a file that is mapped to memory ends the process where the disk
/// is full.
static constexpr const char *kOptions[] = {"ld.lld",
                                           "-m",
                                           "elf_x86_64",
                                           "--threads=1",
                                           "-z",
                                           "relro",
                                           "--gc-sections",
                                           "--eh-frame-hdr",
                                           "--no-mmap-output-file",
                                           "--hash-style=gnu"};

/// Of a program, in the order of a C++ compiler: what comes before the objects, and behind them.
static constexpr const char *kBefore[] = {"Scrt1.o", "crti.o", "crtbeginS.o"};
static constexpr const char *kBehind[] = {"libstdc++.a", "libm.so.6",        "libgcc.a",  "libgcc_eh.a",
                                          "libc.so.6",   "libc_nonshared.a", "crtendS.o", "crtn.o"};
static constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2"; // as the ABI names it

static LogicalResult runLinker(ArrayRef<std::string> words, Location loc) {
  SmallVector<const char *> arguments(std::begin(kOptions), std::end(kOptions));
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  std::string said;
  llvm::raw_string_ostream log(said);
  runtime::HeldSignals held;
  lld::Result result = lld::lldMain(arguments, log, log, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return success();
  return blame(Fault::User, emitError(loc)) << "linking failed: " << StringRef(said).trim();
}

LogicalResult xlc::linkProgram(const LinkFiles &files, StringRef object, StringRef output, Location loc) {
  SmallVector<std::string> words{"-pie", "-dynamic-linker", kLoader, "--as-needed", "-o", output.str()};
  auto add = [&](const char *name) {
    SmallString<256> path(files.folder);
    llvm::sys::path::append(path, name);
    words.push_back(path.str().str());
  };
  llvm::for_each(kBefore, add);
  words.push_back(object.str());
  words.push_back(files.runtime);
  llvm::for_each(kBehind, add);
  return runLinker(words, loc);
}

LogicalResult xlc::linkShared(StringRef object, StringRef output, Location loc) {
  return runLinker({"-shared", "-o", output.str(), object.str()}, loc);
}
