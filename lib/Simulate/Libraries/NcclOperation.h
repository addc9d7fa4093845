// One call of the simulated NCCL: the data that it sends to a rank and takes from it, and its sums.
#ifndef XLC_LIB_SIMULATE_LIBRARIES_NCCLOPERATION_H
#define XLC_LIB_SIMULATE_LIBRARIES_NCCLOPERATION_H

#include "Device.h"

#include "Cuda/Nccl.h"
#include "xlc/Runtime/Narrow.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace xlc::simulate {

using runtime::Bf16;
using runtime::Half;
using runtime::nccl::DataType;
using runtime::nccl::Reduction;

enum class Kind { AllReduce, AllGather, ReduceScatter, Send, Receive };
inline constexpr const char *names[] = {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclSend", "ncclRecv"};

inline uint64_t bytesOf(DataType type) {
  switch (type) {
  case DataType::I8:
    return 1;
  case DataType::F16:
  case DataType::BF16:
    return 2;
  case DataType::I32:
  case DataType::F32:
    return 4;
  case DataType::I64:
  case DataType::F64:
    return 8;
  }
  endWith("NCCL has no type " + std::to_string((int)type));
}

struct Operation {
  Kind kind;
  const char *from;
  char *to;
  uint64_t count;
  DataType type;
  Reduction reduction = Reduction::Sum;
  int peer = -1;
  bool isRegistered = false; ///< all of its memory

  uint64_t bytes() const { return count * bytesOf(type); }
  /// What it gives to a peer, or takes from it.
  bool gives(int rank) const { return kind == Kind::Send ? peer == rank : kind != Kind::Receive; }
  bool takes(int rank) const { return kind == Kind::Receive ? peer == rank : kind != Kind::Send; }
  uint64_t given(int ranks) const { return kind == Kind::ReduceScatter ? bytes() * (uint64_t)ranks : bytes(); }
  uint64_t written(int ranks) const { return kind == Kind::AllGather ? bytes() * (uint64_t)ranks : bytes(); }
  /// A description that is equal on both sides.
  std::string describe() const {
    Kind shown = kind == Kind::Receive ? Kind::Send : kind;
    return std::string(names[(int)shown]) + " of " + std::to_string(count) + " elements of type " +
           std::to_string((int)type) + (reduction == Reduction::Max ? ", maximum" : "") +
           (isRegistered ? ", registered" : "");
  }
};

template <class T> T reduce(Reduction how, T a, T b) { return how == Reduction::Max ? std::max(a, b) : T(a + b); }

template <class T, class Wide = T> void reduceInto(char *to, const char *from, uint64_t count, Reduction how) {
  for (uint64_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, to + i * sizeof(T), sizeof(T)), std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    T both(reduce<Wide>(how, (Wide)a, (Wide)b));
    std::memcpy(to + i * sizeof(T), &both, sizeof(T));
  }
}

inline void reduceInto(const Operation &operation, char *to, const char *from) {
  switch (operation.type) {
  case DataType::F32:
    return reduceInto<float>(to, from, operation.count, operation.reduction);
  case DataType::F64:
    return reduceInto<double>(to, from, operation.count, operation.reduction);
  case DataType::BF16:
    return reduceInto<Bf16, float>(to, from, operation.count, operation.reduction);
  case DataType::F16:
    return reduceInto<Half, float>(to, from, operation.count, operation.reduction);
  case DataType::I32:
    return reduceInto<int32_t>(to, from, operation.count, operation.reduction);
  case DataType::I64:
    return reduceInto<int64_t>(to, from, operation.count, operation.reduction);
  case DataType::I8:
    return reduceInto<int8_t>(to, from, operation.count, operation.reduction);
  }
}

} // namespace xlc::simulate

#endif
