// The processors that programs can be compiled for: the levels of the x86-64 psABI (section 3.1.1, "microarchitecture
// levels"), and an additional level for products of bf16. Compiler and program use the same level, so that the
// workspace of the library and the bits that it computes depend on the program and not on the machine that compiled it.
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

/// "x86-64", "x86-64-v2" and so on, as named by compilers; and "x86-64-v4-bf16".
const char *nameOf(CpuLevel level);
/// The level with this name; "native" is that of this machine's CPU.
std::optional<CpuLevel> findCpuLevel(std::string_view name);
/// The names that findCpuLevel accepts.
std::vector<std::string> listCpuLevels();

/// The level of generated code, which compilers support: the requirement of a program without library calls on bf16.
CpuLevel codeLevelOf(CpuLevel level);
/// Bytes of the widest vectors of a level.
int64_t vectorBytesOf(CpuLevel level);
/// The highest level that this machine's CPU supports completely.
CpuLevel findHostLevel();
/// The features of a level that this machine's CPU lacks.
std::vector<std::string> findMissingFeatures(CpuLevel level);

/// Limits the library calls of this process, oneDNN's and ours, to instructions up to this level. Called once, before
/// the first of them. By default they use all instructions of the CPU.
void limitLibraries(CpuLevel level);

} // namespace xlc::runtime

#endif
