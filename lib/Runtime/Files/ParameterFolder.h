// Initial parameters of a run in a folder of several files (TensorFiles.h): a model of Hugging Face, or the output of
// torch.distributed.checkpoint.
#ifndef XLC_LIB_RUNTIME_FILES_PARAMETERFOLDER_H
#define XLC_LIB_RUNTIME_FILES_PARAMETERFOLDER_H

#include "ParameterFile.h"
#include "TensorFiles.h"

namespace xlc::runtime {

class ParameterFolder final : public ParameterSource {
public:
  /// Opens `path`. Throws Rejected with all errors. All floating-point types are converted.
  ParameterFolder(const Plan &plan, const std::string &path);

  std::string describeUnused() const override;
  void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const override;

private:
  const Plan &plan;
  const TensorFiles files;
  std::vector<std::string> names; ///< indexed as plan.parameters
};

} // namespace xlc::runtime

#endif
