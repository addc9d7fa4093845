// See Children.h.
#include "Children.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace xlc::runtime {

Children::Children(int count, const std::function<int(int rank, Peers line)> &work) {
  std::signal(SIGCHLD, SIG_DFL); // where it is ignored, nobody hears how a child ended
  std::fflush(nullptr);          // what is buffered is written once
  for (int rank = 0; rank < count; ++rank) {
    int ends[2];
    bool isJoined = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    OwnedFile ours(isJoined ? ends[0] : -1), theirs(isJoined ? ends[1] : -1);
    pid_t process = isJoined ? fork() : -1;
    if (process < 0) {
      std::string why = std::strerror(errno);
      killAll();
      throw NotStarted(fmt::format("error: cannot start a process for rank {}: {}", rank, why));
    }
    if (process == 0) {
      ours.reset();
      all.clear(); // its own lines to them: only one end of each may be left
      Peers line;
      line.add(Peers::starter, std::move(theirs));
      int exit = 0;
      try {
        exit = work(rank, std::move(line));
      } catch (...) {
        exit = (int)Exit::Internal; // which its starter says
      }
      std::fflush(nullptr);
      _exit(exit);
    }
    all.push_back({rank, process, std::move(ours)});
  }
}

Children::~Children() { killAll(); }

void Children::killAll() {
  for (const Child &child : all)
    if (child.process)
      kill(child.process, SIGKILL);
  for (Child &child : all)
    if (child.process)
      while (waitpid(child.process, nullptr, 0) < 0 && errno == EINTR)
        ;
  all.clear();
}

bool Children::isAnyLeft() const {
  return std::any_of(all.begin(), all.end(), [](const Child &child) { return child.process != 0; });
}

std::optional<Children::Ended> Children::reap() {
  for (Child &child : all) {
    int status = 0;
    if (!child.process || waitpid(child.process, &status, WNOHANG) != child.process)
      continue;
    child.process = 0, child.line.reset();
    if (WIFEXITED(status))
      return Ended{child.rank, WEXITSTATUS(status),
                   fmt::format("its process exited with code {}", WEXITSTATUS(status))};
    int signal = WTERMSIG(status);
    return Ended{child.rank, std::nullopt,
                 fmt::format("its process was killed by signal {} ({})", signal, strsignal(signal))};
  }
  return std::nullopt;
}

std::optional<Children::Ended> Children::wait(std::chrono::milliseconds most) {
  if (std::optional<Ended> ended = reap())
    return ended;
  std::vector<pollfd> asked;
  for (const Child &child : all)
    if (child.process)
      asked.push_back({child.line.get(), POLLRDHUP, 0});
  if (poll(asked.data(), asked.size(), (int)most.count()) > 0)
    usleep(1000); // the end of a line is closed a little before its process can be waited for
  return reap();
}

} // namespace xlc::runtime
