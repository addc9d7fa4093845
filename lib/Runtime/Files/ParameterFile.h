// The file that a run begins from, and what makes sure that it is the right one, whole:
//
//     beside the program     has the values that the program was compiled with: its digest is in the plan
//     --init                 has all parameters in their shapes, as floats of any type; if it has checksums, these are right
//
// Elements are read once where that is possible: who reads a parameter whole checks it on the way, and only what is
// read in pieces (by ranks that hold shards) is read before for its checksum alone.
#ifndef XLC_LIB_RUNTIME_FILES_PARAMETERFILE_H
#define XLC_LIB_RUNTIME_FILES_PARAMETERFILE_H

#include "Device/DataSource.h"
#include "Plan/Plan.h"
#include "Safetensors.h"

#include <atomic>

namespace xlc::runtime {

/// A parameter as a file has it.
TensorForm formOf(const Plan &plan, const plan::ParameterT &parameter);

/// What has values of parameters that a run begins from.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// What the user should be told: what it has besides, that is of no use. Empty where there is nothing.
  virtual std::string describeUnused() const { return ""; }
  /// Gives elements [begin, begin + count) of parameter `index` of the plan, in blocks, in the type that the plan
  /// stores them in. Throws Rejected where they are damaged. Any thread may call it.
  virtual void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const = 0;
};

/// Why a tensor of a file cannot be parameter `index` of the plan, or nothing. `converts`: any floats do for floats.
std::string findFormProblem(const Plan &plan, size_t index, const std::string &dtype,
                            const std::vector<uint64_t> &shape, bool converts);

/// A note about the tensors of `path` without a parameter in the plan; it names the first three. Empty: there are none.
std::string describeUnusedTensors(const Plan &plan, const std::string &path, const std::vector<std::string> &all);

class ParameterFile final : public ParameterSource {
public:
  enum class Kind { Beside, OfUser };

  /// Opens `path`; throws Rejected with all that is wrong.
  ParameterFile(const Plan &plan, const std::string &path, Kind kind);

  /// Tensors of the file that are no parameters of the program.
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
  std::vector<const StoredTensor *> stored;            ///< as plan.parameters; null where it is not read
  mutable std::vector<std::atomic<bool>> isUnverified; ///< as plan.parameters
};

} // namespace xlc::runtime

#endif
