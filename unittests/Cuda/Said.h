// What is said where something cannot be done.
#ifndef XLC_UNITTESTS_CUDA_SAID_H
#define XLC_UNITTESTS_CUDA_SAID_H

#include <gtest/gtest.h>

#include <string>

namespace xlc::test {

/// The message of the Problem that `act` throws.
template <class Problem, class Act> std::string messageOf(Act act) {
  try {
    act();
  } catch (const Problem &problem) {
    return problem.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

} // namespace xlc::test

#endif
