// See Sockets.h.
#include "Sockets.h"

#include <cerrno>
#include <cstring>
#include <memory>
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

/// Whether the connection that was begun is there, in time.
bool isConnected(const OwnedFile &socket) {
  pollfd asked{socket.get(), POLLOUT, 0};
  int problem = 0;
  socklen_t size = sizeof problem;
  return poll(&asked, 1, mostToConnect) == 1 && getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size) == 0 &&
         problem == 0;
}

/// A port that nobody listens at may be given to the one who asks for it, who then has itself at the other end.
bool isItself(const OwnedFile &socket) {
  sockaddr_storage here = {}, there = {};
  socklen_t size = sizeof here, other = sizeof there;
  return getsockname(socket.get(), (sockaddr *)&here, &size) == 0 &&
         getpeername(socket.get(), (sockaddr *)&there, &other) == 0 && size == other &&
         std::memcmp(&here, &there, size) == 0;
}

OwnedFile tryListen(int family, uint16_t port) {
  OwnedFile made = makeSocket(family);
  if (!made)
    return made;
  sockaddr_in6 any6 = {};
  sockaddr_in any4 = {};
  any6.sin6_family = AF_INET6, any6.sin6_port = htons(port);
  any4.sin_family = AF_INET, any4.sin_port = htons(port);
  setOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6)
    setOption(made, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const auto *address = family == AF_INET6 ? (const sockaddr *)&any6 : (const sockaddr *)&any4;
  bool isOpen = bind(made.get(), address, family == AF_INET6 ? sizeof any6 : sizeof any4) == 0 &&
                listen(made.get(), SOMAXCONN) == 0;
  return isOpen ? std::move(made) : OwnedFile();
}

} // namespace

OwnedFile listenAt(uint16_t port) {
  OwnedFile made = tryListen(AF_INET6, port); // which takes IPv4 as well
  return made ? std::move(made) : tryListen(AF_INET, port);
}

OwnedFile acceptAt(const OwnedFile &door) {
  OwnedFile made(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (made)
    configure(made);
  return made;
}

OwnedFile connectTo(const std::string &host, uint16_t port) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return {};
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  for (const addrinfo *each = found; each; each = each->ai_next) {
    OwnedFile made = makeSocket(each->ai_family);
    if (!made)
      continue;
    setOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
    bool isThere =
        connect(made.get(), each->ai_addr, each->ai_addrlen) == 0 || (errno == EINPROGRESS && isConnected(made));
    if (isThere && !isItself(made)) {
      configure(made);
      return made;
    }
    linger atOnce = {1, 0}; // so that the port is free again
    setsockopt(made.get(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
  }
  return {};
}

} // namespace xlc::runtime::tcp
