// See Descriptors.h.
#include "Descriptors.h"

#include "Device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

namespace xlc::simulate {

using runtime::cublaslt::Status;

namespace {

constexpr uint64_t minusOne = 0xffffffff; // of four bytes

struct Object {
  Kind kind;
  Attributes values;
};
struct Living {
  std::mutex mutex;
  std::map<void *, std::unique_ptr<Object>> objects;
};
Living &living() {
  static Living all;
  return all;
}

} // namespace

const std::vector<Attribute> &attributesOf(Kind kind) {
  static const std::array<std::vector<Attribute>, 4> attributes = {{
      {},
      {{0, 4, 0},         {1, 4, 0},  {2, 4, 0},  {3, 4, 0},  {4, 4, 0},         {5, 4, 0},  {6, 4, 2},
       {7, 4, 1},         {8, 8, 0},  {10, 8, 0}, {11, 8, 0}, {12, 8, 0},        {13, 8, 0}, {14, 8, 0},
       {15, 4, 0},        {16, 4, 0}, {17, 8, 0}, {18, 8, 0}, {19, 8, 0},        {20, 8, 0}, {21, 8, 0},
       {22, 4, minusOne}, {23, 8, 0}, {24, 8, 0}, {25, 1, 0}, {26, 4, minusOne}, {31, 4, 0}, {32, 4, 0},
       {33, 4, 0},        {34, 4, 0}, {35, 4, 0}, {36, 8, 0}, {37, 4, 0}},
      {{0, 4, 0}, {1, 4, 0}, {2, 8, 0}, {3, 8, 0}, {4, 8, 0}, {5, 4, 1}, {6, 8, 0}, {7, 8, 0}, {8, 4, 0}},
      {{0, 4, 0},
       {1, 8, 0},
       {3, 4, 7},
       {5, 4, 256},
       {6, 4, 256},
       {7, 4, 256},
       {8, 4, 256},
       {9, 4, 0},
       {12, 8, ~uint64_t(0)}},
  }};
  return attributes[(size_t)kind];
}

Status make(Kind kind, void **to) {
  if (!to)
    return Status::InvalidValue;
  auto made = std::make_unique<Object>(Object{kind, {}});
  for (const Attribute &attribute : attributesOf(kind))
    made->values[attribute.number] = attribute.initial;
  *to = made.get();
  std::lock_guard lock(living().mutex);
  living().objects[*to] = std::move(made);
  return Status::Success;
}

Attributes &get(Kind kind, void *address, const char *function) {
  std::lock_guard lock(living().mutex);
  auto found = living().objects.find(address);
  if (found == living().objects.end() || found->second->kind != kind)
    endWith(std::string(function) + " received an invalid handle or descriptor");
  return found->second->values;
}

Status set(Kind kind, void *address, int number, const void *value, size_t bytes, const char *function) {
  if (!address || !value)
    return Status::InvalidValue;
  const std::vector<Attribute> &known = attributesOf(kind);
  auto found = std::find_if(known.begin(), known.end(), [&](const Attribute &each) { return each.number == number; });
  if (found == known.end() || found->bytes != bytes)
    return Status::InvalidValue;
  uint64_t bits = 0;
  std::memcpy(&bits, value, bytes);
  get(kind, address, function)[number] = bits;
  return Status::Success;
}

Status destroy(Kind kind, void *address, const char *function) {
  if (!address)
    return Status::Success;
  get(kind, address, function);
  std::lock_guard lock(living().mutex);
  living().objects.erase(address);
  return Status::Success;
}

size_t countObjects() {
  std::lock_guard lock(living().mutex);
  return living().objects.size();
}

} // namespace xlc::simulate
