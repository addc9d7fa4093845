// See Sockets.h.
#include "Sockets.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace xlc::runtime::tcp {
namespace {

constexpr int mostToConnect = 1000; // milliseconds, of one address
constexpr int mostSilence = 5000;   // milliseconds

void setOption(const OwnedFile &socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value); // without it all works, later
}

void configure(const OwnedFile &socket) {
  setOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPCNT, mostSilence / 1000 - 1);
  setOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, mostSilence);
}

OwnedFile makeSocket(int family) {
  return OwnedFile(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
}

/// What became of a connection that was begun: 0, or why there is none in time.
int awaitConnection(const OwnedFile &socket) {
  pollfd asked{socket.get(), POLLOUT, 0};
  int problem = 0;
  socklen_t size = sizeof problem;
  if (poll(&asked, 1, mostToConnect) != 1)
    return ETIMEDOUT;
  return getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size) == 0 ? problem : errno;
}

/// A port without a listener may be given to the process that connects to it, which then has itself at the other end.
bool isItself(const OwnedFile &socket) {
  sockaddr_storage here = {}, there = {};
  socklen_t size = sizeof here, other = sizeof there;
  return getsockname(socket.get(), (sockaddr *)&here, &size) == 0 &&
         getpeername(socket.get(), (sockaddr *)&there, &other) == 0 && size == other &&
         std::memcmp(&here, &there, size) == 0;
}

/// What getaddrinfo finds.
class Addresses {
public:
  Addresses(const std::string &host, uint16_t port, int flags = 0) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM, hints.ai_flags = flags;
    result = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    why = result == 0 ? "" : result == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(result);
  }
  ~Addresses() {
    if (result == 0)
      freeaddrinfo(found);
  }
  Addresses(const Addresses &) = delete;

  const addrinfo *first() const { return result == 0 ? found : nullptr; }
  std::string why; ///< there are none

private:
  addrinfo *found = nullptr;
  int result;
};

std::string describe(const addrinfo &address) {
  char text[NI_MAXHOST] = "";
  getnameinfo(address.ai_addr, address.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

bool isLoopback(const addrinfo &address) {
  if (address.ai_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&((const sockaddr_in6 *)address.ai_addr)->sin6_addr);
  return address.ai_family == AF_INET && ntohl(((const sockaddr_in *)address.ai_addr)->sin_addr.s_addr) >> 24 == 127;
}

/// Whether it stands for this machine on itself alone.
bool isMeantForLoopback(const std::string &host, uint16_t port) {
  return host == "localhost" || Addresses(host, port, AI_NUMERICHOST).first();
}

/// None: errno says why.
OwnedFile tryListen(int family, const sockaddr *address, socklen_t size, bool takesBoth) {
  OwnedFile made = makeSocket(family);
  if (!made)
    return made;
  setOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6)
    setOption(made, IPPROTO_IPV6, IPV6_V6ONLY, !takesBoth);
  bool isOpen = bind(made.get(), address, size) == 0 && listen(made.get(), SOMAXCONN) == 0;
  return isOpen ? std::move(made) : OwnedFile();
}

/// `because`: why not at some.
Listening listenAtAll(uint16_t port, const std::string &because) {
  sockaddr_in6 any6 = {};
  sockaddr_in any4 = {};
  any6.sin6_family = AF_INET6, any6.sin6_port = htons(port);
  any4.sin_family = AF_INET, any4.sin_port = htons(port);
  Listening made;
  OwnedFile socket = tryListen(AF_INET6, (const sockaddr *)&any6, sizeof any6, /*takesBoth=*/true);
  if (!socket)
    socket = tryListen(AF_INET, (const sockaddr *)&any4, sizeof any4, false);
  made.why = socket ? because : std::strerror(errno);
  if (socket)
    made.sockets.push_back(std::move(socket));
  return made;
}

} // namespace

Listening listenAt(const std::string &host, uint16_t port) {
  Addresses addresses(host, port);
  if (!addresses.first())
    return listenAtAll(port, fmt::format("cannot be resolved: {}", addresses.why));
  bool isElsewhere = isMeantForLoopback(host, port);
  Listening made;
  for (const addrinfo *each = addresses.first(); each; each = each->ai_next) {
    isElsewhere |= !isLoopback(*each);
    OwnedFile socket = tryListen(each->ai_family, each->ai_addr, each->ai_addrlen, false);
    if (!socket && errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT)
      return {{}, std::strerror(errno)};
    if (socket)
      made.sockets.push_back(std::move(socket));
  }
  std::string first = describe(*addresses.first());
  if (made.sockets.empty())
    return listenAtAll(port, first == host
                                 ? "is not an address of this host"
                                 : fmt::format("resolves to {}, which is not an address of this host", first));
  if (isElsewhere)
    return made;
  made.sockets.clear(); // the port is for one
  return listenAtAll(port, fmt::format("resolves on this host to {}, which other hosts cannot reach", first));
}

OwnedFile acceptAt(const OwnedFile &door) {
  OwnedFile made(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (made)
    configure(made);
  return made;
}

Connection connectTo(const std::string &host, uint16_t port) {
  Addresses addresses(host, port);
  if (!addresses.first())
    return {{}, addresses.why, true};
  Connection made;
  for (const addrinfo *each = addresses.first(); each && !made.socket; each = each->ai_next) {
    OwnedFile socket = makeSocket(each->ai_family);
    if (!socket) {
      made.why = std::strerror(errno);
      continue;
    }
    setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    int problem = connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    problem = problem == EINPROGRESS ? awaitConnection(socket) : problem;
    if (problem == 0 && !isItself(socket)) {
      configure(socket);
      made.socket = std::move(socket);
      continue;
    }
    made.why = std::strerror(problem ? problem : ECONNREFUSED);
    linger atOnce = {1, 0}; // so that the port is free again
    setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
  }
  return made;
}

} // namespace xlc::runtime::tcp
