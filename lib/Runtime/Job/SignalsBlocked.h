// Restricts the signals that request a program to stop to its main thread.
#ifndef XLC_LIB_RUNTIME_JOB_SIGNALSBLOCKED_H
#define XLC_LIB_RUNTIME_JOB_SIGNALSBLOCKED_H

#include "Embedded.h"

#include <csignal>

namespace xlc::runtime {

/// Blocks these signals in the threads that are started in its scope, so that a thread that waits to write a line of
/// the log is not interrupted.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : stoppingSignals)
      sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;

private:
  sigset_t before;
};

} // namespace xlc::runtime

#endif
