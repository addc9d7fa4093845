// `main` of every training program. It passes on the embedded plan, the arguments, the environment, and the signals
// that request a stop.
//
//     SIGINT, SIGTERM     the first one ends the run after its step, and the trained parameters are saved;
//                         the second one ends it at once
//     SIGHUP              the same, any number of times: closing a terminal sends several
//     SIGUSR1             the run writes a checkpoint after its step, and continues
//
// Afterwards the signal is raised again, so that the shell can report the cause of the end (130, 143, 129). A SIGHUP
// that was ignored when the program was started remains ignored (nohup). SIGINT does not: shells ignore it for
// background jobs, but `kill -INT` must stop them. SIGXFSZ and SIGPIPE are ignored: a file that is too large, or a
// closed reader, is an error of the write in which it occurs, and must not discard the trained parameters.
#include "Files/OutputFile.h"
#include "Files/OwnStack.h"
#include "Files/StandardStreams.h"
#include "Job.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

namespace {

std::atomic<int> received{0};              ///< the first signal
std::atomic<uint64_t> checkpointsAsked{0}; ///< SIGUSR1

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
  struct sigaction asking = {};
  asking.sa_handler = [](int) { ++checkpointsAsked; };
  asking.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &asking, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

std::terminate_handler terminateWithWords; ///< the library's, which prints the exception

/// Where an exception leaves a thread, or is thrown while another is handled. Memory that ran out is no mistake of the program.
[[noreturn]] void endWithoutMemory() {
  try {
    if (std::current_exception())
      throw;
  } catch (const std::bad_alloc &) {
    xlc::runtime::removeTemporaryFiles();
    xlc::runtime::sayPlainly(xlc::runtime::noMemoryMessage);
    _exit((int)xlc::runtime::Exit::RankFailed);
  } catch (...) { // NOLINT(bugprone-empty-catch): the library's handler says what it is
  }
  terminateWithWords();
  std::abort(); // which that does
}

} // namespace

static int runMain(int argc, char **argv) {
  xlc::runtime::Embedded embedded{
      {xlc_plan, xlc_plan_size, xlc_plan_checksum}, xlc_kernels, xlc_kernel_count, xlc_images, xlc_image_count};
  xlc::runtime::Settings settings = xlc::runtime::readSettings(std::getenv);
  settings.checkpointSignals = &checkpointsAsked;
  xlc::runtime::Exit exit =
      xlc::runtime::runProgram(argc, argv, embedded, xlc::runtime::linkedTarget(), settings, received);
  if (int signal = received; signal != 0 && exit == xlc::runtime::Exit::Done) {
    std::fflush(nullptr);
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  return (int)exit;
}

int main(int argc, char **argv) {
  xlc::runtime::openStandardStreams();
  handleSignals();
  terminateWithWords = std::set_terminate(endWithoutMemory);
  return xlc::runtime::runWithOwnStack([&] { return runMain(argc, argv); });
}
