// From the surest to the least sure: another spelling, another tool's word, a name with more or less said, a slip.
#include "Meant.h"

#include "SpecErrors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace xlc::spec {
namespace {

/// Words of other tools that are spelled otherwise than ours.
struct Synonym {
  StringLiteral ours, theirs;
};
constexpr Synonym synonyms[] = {{"bf16", "bfloat16"}, {"fp16", "float16"}, {"fp16", "half"}, {"fp32", "float32"},
                                {"fp32", "float"},    {"fp32", "no"},      {"fp16", "16"},   {"fp32", "32"},
                                {"cuda", "gpu"},      {"cuda", "nvidia"},  {"cpu", "none"}};

/// What names of devices and of types say that ours do not.
constexpr StringLiteral noise[] = {"nvidia", "tesla", "geforce", "sxm",  "sxm2",  "sxm3",  "sxm4",
                                   "sxm5",   "pcie",  "hbm2",    "hbm3", "torch", "mixed", "true"};

/// Parts of a name, in small letters: {"a100", "80"} of "NVIDIA A100-SXM4-80GB".
SmallVector<std::string> partsOf(StringRef name) {
  SmallVector<std::string> parts;
  std::string word;
  auto finish = [&] {
    StringRef part = word;
    if (part.size() > 2 && part.ends_with("gb") && all_of(part.drop_back(2), isDigit))
      part = part.drop_back(2);
    if (!part.empty() && !is_contained(noise, part))
      parts.push_back(part.str());
    word.clear();
  };
  for (char c : name) {
    if (!isAlnum(c))
      finish();
    else
      word += toLower(c);
  }
  finish();
  return parts;
}

bool hasAll(ArrayRef<std::string> parts, ArrayRef<std::string> of) {
  return !of.empty() && all_of(of, [&](const std::string &part) { return is_contained(parts, part); });
}

std::string digitsOf(StringRef text) {
  std::string digits;
  copy_if(text, std::back_inserter(digits), isDigit);
  return digits;
}

} // namespace

bool isSameName(StringRef one, StringRef other) {
  auto simplify = [](StringRef name) {
    std::string result;
    for (char c : name)
      if (!StringRef("-_ ").contains(c))
        result += toLower(c);
    return result;
  };
  return simplify(one) == simplify(other);
}

SmallVector<StringRef> findMeantWords(StringRef written, StringRef choices) {
  SmallVector<StringRef> words, found;
  choices.split(words, '|');
  copy_if(words, std::back_inserter(found), [&](StringRef word) { return isSameName(word, written); });
  SmallVector<std::string> parts = partsOf(written);
  for (const Synonym &row : synonyms)
    if (found.empty() && parts.size() == 1 && parts.front() == row.theirs && is_contained(words, row.ours))
      found.push_back(*find(words, row.ours));
  if (!found.empty())
    return found;
  for (StringRef word : words) {
    SmallVector<std::string> ours = partsOf(word);
    if (hasAll(parts, ours) || hasAll(ours, parts))
      found.push_back(word);
  }
  if (!found.empty())
    return found;
  SmallVector<StringRef> near;
  copy_if(words, std::back_inserter(near), [&](StringRef word) {
    std::string digits = digitsOf(word);
    return digits.empty() || digits == digitsOf(written);
  });
  if (std::optional<StringRef> nearest = findNearest(written, near))
    found.push_back(*nearest);
  return found;
}

std::optional<StringRef> findWord(StringRef written, StringRef choices) {
  SmallVector<StringRef> words = findMeantWords(written, choices);
  return words.size() == 1 ? std::optional(words.front()) : std::nullopt;
}

std::string askWhetherMeant(ArrayRef<StringRef> words) {
  if (words.empty())
    return "";
  return "did you mean " + join(map_range(words, quote), " or ") + "?";
}

} // namespace xlc::spec

std::optional<StringRef> xlc::findNearest(StringRef written, ArrayRef<StringRef> candidates) {
  unsigned nearestDistance = std::max<size_t>(1, std::min<size_t>(written.size(), 24) / 3) + 1;
  std::optional<StringRef> nearest;
  std::string small = written.lower();
  for (StringRef candidate : candidates) {
    if (small.empty() || candidate.empty() || toLower(candidate.front()) != small.front())
      continue;
    unsigned distance = StringRef(small).edit_distance(candidate.lower(), /*AllowReplacements=*/true, nearestDistance);
    if (distance < nearestDistance) {
      nearestDistance = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
