// Whether all hosts have one folder of checkpoints: rank 0 leaves a number there, and the others find it.
//
//     CK/.same        16 hexadecimal digits
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_SHAREDFOLDER_H
#define XLC_LIB_RUNTIME_CHECKPOINT_SHAREDFOLDER_H

#include <cstdint>
#include <string>

namespace xlc::runtime {

/// Leaves a number that no run before has left, and returns it; it is not 0. Throws Rejected.
uint64_t markFolder(const std::string &dir);
/// Throws Rejected where the folder has another one, or none.
void checkMark(const std::string &dir, uint64_t number);

} // namespace xlc::runtime

#endif
