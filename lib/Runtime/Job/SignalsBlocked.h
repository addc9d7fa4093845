// Which threads get the signals that ask a program to stop: its main one.
#ifndef XLC_LIB_RUNTIME_JOB_SIGNALSBLOCKED_H
#define XLC_LIB_RUNTIME_JOB_SIGNALSBLOCKED_H

#include "Embedded.h"

#include <csignal>

namespace xlc::runtime {

/// Keeps them from the threads that are started meanwhile: where one waits to write a line of the log, it is not
/// interrupted.
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
