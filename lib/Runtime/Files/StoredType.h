// Types of elements in data files, one row each. Elements are converted by value to the type of their input.
#ifndef XLC_LIB_RUNTIME_FILES_STOREDTYPE_H
#define XLC_LIB_RUNTIME_FILES_STOREDTYPE_H

#include <cstdint>
#include <string_view>

namespace xlc::runtime {

enum class StoredType { F32, F64, F16, I8, I16, I32, I64, U8, U16, U32, Bool };

struct StoredTypeRow {
  StoredType type;
  std::string_view numpy; ///< as spelled in the header of an .npy file
  uint32_t bytes;
  bool isInteger; ///< and not a boolean
};

/// Rows in the order of the enumeration.
inline constexpr StoredTypeRow kStoredTypes[] = {
    {StoredType::F32, "<f4", 4, false}, {StoredType::F64, "<f8", 8, false}, {StoredType::F16, "<f2", 2, false},
    {StoredType::I8, "|i1", 1, true},   {StoredType::I16, "<i2", 2, true},  {StoredType::I32, "<i4", 4, true},
    {StoredType::I64, "<i8", 8, true},  {StoredType::U8, "|u1", 1, true},   {StoredType::U16, "<u2", 2, true},
    {StoredType::U32, "<u4", 4, true},  {StoredType::Bool, "|b1", 1, false}};

constexpr const StoredTypeRow &rowOf(StoredType type) { return kStoredTypes[(unsigned)type]; }
constexpr uint64_t bytesOf(StoredType type) { return rowOf(type).bytes; }
constexpr bool isInteger(StoredType type) { return rowOf(type).isInteger; }
constexpr bool isFloat(StoredType type) { return !isInteger(type) && type != StoredType::Bool; }

} // namespace xlc::runtime

#endif
