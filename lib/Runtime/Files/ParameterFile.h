// The file with the initial parameters of a run, and the checks that it is the correct file, undamaged:
//
//     beside the program     the values with which the program was compiled: its digest is in the plan
//     --init                 all parameters in their shapes, as floats of any type; any checksums are verified
//
// Elements are read once if possible: a parameter that is read as a whole is verified on the way. Only a parameter that
// is read in pieces (by ranks that hold shards) is read beforehand for its checksum.
#ifndef XLC_LIB_RUNTIME_FILES_PARAMETERFILE_H
#define XLC_LIB_RUNTIME_FILES_PARAMETERFILE_H

#include "Device/DataSource.h"
#include "Plan/Plan.h"
#include "Safetensors.h"

#include <atomic>

namespace xlc::runtime {

/// The form of a parameter in a file.
TensorForm formOf(const Plan &plan, const plan::ParameterT &parameter);

/// A source of initial parameter values.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// A note for the user about unused contents of the source; empty if there are none.
  virtual std::string describeUnused() const { return ""; }
  /// Passes elements [begin, begin + count) of parameter `index` of the plan to `take`, in blocks, in the type in which
  /// the plan stores them. Throws Rejected if they are damaged. Any thread may call it.
  virtual void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const = 0;
};

/// The reason why a tensor of a file does not match parameter `index` of the plan, or nothing. `converts`: any
/// floating-point types match.
std::string findFormProblem(const Plan &plan, size_t index, const std::string &dtype,
                            const std::vector<uint64_t> &shape, bool converts);

/// A note about the tensors of `path` that are not parameters of the plan, with the names of the first three; empty if
/// there are none.
std::string describeUnusedTensors(const Plan &plan, const std::string &path, const std::vector<std::string> &all);

class ParameterFile final : public ParameterSource {
public:
  enum class Kind { Beside, OfUser };

  /// Opens `path`. Throws Rejected with all errors.
  ParameterFile(const Plan &plan, const std::string &path, Kind kind);

  /// A note about tensors of the file that are not parameters of the program.
  std::string describeUnused() const override;
  void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const override;

private:
  void checkForms() const;
  void checkOrigin() const;
  plan::Element elementOf(size_t index) const;
  void verifyPieces();
  void readVerified(size_t index, const Take &take) const;

  const Plan &plan;
  const Kind kind;
  SafetensorsReader reader;
  std::optional<Seal> seal;
  std::vector<const StoredTensor *> stored;            ///< indexed as plan.parameters; null if it is not read
  mutable std::vector<std::atomic<bool>> isUnverified; ///< indexed as plan.parameters
};

} // namespace xlc::runtime

#endif
