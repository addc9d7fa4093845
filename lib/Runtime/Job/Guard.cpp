// See Guard.h.
#include "Guard.h"

#include "Files/StandardStreams.h"
#include "Progress.h"

#include <fmt/format.h>

#include <new>
#include <system_error>

namespace xlc::runtime {

static Exit tellWhy(const std::function<Exit()> &work) {
  try {
    return work();
  } catch (const Rejected &problem) {
    sayAboveBar(problem.what());
    return Exit::Rejected;
  } catch (const NotStarted &problem) {
    say(problem.what());
    return Exit::RankFailed;
  } catch (const NoCheckpoint &problem) {
    say(problem.what());
    return Exit::NoCheckpoint;
  } catch (const DeviceFailure &problem) {
    sayAboveBar(fmt::format("error: after the last step: {}", problem.what()));
    return Exit::RankFailed;
  } catch (const std::bad_alloc &) {
    sayPlainly(noMemoryMessage);
    return Exit::RankFailed;
  } catch (const std::system_error &problem) { // the system gives no thread, no file, no memory
    sayAboveBar(fmt::format("error: cannot create a thread or open a file: {}", problem.what()));
    return Exit::RankFailed;
  } catch (const std::exception &problem) {
    sayAboveBar(fmt::format("error: {}", problem.what()));
    return Exit::Internal;
  }
}

Exit guard(const std::function<Exit()> &work) {
  try {
    return tellWhy(work);
  } catch (const std::bad_alloc &) { // of the message
    sayPlainly(noMemoryMessage);
    return Exit::RankFailed;
  }
}

} // namespace xlc::runtime
