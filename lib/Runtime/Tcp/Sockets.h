// Connections of TCP as they are made. A host that says nothing for five seconds ends them.
#ifndef XLC_LIB_RUNTIME_TCP_SOCKETS_H
#define XLC_LIB_RUNTIME_TCP_SOCKETS_H

#include "Launch/Segment.h"

#include <cstdint>
#include <string>

namespace xlc::runtime::tcp {

/// At a port of all addresses of this host. None: errno says why.
OwnedFile listenAt(uint16_t port);
/// Who has come; none: nobody has.
OwnedFile acceptAt(const OwnedFile &door);
/// To a port of one of the addresses that the host's name has. None: it has none, or nobody listens there.
OwnedFile connectTo(const std::string &host, uint16_t port);

} // namespace xlc::runtime::tcp

#endif
