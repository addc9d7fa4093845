// Checks that all hosts share one folder of checkpoints: rank 0 writes a number there, and the others read it.
//
//     CK/.same        16 hexadecimal digits
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_SHAREDFOLDER_H
#define XLC_LIB_RUNTIME_CHECKPOINT_SHAREDFOLDER_H

#include <cstdint>
#include <string>

namespace xlc::runtime {

/// Writes a number, not 0, that no earlier run has written, and returns it. Throws Rejected.
uint64_t markFolder(const std::string &dir);
/// Throws Rejected if the folder has a different number, or none.
void checkMark(const std::string &dir, uint64_t number);

} // namespace xlc::runtime

#endif
