// See CpuLevel.h. A row per feature of a level; the compiler's builtin requires each name as a literal.
#include "xlc/Runtime/CpuLevel.h"

#include "OneDnn.h"
#include "Vector.h"

#include <dnnl_types.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

struct Level {
  const char *name;
  int64_t vectorBytes;
  Isa isa;                ///< of our own library calls
  dnnl_cpu_isa_t library; ///< of oneDNN's
};
/// Indexed by CpuLevel. oneDNN wants VNNI where it uses BF16; it has the same kernels of f32 for both.
constexpr Level levels[] = {{"x86-64", 16, Isa::Baseline, dnnl_cpu_isa_sse41},
                            {"x86-64-v2", 16, Isa::Baseline, dnnl_cpu_isa_sse41},
                            {"x86-64-v3", 32, Isa::Avx2, dnnl_cpu_isa_avx2},
                            {"x86-64-v4", 64, Isa::Avx512, dnnl_cpu_isa_avx512_core},
                            {"x86-64-v4-bf16", 64, Isa::Avx512, dnnl_cpu_isa_avx512_core_bf16}};

struct Feature {
  CpuLevel level; ///< the first that has it
  const char *name;
  bool (*isPresent)();
};
#define XLC_FEATURE(level, name) {CpuLevel::level, name, [] { return __builtin_cpu_supports(name) != 0; }}
constexpr Feature features[] = {
    XLC_FEATURE(V2, "popcnt"),
    XLC_FEATURE(V2, "sse3"),
    XLC_FEATURE(V2, "ssse3"),
    XLC_FEATURE(V2, "sse4.1"),
    XLC_FEATURE(V2, "sse4.2"),
    XLC_FEATURE(V3, "avx"),
    XLC_FEATURE(V3, "avx2"),
    XLC_FEATURE(V3, "bmi"),
    XLC_FEATURE(V3, "bmi2"),
    XLC_FEATURE(V3, "f16c"),
    XLC_FEATURE(V3, "fma"),
    XLC_FEATURE(V3, "lzcnt"),
    XLC_FEATURE(V3, "movbe"),
    XLC_FEATURE(V4, "avx512f"),
    XLC_FEATURE(V4, "avx512bw"),
    XLC_FEATURE(V4, "avx512cd"),
    XLC_FEATURE(V4, "avx512dq"),
    XLC_FEATURE(V4, "avx512vl"),
    XLC_FEATURE(V4Bf16, "avx512vnni"),
    XLC_FEATURE(V4Bf16, "avx512bf16"),
};
#undef XLC_FEATURE

CpuLevel mostLevel = CpuLevel::V4Bf16; // set before any rank starts
CpuLevel findUsedLevel() {
  static const CpuLevel host = findHostLevel();
  return std::min(host, mostLevel);
}

} // namespace

Isa findIsa() { return levels[(size_t)findUsedLevel()].isa; }
void limitOwnLibrary(CpuLevel level) { mostLevel = level; }
bool multipliesBf16() { return findUsedLevel() >= CpuLevel::V4Bf16; }

const char *nameOf(CpuLevel level) { return levels[(size_t)level].name; }
CpuLevel codeLevelOf(CpuLevel level) { return std::min(level, CpuLevel::V4); }
int64_t vectorBytesOf(CpuLevel level) { return levels[(size_t)level].vectorBytes; }

std::optional<CpuLevel> findCpuLevel(std::string_view name) {
  if (name == "native")
    return findHostLevel();
  auto found = std::ranges::find(levels, name, &Level::name);
  return found == std::end(levels) ? std::nullopt : std::optional(CpuLevel(found - levels));
}

std::vector<std::string> listCpuLevels() {
  std::vector<std::string> names{"native"};
  for (const Level &level : levels)
    names.push_back(level.name);
  return names;
}

CpuLevel findHostLevel() {
  for (CpuLevel level : {CpuLevel::V4Bf16, CpuLevel::V4, CpuLevel::V3, CpuLevel::V2})
    if (findMissingFeatures(level).empty())
      return level;
  return CpuLevel::V1;
}

std::vector<std::string> findMissingFeatures(CpuLevel level) {
  std::vector<std::string> missing;
  for (const Feature &feature : features)
    if (feature.level <= level && !feature.isPresent())
      missing.push_back(feature.name);
  return missing;
}

void limitLibraries(CpuLevel level) {
  limitOwnLibrary(level);
  limitOneDnn(levels[(size_t)level].library);
}

} // namespace xlc::runtime
