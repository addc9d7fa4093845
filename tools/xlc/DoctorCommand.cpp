// `xlc doctor`: reports the capabilities of this machine, and how to install missing software. The requirements of a
// target's programs are examined by the target's row of the table of targets.
#include "Command.h"
#include "DiskSpeed.h"
#include "MessageStream.h"

#include "xlc/Support/Bytes.h"
#include "xlc/Support/Numbers.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"
#include <dlfcn.h>

using namespace xlc;

namespace {

void printRow(llvm::StringRef name, const llvm::Twine &what) {
  llvm::outs() << llvm::formatv("  {0,-15}  ", name) << what << "\n";
}

std::string versionOf(void *mpi) {
  constexpr int longest = 8192; // MPI_MAX_LIBRARY_VERSION_STRING is at most that
  std::string text(longest, '\0');
  int length = 0;
  auto *ask = (int (*)(char *, int *))dlsym(mpi, "MPI_Get_library_version");
  if (!ask || ask(text.data(), &length) != 0)
    return "found, but its version is unknown";
  return llvm::StringRef(text).take_until([](char c) { return c == ',' || (unsigned char)c < ' '; }).str();
}

/// Open MPI, by which ranks on several hosts meet. It stays open: it is asked once, and the process ends.
void printMpi() {
  constexpr char file[] = "libmpi.so.40";
  void *mpi = dlopen(file, RTLD_NOW | RTLD_GLOBAL); // as programs open it
  printRow("MPI", mpi ? versionOf(mpi) : std::string("not found (") + file + "): apt-get install openmpi-bin");
}

/// One line, and the key of the spec that it is for.
int examineDisk(const std::string &folder) {
  llvm::Expected<DiskSpeed> speed = measureDisk(folder);
  if (!speed) {
    messages() << "error: " << llvm::toString(speed.takeError()) << "\n";
    return Rejected;
  }
  llvm::outs() << folder << ": writes and syncs " << formatBytes(int64_t(speed->bytesPerSecond))
               << " per second; a small file takes " << formatSeconds(speed->syncSeconds) << "\n"
               << "in a spec: cluster: {device: {disk: " << int64_t(speed->bytesPerSecond / 1e6) << "MB}}\n";
  return Done;
}

int examine() {
  std::vector<MachineReport> reports;
  llvm::outs() << "this machine\n";
  for (const TargetRow &row : getTargets())
    for (const MachineReport::Part &part : reports.emplace_back(row.examine()).parts)
      printRow(part.name, part.what);
  printMpi();
  llvm::outs() << "targets of programs\n";
  for (auto [row, report] : llvm::zip_equal(getTargets(), reports))
    printRow(row.facts.name, row.facts.madeFor + ": " +
                                 (report.obstacle.empty() ? "can run here" : "cannot run here: " + report.obstacle));
  return Done;
}

} // namespace

Command xlc::addDoctorCommand(CLI::App &app) {
  auto disk = std::make_shared<std::string>();
  CLI::App *command =
      app.add_subcommand("doctor", "report the capabilities of this machine, and how to install missing libraries");
  command->add_option("--disk", *disk,
                      "folder whose disk is measured for checkpoints; writes 256 MiB and deletes them");
  command->footer("\nExamples:\n"
                  "  xlc doctor      searches for libraries as programs do: LD_LIBRARY_PATH, ldconfig,\n"
                  "                  the CUDA toolkit, packages of Python\n"
                  "  xlc doctor --disk checkpoints");
  return {command, [disk] { return disk->empty() ? examine() : examineDisk(*disk); }};
}
