// A spec file as a tree in which every node stores its place.
//
// yaml-cpp 0.7 takes the last of two equal keys, follows aliases (of which a few lines can produce gigabytes), skips
// NUL bytes and reports only "bad file" if nesting is deep. So this reader checks the bytes first and then builds its
// own small tree from yaml-cpp's events, rejecting each of these with a place and a sentence. The result has distinct
// keys, no aliases, no tags and at most `maxDepth` levels.
#ifndef XLC_LIB_SPEC_YAML_H
#define XLC_LIB_SPEC_YAML_H

#include "SpecErrors.h"

namespace xlc::spec {

struct YamlNode {
  enum class Kind { Empty, Scalar, Sequence, Mapping } kind = Kind::Empty;
  SpecLocation location;
  std::string text;               ///< Scalar
  bool isQuoted = false;          ///< Scalar: "8" is text, 8 is a number
  std::vector<YamlNode> children; ///< Sequence, Mapping: in the order of the file
  std::string key;                ///< of a child of a Mapping
  SpecLocation keyLocation;
};

struct YamlFile {
  YamlNode root;
  bool isWhole = false; ///< false: the file was left in the middle, so a key that is missing proves nothing
};

/// Reads the one document in `text`. Reports all errors of its YAML; the valid part is returned all the same, so that
/// its values can be checked in the same run.
YamlFile readYaml(llvm::StringRef text, SpecErrors &errors);

} // namespace xlc::spec

#endif
