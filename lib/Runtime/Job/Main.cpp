// `main` of every training program: the embedded plan, the arguments, and the signals that ask it to stop.
//
//     SIGINT, SIGTERM     the first one ends the run after its step, and what was learned is saved;
//                         the second one ends it at once
//     SIGHUP              the same, as often as it comes: who closes a terminal sends several
//
// Afterwards the signal is raised again, so that the shell sees what ended the program (130, 143, 129). A SIGHUP that
// was ignored when the program was started stays so (nohup). SIGINT does not: shells ignore it for jobs in the
// background, which `kill -INT` is to stop. SIGXFSZ is ignored: a file too large is an error of its writer.
#include "Files/OutputFile.h"
#include "Files/StandardStreams.h"
#include "Job.h"

#include <csignal>

namespace {

std::atomic<int> received{0}; ///< the first signal

void endNow(int signal) {
  xlc::runtime::removeTemporaryFiles();
  std::signal(signal, SIG_DFL);
  raise(signal); // when the handler returns
}

void stopAfterStep(int signal) {
  int none = 0;
  if (!received.compare_exchange_strong(none, signal) && signal != SIGHUP)
    endNow(signal);
}

/// Without SA_RESTART: who waits for the reader of a pipe does not go on waiting.
void handleSignals() {
  struct sigaction before, stopping = {};
  stopping.sa_handler = stopAfterStep;
  for (int signal : xlc::runtime::stoppingSignals)
    if (signal != SIGHUP || (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN))
      sigaction(signal, &stopping, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace

int main(int argc, char **argv) {
  xlc::runtime::openStandardStreams();
  handleSignals();
  xlc::runtime::Embedded embedded{xlc_plan, xlc_plan_size, xlc_kernels, xlc_kernel_count, xlc_images, xlc_image_count};
  xlc::runtime::Exit exit = xlc::runtime::runProgram(argc, argv, embedded, xlc::runtime::linkedTarget(), received);
  if (int signal = received; signal != 0 && exit == xlc::runtime::Exit::Done) {
    std::fflush(nullptr);
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  return (int)exit;
}
