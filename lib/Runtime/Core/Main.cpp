// `main` of every training program: the embedded plan, the arguments, and Ctrl-C.
#include "Job.h"

#include <csignal>

namespace {

/// Set by the first Ctrl-C; the second one ends the program at once.
std::atomic<bool> interrupted{false};

void interrupt(int signal) {
  interrupted.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  xlc::runtime::Embedded embedded{xlc_plan, xlc_plan_size, xlc_kernels, xlc_kernel_count};
  return (int)xlc::runtime::runProgram(argc, argv, embedded, interrupted);
}
