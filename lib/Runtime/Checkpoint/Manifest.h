// The manifest of a checkpoint, in its file checkpoint.json: the progress of the run, the model and settings of the
// run, the list of files, and the place of each part of each tensor. It is written last: a folder without a manifest is
// not a checkpoint. docs/Checkpoints.md describes the format.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H
#define XLC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H

#include "Device/LossScale.h"
#include "Files/Seal.h"

#include <memory>

namespace xlc::runtime {

inline constexpr char manifestName[] = "checkpoint.json";

/// The kinds of tensors of the model. The kind of an optimizer state is its name, for example "m".
inline constexpr std::string_view kParameterKind = "parameter", kBufferKind = "buffer";

/// The schedule of a checkpoint imported from another program: unknown.
inline constexpr std::string_view kImportedSchedule = "imported";

/// The progress of a run.
struct RunProgress {
  uint64_t step = 0, applied = 0, samples = 0; ///< completed so far
  bool operator==(const RunProgress &) const = default;
};

struct SavedFile {
  std::string name; ///< relative to the folder
  uint64_t bytes = 0;
  std::string header; ///< digits of the checksum of all bytes before the data
};

/// A part of a tensor, and the index of its file in the manifest's list.
struct SavedPiece {
  uint64_t file = 0;
  PieceRange range;
};

struct SavedTensor {
  std::string name, kind, dtype;
  std::vector<uint64_t> shape;
  TensorCut cut;
  std::vector<SavedPiece> pieces; ///< in the order of index and begin

  /// Otherwise it is a state of the optimizer.
  bool isOfModel() const { return kind == kParameterKind || kind == kBufferKind; }
  /// The name in the files of the checkpoint: the plain name for a parameter or a buffer, "m/NAME" for a state.
  std::string key() const { return isOfModel() ? name : kind + "/" + name; }
};

/// The source of the rows of a run; a resumed run must have the same.
struct SavedData {
  struct File {
    std::string name; ///< without folders
    uint64_t bytes = 0;
    std::string ends; ///< digits of a checksum of its first and last MiB
    bool operator==(const File &) const = default;
  };
  uint64_t rows = 0;
  std::vector<File> files;
  bool shuffle = false, drop = false;
  uint64_t seed = 0; ///< of the order of rows
  bool operator==(const SavedData &) const = default;
};

/// The state of the evaluations of a run.
struct EvaluationState {
  double best = 0;        ///< infinite if no evaluation gave a number
  uint64_t bestStep = 0;  ///< the step of the best evaluation
  uint64_t notBetter = 0; ///< consecutive evaluations without an improvement
  uint64_t lastStep = 0;  ///< the step after which the last evaluation ran
  bool operator==(const EvaluationState &) const = default;
};

struct Manifest {
  std::string model; ///< digits of a checksum of names, kinds and shapes
  RunProgress progress;
  uint64_t seed = 0; ///< of all random draws
  std::optional<LossScaleState> lossScale;
  std::string optimizer;                     ///< its type; empty: unknown
  std::vector<std::string> states;           ///< of the optimizer, by name
  std::string schedule;                      ///< of learning rates, as text, or kImportedSchedule
  std::optional<SavedData> data;             ///< none: unknown
  std::optional<EvaluationState> evaluation; ///< none: the run did not evaluate
  struct MadeBy {
    std::string xlc, layout, precision, target;
  } madeBy;
  std::vector<SavedFile> files;
  std::vector<SavedTensor> tensors;
};

/// The contents of the file.
std::string writeManifest(const Manifest &manifest);

/// Parses the contents of a manifest. `complaint` receives the reason why they are not a manifest, or the first invalid
/// entry: a tensor that its pieces do not tile, or a file name that no checkpoint uses. Memory is at most eight times
/// that of the text.
Manifest readManifest(std::string text, std::string &complaint);

/// A fingerprint of names, kinds and shapes. It identifies the model and optimizer of a checkpoint, whatever its layout
/// and precision.
std::string fingerprintOf(const std::vector<SavedTensor> &tensors);

/// The number of elements of a piece of a tensor, padding included, and its geometry; none if the shape cannot be cut
/// in this way.
struct CutGeometry {
  uint64_t run = 0, block = 0, rest = 1, rows = 1; ///< as in PieceShape
  uint64_t pieceElements() const { return rows * block * rest; }
};
std::optional<CutGeometry> geometryOf(const std::vector<uint64_t> &shape, const TensorCut &cut);

} // namespace xlc::runtime

#endif
