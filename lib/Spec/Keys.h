// The keys of a spec: one table, one row per key.
//
// A row states the path of the key, its kind, its range, its default, its meaning, and its destination. Validation,
// "did you mean" and docs/Spec.md are all derived from this table, so they cannot disagree. In a path, `*` stands for a
// name that the user chooses, and `[]` for the entries of a list.
#ifndef XLC_LIB_SPEC_KEYS_H
#define XLC_LIB_SPEC_KEYS_H

#include <limits>

#include "xlc/Spec/Spec.h"
#include "llvm/ADT/ArrayRef.h"

namespace xlc::spec {

enum class Kind {
  Section,          ///< a mapping with rows of its own
  Sections,         ///< a list of such mappings
  Names,            ///< a mapping from names that the user chooses
  Integer,          ///< within Key::range
  IntegerOrChoice,  ///< an Integer, or one of Key::choices
  Number,           ///< within Key::range, finite
  NumberOrChoice,   ///< a Number, or one of Key::choices
  Numbers,          ///< a list of two numbers, each within Key::range
  Integers,         ///< a list of integers, each within Key::range
  Boolean,          ///< true or false
  BooleanOrAuto,    ///< true, false or auto
  Choice,           ///< one of Key::choices
  ChoiceOrTensors,  ///< one of Key::choices, or a path that ends in .safetensors, relative to the spec file
  ChoiceOrDevice,   ///< one of Key::choices, a path that ends in .yaml, relative to the spec file, or a mapping
  Text,             ///< not empty
  Patterns,         ///< a list of patterns over parameter names
  NameList,         ///< a list of names
  NameLists,        ///< a list of lists of names
  Bytes,            ///< a size with a unit, within Key::range
  BytesUnitsOrAuto, ///< a size with a unit, a count without, or auto
  Folder,           ///< a path, relative to the spec file
  Directory,        ///< the same, and no mapping
  StepsOrTime,      ///< a count of steps within Key::range, or a time with its unit: 10min
  NpyFile,          ///< a path that ends in .npy, relative to the spec file
  Files,            ///< a path or a pattern, or a list of them, relative to the spec file
  Unsupported,      ///< known by name, refused
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool excludesLow = false, excludesHigh = false;

  bool contains(double value) const {
    return (excludesLow ? value > low : value >= low) && (excludesHigh ? value < high : value <= high);
  }
};

/// The ranges that rows of several tables share.
inline constexpr Range any = {};
inline constexpr Range positive = {.low = 0, .excludesLow = true};
inline constexpr Range notNegative = {.low = 0};
inline constexpr Range fraction = {.low = 0, .high = 1, .excludesHigh = true};

/// The argument of a row's setter: the fields that its kind fills, the others empty.
struct Value {
  enum class Form { Plain, Auto, Bytes, File, Time } form = Form::Plain; ///< which of the alternatives was written
  int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> textLists;
  std::vector<double> numbers;
  std::string name; ///< what stands for the `*`
  SpecLocation location;
};

struct Key {
  llvm::StringLiteral path;
  Kind kind;
  Range range;
  std::string choices;     ///< Choice: "a|b|c"
  std::string defaultText; ///< for the documentation
  std::string doc;         ///< one sentence
  void (*set)(Spec &spec, const Value &value);
  bool isOfStream = false; ///< means something in a mapping that is a token stream; in others it is a name
};

/// A time that is missing from the description of a device.
inline constexpr double kNotGiven = -1;

/// A device without any properties yet.
Device describedDevice();

/// The rows of OptimizerKeys.cpp.
llvm::ArrayRef<Key> optimizerKeys();
/// The rows below `data` (DataKeys.cpp), `eval` (EvalKeys.cpp) and `checkpoint` (CheckpointKeys.cpp).
llvm::ArrayRef<Key> dataKeys();
llvm::ArrayRef<Key> evalKeys();
llvm::ArrayRef<Key> checkpointKeys();

/// All rows, in the order of the documentation.
llvm::ArrayRef<Key> keyTable();

/// The row with exactly this path, or null.
const Key *findKey(llvm::StringRef path);

/// Whether there are rows below this one.
bool hasKeys(const Key &key);

/// The values that the key accepts, in words: "an integer between 1 and 65536".
std::string describe(const Key &key);

} // namespace xlc::spec

#endif
