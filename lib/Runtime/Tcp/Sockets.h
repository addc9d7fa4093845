// Connections of TCP as they are made. A host that says nothing for five seconds ends them.
#ifndef XLC_LIB_RUNTIME_TCP_SOCKETS_H
#define XLC_LIB_RUNTIME_TCP_SOCKETS_H

#include "Launch/Segment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace xlc::runtime::tcp {

/// Where this process listens.
struct Listening {
  std::vector<OwnedFile> sockets; ///< one for each address, or one for all
  std::string why;                ///< there is none; or it is one for all
};

/// At a port of those addresses of the host's name that are this machine's. Of all addresses where none is, as behind an address
/// translation, or where the name stands for this machine on itself alone, as Debian's installer writes it into /etc/hosts.
Listening listenAt(const std::string &host, uint16_t port);
/// The next connection; none: errno says why.
OwnedFile acceptAt(const OwnedFile &door);

struct Connection {
  OwnedFile socket;
  std::string why;           ///< there is none
  bool hasNoAddress = false; ///< the host's name has none
};

/// To a port of one of the addresses that the host's name has.
Connection connectTo(const std::string &host, uint16_t port);

} // namespace xlc::runtime::tcp

#endif
