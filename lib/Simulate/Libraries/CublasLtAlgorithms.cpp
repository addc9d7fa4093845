// See CublasLtAlgorithms.h.
#include "CublasLtAlgorithms.h"
#include "Device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

using namespace xlc::runtime::cublaslt;

namespace xlc::simulate {
namespace {

constexpr uint32_t magic = 0x786c63;
static_assert(sizeof(Recipe) <= sizeof(Algorithm));

Recipe recipeOf(const Product &p) {
  int types = ((int)p.a.type << 4 | (int)p.d.type) << 2 | (int)p.isATransposed << 1 | (int)p.isBTransposed;
  types |= (int)p.epilogue << 16;
  return {magic,
          0,
          0,
          (int32_t)p.d.rows,
          (int32_t)p.d.columns,
          (int32_t)(p.isATransposed ? p.a.rows : p.a.columns),
          (int32_t)p.batch,
          types};
}

/// What divides all addresses of columns of a matrix whose first is a multiple of `alignment`.
uint64_t alignmentOf(const Matrix &matrix, uint64_t alignment) {
  int64_t bytes = bytesOf(matrix.type), offset = matrix.batchOffset * bytes;
  uint64_t leading = matrix.columns == 1 ? 0 : matrix.leading * bytes, bits = alignment | leading | (uint64_t)offset;
  return bits & -bits;
}

/// The addresses that the preference promises, and with them those of columns.
uint64_t alignmentOf(const Described &described, const Attributes &preference) {
  auto promised = [&](PreferenceAttribute which) { return preference.at((int)which); };
  const Product &p = described.product;
  uint64_t bias = described.hasBias && described.biasAt ? (uint64_t)described.biasAt : 256;
  uint64_t beside = described.hasBeside && p.besideAt ? (uint64_t)p.besideAt : 256;
  return std::min({alignmentOf(p.a, promised(PreferenceAttribute::AlignmentA)),
                   alignmentOf(p.b, promised(PreferenceAttribute::AlignmentB)),
                   alignmentOf(p.d, promised(PreferenceAttribute::AlignmentC)),
                   alignmentOf(p.d, promised(PreferenceAttribute::AlignmentD)), bias & -bias, beside & -beside});
}

} // namespace

Recipe recipeOf(const Algorithm &algorithm) {
  Recipe recipe;
  std::memcpy(&recipe, &algorithm, sizeof recipe);
  return recipe;
}

bool isFor(const Product &p, Recipe recipe) {
  recipe.alignment = 0, recipe.workspace = 0;
  return recipe == recipeOf(p);
}

void choose(const Described &described, const Attributes &preference, int most, Choice *choices, int *found) {
  const Product &p = described.product;
  uint64_t scratch = (p.d.rows * p.d.columns * p.batch * 4 + 255) / 256 * 256;
  constexpr uint64_t vector = 16;
  uint64_t reductions = preference.at((int)PreferenceAttribute::Reductions);
  auto element = (uint64_t)std::min(bytesOf(p.a.type), bytesOf(p.d.type));
  const std::pair<uint64_t, uint64_t> kinds[] = {{vector, scratch}, {vector, 0}, {element, 0}};
  for (auto [alignment, workspace] : kinds) {
    bool isAllowed = workspace <= preference.at((int)PreferenceAttribute::MostWorkspace) &&
                     (workspace == 0 || (reductions & (uint64_t)Reductions::ComputeType));
    if (*found == most || !isAllowed || alignmentOf(described, preference) < alignment)
      continue;
    Recipe recipe = recipeOf(p);
    recipe.alignment = alignment, recipe.workspace = workspace;
    Choice &choice = choices[(*found)++];
    choice = {{}, workspace, Status::Success, 1, {}};
    std::memcpy(&choice.algorithm, &recipe, sizeof recipe);
  }
}

Status check(const Product &p, const Algorithm &algorithm, void *workspace, size_t bytes, Recipe &recipe) {
  recipe = recipeOf(algorithm);
  if (!isFor(p, recipe))
    endWith("cublasLtMatmul received an algorithm that was chosen for another product");
  uint64_t bits =
      (uint64_t)p.aAt | (uint64_t)p.bAt | (uint64_t)p.cAt | (uint64_t)p.dAt | (uint64_t)p.biasAt | (uint64_t)p.besideAt;
  bool isAligned = bits % recipe.alignment == 0;
  bool hasWorkspace = recipe.workspace == 0 ||
                      (workspace && bytes >= recipe.workspace && (uint64_t)workspace % workspaceAlignment == 0);
  return isAligned && hasWorkspace ? Status::Success : Status::InvalidValue;
}

std::chrono::milliseconds timeOf(const Recipe &recipe) {
  const char *given = getenv("XLC_SIMULATE_PRODUCTS");
  std::istringstream times(given ? given : "");
  int which = recipe.workspace ? 0 : recipe.alignment > 4 ? 1 : 2;
  std::string time;
  for (int i = 0; i <= which; ++i)
    std::getline(times, time, ',');
  return std::chrono::milliseconds(given ? std::strtol(time.c_str(), nullptr, 10) : 0);
}

} // namespace xlc::simulate
