// Creates TCP connections. A connection to a host that does not respond for five seconds is ended.
#ifndef XLC_LIB_RUNTIME_TCP_SOCKETS_H
#define XLC_LIB_RUNTIME_TCP_SOCKETS_H

#include "Launch/Segment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace xlc::runtime::tcp {

/// The sockets on which this process listens.
struct Listening {
  std::vector<OwnedFile> sockets; ///< one for each address, or one for all
  std::string why;                ///< the reason why there is none, or only one for all addresses
};

/// Listens at a port, on those addresses of the host's name that belong to this machine. Listens on all addresses if
/// there are none, as behind an address translation, or if the name is a loopback name of this machine, as Debian's
/// installer writes it into /etc/hosts.
Listening listenAt(const std::string &host, uint16_t port);
/// Accepts the next connection; none: errno has the reason.
OwnedFile acceptAt(const OwnedFile &door);

struct Connection {
  OwnedFile socket;
  std::string why;           ///< the reason why there is none
  bool hasNoAddress = false; ///< the host's name has no address
};

/// Connects to a port of one of the addresses of the host's name.
Connection connectTo(const std::string &host, uint16_t port);

} // namespace xlc::runtime::tcp

#endif
