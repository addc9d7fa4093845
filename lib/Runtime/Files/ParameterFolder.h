// Parameters that a run begins from, in a folder of several files (TensorFiles.h): a model of Hugging Face, or what
// torch.distributed.checkpoint has written.
#ifndef XLC_LIB_RUNTIME_FILES_PARAMETERFOLDER_H
#define XLC_LIB_RUNTIME_FILES_PARAMETERFOLDER_H

#include "ParameterFile.h"
#include "TensorFiles.h"

namespace xlc::runtime {

class ParameterFolder final : public ParameterSource {
public:
  /// Opens `path`; throws Rejected with all that is wrong. Any floats are taken for floats.
  ParameterFolder(const Plan &plan, const std::string &path);

  std::string describeUnused() const override;
  void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const override;

private:
  const Plan &plan;
  const TensorFiles files;
  std::vector<std::string> names; ///< as plan.parameters
};

} // namespace xlc::runtime

#endif
