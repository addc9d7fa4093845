// The processors that a program may be made for: the levels of the x86-64 psABI (section 3.1.1, "microarchitecture
// levels"), and one more of our own for products of bf16. Compiler and program speak of the same level, so that what the
// library needs as workspace, and the bits that it computes, belong to the program and not to the machine that it was
// compiled on.
#ifndef XLC_RUNTIME_CPULEVEL_H
#define XLC_RUNTIME_CPULEVEL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// V4Bf16 is V4 with AVX-512 BF16, which only library calls on bf16 use.
enum class CpuLevel : uint8_t { V1, V2, V3, V4, V4Bf16 };

/// "x86-64", "x86-64-v2" and so on, as compilers name them; and "x86-64-v4-bf16".
const char *nameOf(CpuLevel level);
/// The level of this name; "native" is that of the CPU at hand.
std::optional<CpuLevel> findCpuLevel(std::string_view name);
/// The names that findCpuLevel knows.
std::vector<std::string> listCpuLevels();

/// The level of generated code, which compilers know: what a program needs that has no library calls on bf16.
CpuLevel codeLevelOf(CpuLevel level);
/// Bytes of the widest vectors of a level.
int64_t vectorBytesOf(CpuLevel level);
/// The highest level of which the CPU at hand has everything.
CpuLevel findHostLevel();
/// What a level needs and the CPU at hand lacks.
std::vector<std::string> findMissingFeatures(CpuLevel level);

/// Library calls of this process, oneDNN's and ours, use instructions up to this level from now on. Once, before the
/// first of them; without it they use what the CPU at hand has.
void limitLibraries(CpuLevel level);

} // namespace xlc::runtime

#endif
