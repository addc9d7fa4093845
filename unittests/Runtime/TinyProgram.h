// A whole training program of one parameter, made by hand: what a compiled one embeds, with C functions in place of
// generated kernels. It learns w (70 elements) by SGD on the mean of |w - x|^2 / 2 over the rows of a global batch.
#ifndef XLC_UNITTESTS_RUNTIME_TINYPROGRAM_H
#define XLC_UNITTESTS_RUNTIME_TINYPROGRAM_H

#include "Job/Job.h"
#include "Plan/Plan.h"

#include <string>
#include <vector>

namespace xlc::runtime::tiny {

constexpr uint64_t elements = 70, padded = 128, micro = 2, microBatches = 2, ranks = 2, rows = 20;

/// The number of a kernel that is no part of the plan: "squares", with a write far outside its operands.
constexpr int strayCode = 5;

/// The plan under ZeRO stage 0 (everything whole) or 3 (parameter and gradient in two shards).
Plan makePlan(int stage);

/// Stage 0 in two pipeline stages: the first loads x and sends it, the second does the rest.
Plan makeStages();

/// Lets a call have so many bytes of its first result.
void setResultBytes(Plan &plan, plan::CallT &call, uint64_t bytes);

/// What a program needs on disk, in a folder of its own that vanishes with it.
class Folder {
public:
  Folder();
  ~Folder();
  std::string file(const std::string &name) const { return path + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const;
  std::string read(const std::string &name) const;

private:
  std::string path;
};

/// The bytes of these values.
template <class T> std::string bytesOf(const std::vector<T> &values) {
  return {(const char *)values.data(), values.size() * sizeof(T)};
}

/// Bytes of an .npy file.
std::string makeNpy(const std::string &descr, const std::string &shape, const std::string &elements);

/// Writes x.npy and ids.npy for the plan's inputs.
void writeData(const Folder &folder);

/// Runs the plan with these arguments (data of `folder` unless they say otherwise).
Exit run(const Plan &plan, const Folder &folder, std::vector<std::string> arguments,
         const Target &target = linkedTarget());

/// The same, with Ctrl-C pressed during the first step.
Exit runInterrupted(const Plan &plan, const Folder &folder, std::vector<std::string> arguments);

} // namespace xlc::runtime::tiny

#endif
