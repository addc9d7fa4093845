// See TokenFiles.h. llm.c: https://github.com/karpathy/llm.c (dev/data/data_common.py). Megatron:
// https://github.com/NVIDIA/Megatron-LM (megatron/core/datasets/indexed_dataset.py).
#include "TokenFiles.h"

#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <glob.h>

namespace xlc::runtime {
namespace {

template <class T> T numberAt(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

struct RawType {
  plan::TokenType type;
  StoredType stored;
  const char *name; ///< in a spec
};
constexpr RawType rawTypes[] = {{plan::TokenType::U8, StoredType::U8, "uint8"},
                                {plan::TokenType::U16, StoredType::U16, "uint16"},
                                {plan::TokenType::U32, StoredType::U32, "uint32"},
                                {plan::TokenType::I32, StoredType::I32, "int32"}};

struct LlmcVersion {
  uint32_t magic, version;
  StoredType type;
};
constexpr LlmcVersion llmcVersions[] = {{20240520, 1, StoredType::U16}, {20240801, 7, StoredType::U32}};
constexpr uint64_t llmcHeader = 1024;

struct MegatronType {
  uint8_t code;
  StoredType type;
};
constexpr MegatronType megatronTypes[] = {{1, StoredType::U8},  {2, StoredType::I8},  {3, StoredType::I16},
                                          {4, StoredType::I32}, {5, StoredType::I64}, {8, StoredType::U16}};
constexpr std::string_view megatronMagic("MMIDIDX\0\0", 9);
constexpr uint64_t megatronHeader = 9 + 8 + 1 + 8 + 8, lengthBytes = sizeof(int32_t), placeBytes = sizeof(int64_t);

/// What a file begins with, up to the header of llm.c.
struct Begin {
  char bytes[llmcHeader] = {};
  uint64_t count;

  explicit Begin(const InputFile &file) : count(std::min<uint64_t>(file.size(), sizeof bytes)) {
    file.read(0, count, bytes);
  }
  bool startsWith(std::string_view magic) const { return std::string_view(bytes, count).starts_with(magic); }
  uint32_t word(uint64_t index) const { return numberAt<uint32_t>(bytes + index * sizeof(uint32_t)); }
  const LlmcVersion *findLlmc() const {
    auto row = std::find_if(std::begin(llmcVersions), std::end(llmcVersions),
                            [&](const LlmcVersion &each) { return count >= 12 && word(0) == each.magic; });
    return row == std::end(llmcVersions) ? nullptr : row;
  }
};

TokenFile openNpy(const std::string &path) {
  TokenFile made;
  made.npy = std::make_unique<NpyFile>(path);
  const NpyFile &file = *made.npy;
  if (file.shape.size() != 1 || !isInteger(file.type))
    file.bytes().reject(fmt::format(
        "the array has {} dimension{} and elements of type '{}', but tokens must be integers in one dimension",
        file.shape.size(), file.shape.size() == 1 ? "" : "s", rowOf(file.type).numpy));
  made.type = file.type, made.begin = file.begin(), made.tokens = file.shape[0];
  return made;
}

TokenFile openLlmc(std::unique_ptr<const InputFile> file, const Begin &begin, const LlmcVersion &row) {
  if (begin.count < llmcHeader)
    file->reject(fmt::format("the header of llm.c is truncated: it has {} of {} bytes", begin.count, llmcHeader));
  if (begin.word(1) != row.version)
    file->reject(fmt::format("llm.c's magic number {} requires version {}, but the file has version {}", row.magic,
                             row.version, begin.word(1)));
  uint64_t tokens = begin.word(2), needed = llmcHeader + tokens * bytesOf(row.type);
  if (needed != file->size())
    file->reject(fmt::format("{} tokens of {} bytes and the header need {} bytes, but the file has {}", tokens,
                             bytesOf(row.type), needed, file->size()));
  return {row.type, llmcHeader, tokens, nullptr, std::move(file)};
}

/// The index of a pair, whose sequences must be all of the other file.
class MegatronIndex {
public:
  explicit MegatronIndex(const std::string &path) : file(path) {
    char header[megatronHeader];
    if (file.size() < megatronHeader)
      file.reject(fmt::format("the header of the Megatron index is truncated: it has {} of {} bytes", file.size(),
                              megatronHeader));
    file.read(0, megatronHeader, header);
    if (std::string_view(header, megatronMagic.size()) != megatronMagic)
      file.reject("not a Megatron index: it does not begin with MMIDIDX");
    if (auto version = numberAt<uint64_t>(header + 9); version != 1)
      file.reject(fmt::format("Megatron's index has version {}, but only version 1 is supported", version));
    readType((uint8_t)header[17]);
    readCounts(numberAt<uint64_t>(header + 18), numberAt<uint64_t>(header + 26));
  }

  TokenFile open(const std::string &binary, Scan scan) const {
    TokenFile made;
    made.other = std::make_unique<InputFile>(binary);
    made.type = type;
    uint64_t size = made.other->size();
    if (size % bytesOf(type) != 0)
      made.other->reject(fmt::format("its {} bytes are not a multiple of {}, the size of a token according to {}", size,
                                     bytesOf(type), file.path));
    made.tokens = size / bytesOf(type);
    bool all = scan == Scan::All || file.size() <= kMostScanned;
    uint64_t end = all ? checkSequences(0, sequences, 0, size) : checkEnds(size);
    if (end != size)
      file.reject(fmt::format("the sequences end at byte {0} of {1}, but {1} has {2} bytes", end, binary, size));
    return made;
  }

private:
  void readType(uint8_t code) {
    auto row = std::find_if(std::begin(megatronTypes), std::end(megatronTypes),
                            [&](const MegatronType &each) { return each.code == code; });
    if (row == std::end(megatronTypes))
      file.reject(fmt::format(
          "tokens have type code {}, but the codes of Megatron's integer types are 1, 2, 3, 4, 5 and 8", code));
    type = row->type;
  }

  void readCounts(uint64_t count, uint64_t documents) {
    uint64_t rest = file.size() - megatronHeader;
    constexpr uint64_t ofSequence = lengthBytes + placeBytes;
    if (count > rest / ofSequence || documents != (rest - count * ofSequence) / placeBytes ||
        (rest - count * ofSequence) % placeBytes != 0)
      file.reject(fmt::format("{} sequences and {} documents do not match the {} bytes after the header", count,
                              documents, rest));
    sequences = count;
  }

  uint64_t placeAt(uint64_t sequence) const { return megatronHeader + sequences * lengthBytes + sequence * placeBytes; }

  /// Sequences [from, to), the first of which begins at byte `begin`; returns where the last ends.
  uint64_t checkSequences(uint64_t from, uint64_t to, uint64_t begin, uint64_t size) const {
    constexpr uint64_t most = 4096;
    std::vector<char> lengths(most * lengthBytes), places(most * placeBytes);
    for (uint64_t at = from, some; at < to; at += some) {
      some = std::min(most, to - at);
      file.read(megatronHeader + at * lengthBytes, some * lengthBytes, lengths.data());
      file.read(placeAt(at), some * placeBytes, places.data());
      for (uint64_t i = 0; i < some; ++i) {
        auto length = numberAt<int32_t>(lengths.data() + i * lengthBytes);
        auto place = numberAt<int64_t>(places.data() + i * placeBytes);
        if (length < 0 || place < 0 || (uint64_t)place != begin || (uint64_t)length * bytesOf(type) > size - begin)
          file.reject(
              fmt::format("sequence {} has {} tokens and begins at byte {}, but must begin at byte {}, the end of the "
                          "previous sequence, and must end within the {} bytes of the file",
                          at + i, length, place, begin, size));
        begin += (uint64_t)length * bytesOf(type);
      }
    }
    return begin;
  }

  /// The first sequences and the last.
  uint64_t checkEnds(uint64_t size) const {
    constexpr uint64_t some = 4096;
    checkSequences(0, some, 0, size);
    char place[placeBytes];
    file.read(placeAt(sequences - some), placeBytes, place);
    return checkSequences(sequences - some, sequences, std::min(numberAt<uint64_t>(place), size), size);
  }

  InputFile file;
  StoredType type = StoredType::U16;
  uint64_t sequences = 0;
};

TokenFile openRaw(std::unique_ptr<const InputFile> file, const RawType &row) {
  uint64_t size = bytesOf(row.stored);
  if (file->size() % size != 0)
    file->reject(
        fmt::format("its {} bytes are not a multiple of {}, the size of a token according to data.train.type = {}",
                    file->size(), size, row.name));
  uint64_t tokens = file->size() / size;
  return {row.stored, 0, tokens, nullptr, std::move(file)};
}

/// X.idx of X.bin.
std::string indexOf(const std::string &path) {
  return path.ends_with(".bin") ? path.substr(0, path.size() - 3) + "idx" : "";
}

} // namespace

TokenFile openTokens(const std::string &path, plan::TokenType type, Scan scan) {
  auto file = std::make_unique<const InputFile>(path);
  Begin begin(*file);
  const LlmcVersion *llmc = begin.findLlmc();
  bool isNpy = begin.startsWith("\x93NUMPY");
  auto raw =
      std::find_if(std::begin(rawTypes), std::end(rawTypes), [&](const RawType &row) { return row.type == type; });
  if (raw != std::end(rawTypes)) {
    if (isNpy || (llmc && begin.count == llmcHeader && begin.word(1) == llmc->version))
      file->reject(fmt::format(
          "it begins with the header of {}, but data.train.type = {} is for tokens without a header; use auto",
          isNpy ? "an .npy file" : "llm.c", raw->name));
    return openRaw(std::move(file), *raw);
  }
  if (isNpy)
    return openNpy(path);
  std::error_code ignored;
  if (std::string index = indexOf(path); !index.empty() && std::filesystem::exists(index, ignored))
    return MegatronIndex(index).open(path, scan);
  if (llmc)
    return openLlmc(std::move(file), begin, *llmc);
  file->reject("the file has no known header (llm.c, .npy) and no Megatron index beside it: set data.train.type to "
               "uint8, uint16, uint32 or int32");
}

std::vector<std::string> findTokenFiles(const std::vector<std::string> &patterns) {
  std::vector<std::string> files;
  for (const std::string &pattern : patterns) {
    glob_t found{};
    int result = glob(pattern.c_str(), GLOB_NOCHECK, nullptr, &found);
    bool isPattern = pattern.find_first_of("*?[") != std::string::npos;
    std::error_code ignored;
    bool isEmpty = result != 0 || (isPattern && found.gl_pathc == 1 && found.gl_pathv[0] == pattern &&
                                   !std::filesystem::exists(pattern, ignored));
    for (size_t i = 0; !isEmpty && i < found.gl_pathc; ++i) {
      std::string path = found.gl_pathv[i];
      if (path.ends_with(".idx"))
        path.replace(path.size() - 3, 3, "bin");
      if (std::find(files.begin(), files.end(), path) == files.end())
        files.push_back(path);
    }
    globfree(&found);
    if (isEmpty)
      throw Rejected(fmt::format("{}: error: no token file matches this pattern", pattern));
  }
  return files;
}

} // namespace xlc::runtime
