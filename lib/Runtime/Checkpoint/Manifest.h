// What a checkpoint says of itself, in its file checkpoint.json: how far the run was, what it was run with, which files
// there are and which part of which tensor lies where. It is written last: a folder without it does not count.
// docs/Checkpoints.md has the format.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H
#define XLC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H

#include "Device/LossScale.h"
#include "Files/Seal.h"

#include <memory>

namespace xlc::runtime {

inline constexpr char manifestName[] = "checkpoint.json";

/// The kinds of tensors of the model. The kind of an optimizer state is its name, "m".
inline constexpr std::string_view kParameterKind = "parameter", kBufferKind = "buffer";

/// The schedule of what other programs have saved: it is not known.
inline constexpr std::string_view kImportedSchedule = "imported";

/// How far a run was.
struct RunProgress {
  uint64_t step = 0, applied = 0, samples = 0; ///< done until then
  bool operator==(const RunProgress &) const = default;
};

struct SavedFile {
  std::string name; ///< in the folder
  uint64_t bytes = 0;
  std::string header; ///< digits of the checksum of all before the data
};

/// A part of a tensor, and the file of the manifest's list that has it.
struct SavedPiece {
  uint64_t file = 0;
  PieceRange range;
};

struct SavedTensor {
  std::string name, kind, dtype;
  std::vector<uint64_t> shape;
  TensorCut cut;
  std::vector<SavedPiece> pieces; ///< in the order of index and begin

  /// Else it is a state of the optimizer.
  bool isOfModel() const { return kind == kParameterKind || kind == kBufferKind; }
  /// As the files of the checkpoint name it: a parameter or a buffer by its name, a state as "m/NAME".
  std::string key() const { return isOfModel() ? name : kind + "/" + name; }
};

/// What the rows of a run come from; what a resumed run has to have again.
struct SavedData {
  struct File {
    std::string name; ///< without its folders
    uint64_t bytes = 0;
    std::string ends; ///< digits of a checksum of its first and last MiB
    bool operator==(const File &) const = default;
  };
  uint64_t rows = 0;
  std::vector<File> files;
  bool shuffle = false, drop = false;
  uint64_t seed = 0; ///< of the order
  bool operator==(const SavedData &) const = default;
};

/// What a run knows of its evaluations.
struct EvaluationState {
  double best = 0;        ///< infinite: none was a number
  uint64_t bestStep = 0;  ///< the step of that
  uint64_t notBetter = 0; ///< evaluations in a row
  uint64_t lastStep = 0;  ///< behind which the last one was
  bool operator==(const EvaluationState &) const = default;
};

struct Manifest {
  std::string model; ///< digits of a checksum of names, kinds and shapes
  RunProgress progress;
  uint64_t seed = 0; ///< of all that is drawn
  std::optional<LossScaleState> lossScale;
  std::string optimizer;                     ///< its type; empty: not known
  std::vector<std::string> states;           ///< of the optimizer, by name
  std::string schedule;                      ///< of learning rates, in words, or kImportedSchedule
  std::optional<SavedData> data;             ///< none: not known
  std::optional<EvaluationState> evaluation; ///< none: there was none
  struct MadeBy {
    std::string xlc, layout, precision, target;
  } madeBy;
  std::vector<SavedFile> files;
  std::vector<SavedTensor> tensors;
};

/// The bytes of the file.
std::string writeManifest(const Manifest &manifest);

/// What a file of these bytes says. `complaint`: why it is none, or what in it cannot be: a tensor whose pieces do not
/// tile it, a file of a name that no checkpoint has. Memory is at most eight times that of the text.
Manifest readManifest(std::string text, std::string &complaint);

/// Of names, kinds and shapes: which model and optimizer a checkpoint is of, whatever its layout and precision.
std::string fingerprintOf(const std::vector<SavedTensor> &tensors);

/// How many elements a piece of a tensor has, padding included, and the geometry; none where the shape cannot be cut
/// so.
struct CutGeometry {
  uint64_t run = 0, block = 0, rest = 1, rows = 1; ///< as in PieceShape
  uint64_t pieceElements() const { return rows * block * rest; }
};
std::optional<CutGeometry> geometryOf(const std::vector<uint64_t> &shape, const TensorCut &cut);

} // namespace xlc::runtime

#endif
