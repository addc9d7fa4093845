// See Replicas.h.
#include "Replicas.h"

#include "Files/InputFile.h"
#include "Files/OutputFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace xlc::runtime {
namespace {

std::string nameOfFile(const std::string &folder, int rank) { return fmt::format("{}/compared-{:05}", folder, rank); }

uint64_t countShared(const Plan &plan, int rank) {
  uint64_t count = 0;
  forEachSharedPart(plan, rank, [&](const HeldPart &) { ++count; });
  return count;
}

std::string readDigits(const Plan &plan, const std::string &folder, int rank) {
  uint64_t bytes = countShared(plan, rank) * checksumDigits;
  if (bytes == 0)
    return "";
  InputFile file(nameOfFile(folder, rank));
  if (file.size() != bytes)
    file.reject(fmt::format("has {} bytes, but must have {}", file.size(), bytes));
  std::string digits(bytes, '\0');
  file.read(0, bytes, digits.data());
  if (unlink(file.path.c_str()) != 0)
    file.reject(fmt::format("cannot be removed: {}", std::strerror(errno)));
  return digits;
}

/// The ranks that hold a part, by its digits.
using Holders = std::map<std::string, std::vector<int>>;

std::string listRanks(const std::vector<int> &ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

/// "rank 2 holds another 'w' than ranks 0, 1, 3": where most agree, the others are named.
std::string describe(const std::string &key, const Holders &holders) {
  auto most = std::ranges::max_element(holders, {}, [](const auto &each) { return each.second.size(); });
  bool isMajority =
      std::ranges::count(holders, most->second.size(), [](const auto &each) { return each.second.size(); }) == 1;
  std::vector<int> others;
  for (const auto &[digits, ranks] : holders)
    if (!isMajority || digits != most->first)
      others.insert(others.end(), ranks.begin(), ranks.end());
  std::ranges::sort(others);
  if (!isMajority)
    return fmt::format("{} hold different elements of '{}', but must hold the same", listRanks(others), key);
  return fmt::format("{} {} different elements of '{}' than {}, but all must hold the same", listRanks(others),
                     others.size() == 1 ? "holds" : "hold", key, listRanks(most->second));
}

} // namespace

std::string digestShared(const Plan &plan, int rank, const ReadState &read) {
  std::string digits;
  std::vector<char> block(sealedBlock);
  forEachSharedPart(plan, rank, [&](const HeldPart &part) {
    Checksum checksum;
    for (uint64_t at = 0, end = part.bytes(); at < end; at += block.size()) {
      uint64_t some = std::min<uint64_t>(block.size(), end - at);
      checksum.add(read(part.offset() + at, some, block.data()), some);
    }
    digits += checksum.digits();
  });
  return digits;
}

void writeShared(const std::string &folder, int rank, const std::string &digits) {
  if (digits.empty())
    return;
  OutputFile file(nameOfFile(folder, rank));
  file.write(digits);
  file.publish();
}

std::string compareShared(const Plan &plan, const std::string &folder) {
  std::vector<std::string> digits;
  digits.reserve(rankCount(plan));
  for (int rank = 0; rank < (int)rankCount(plan); ++rank)
    digits.push_back(readDigits(plan, folder, rank));
  return findDifferentRank(plan, digits);
}

std::string findDifferentRank(const Plan &plan, const std::vector<std::string> &digits) {
  // A part is the same for two ranks where tensor, piece and elements are.
  std::map<std::tuple<std::string, uint64_t, uint64_t>, Holders> parts;
  for (int rank = 0; rank < (int)digits.size(); ++rank) {
    uint64_t at = 0;
    forEachSharedPart(plan, rank, [&](const HeldPart &part) {
      std::string key = describeTensor(plan, *part.held.row, *plan.parameters[part.parameter]).key();
      parts[{key, part.range.index, part.range.begin}][digits[rank].substr(at, checksumDigits)].push_back(rank);
      at += checksumDigits;
    });
  }
  for (const auto &[part, holders] : parts)
    if (holders.size() > 1)
      return describe(std::get<0>(part), holders);
  return "";
}

} // namespace xlc::runtime
