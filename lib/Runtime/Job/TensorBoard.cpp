// See TensorBoard.h.
#include "TensorBoard.h"

#include "Failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nmmintrin.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

/// Wire types of protobuf.
enum class WireType : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

void putVarint(std::string &to, uint64_t value) {
  for (; value >= 128; value >>= 7)
    to += (char)(value | 128);
  to += (char)value;
}

void putTag(std::string &to, unsigned field, WireType wire) { putVarint(to, field << 3 | (unsigned)wire); }

template <class T> void putFixed(std::string &to, T value) { to.append((const char *)&value, sizeof value); }

void putBytes(std::string &to, unsigned field, std::string_view bytes) {
  putTag(to, field, WireType::Bytes);
  putVarint(to, bytes.size());
  to += bytes;
}

void putStep(std::string &to, uint64_t step) {
  putTag(to, 2, WireType::Varint);
  putVarint(to, step);
}

uint32_t mask(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "host";
}

std::string nameFile(const std::string &folder) {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  return fmt::format("{}/events.out.tfevents.{:010}.{}.{}.0", folder, seconds.count(), hostName(), getpid());
}

FILE *openNew(const std::string &folder, const std::string &path) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    throw Rejected(fmt::format("{}: error: cannot create the folder: {}", folder, std::strerror(errno)));
  FILE *file = std::fopen(path.c_str(), "wxe");
  if (!file)
    throw Rejected(fmt::format("{}: error: cannot be written: {}", path, std::strerror(errno)));
  return file;
}

/// The tag of a number of a record; empty: charts have none of it.
std::string tagOf(const LogRecord &record, const LogRecord::Field &field) {
  if (!field.isNumber)
    return "";
  if (record.isEvaluation)
    return "eval/" + field.name;
  return "train/" + (field.name == "lr" ? "learning_rate" : field.name);
}

} // namespace

__attribute__((target("sse4.2"))) uint32_t crc32c(std::string_view bytes) {
  uint64_t crc = 0xffffffffu;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    crc = _mm_crc32_u64(crc, word);
  }
  for (; at < bytes.size(); ++at)
    crc = _mm_crc32_u8((uint32_t)crc, (unsigned char)bytes[at]);
  return ~(uint32_t)crc;
}

TensorBoard::TensorBoard(const std::string &folder)
    : path(nameFile(folder)), file(openNew(folder, path)), lines(path, file.get()) {
  std::string version;
  putBytes(version, 3, "brain.Event:2");
  writeEvent(version);
}

void TensorBoard::begin(uint64_t done) {
  if (done == 0)
    return;
  std::string start, log;
  putTag(log, 1, WireType::Varint);
  putVarint(log, 1); // START
  putStep(start, done + 1);
  putBytes(start, 7, log);
  writeEvent(start);
}

void TensorBoard::write(const LogRecord &record) {
  std::string summary, event;
  for (const LogRecord::Field &field : record.fields)
    if (std::string tag = tagOf(record, field); !tag.empty()) {
      std::string value;
      putBytes(value, 1, tag);
      putTag(value, 2, WireType::Fixed32);
      putFixed(value, field.text == "null" ? NAN : std::strtof(field.text.c_str(), nullptr));
      putBytes(summary, 1, value);
    }
  putStep(event, record.step);
  putBytes(event, 5, summary);
  writeEvent(event);
}

void TensorBoard::writeEvent(const std::string &fields) {
  std::string event, record;
  putTag(event, 1, WireType::Fixed64);
  putFixed(event, std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  event += fields;
  putFixed(record, (uint64_t)event.size());
  putFixed(record, mask(crc32c(record)));
  record += event;
  putFixed(record, mask(crc32c(event)));
  lines.write(record);
}

} // namespace xlc::runtime
