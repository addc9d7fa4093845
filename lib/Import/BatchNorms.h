// The effect of batch norms on the parameters of a model: their running averages are buffers, and a norm that the
// exporter folded into a convolution has lost its parameters.
#ifndef XLC_IMPORT_BATCHNORMS_H
#define XLC_IMPORT_BATCHNORMS_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace xlc::onnx {

/// State that is not a parameter: it is not trained, and each rank has its own.
enum class Buffer { None, Mean, Variance };

struct BatchNorms {
  /// The uses (node, input) of a running average, and its name in PyTorch.
  struct Use {
    Buffer buffer = Buffer::None;
    std::string name;
  };
  std::map<std::pair<unsigned, unsigned>, Use> uses;
  /// A running average that is updated: where it is read, and the name of the value that replaces it.
  struct Update {
    unsigned node, input;
    std::string value;
  };
  std::vector<Update> updates;
  /// Modules whose norm was folded into the layer before it.
  std::vector<std::string> folded;
  std::vector<std::string> foldedInTraining; ///< those of them that call for statistics of the batch in PyTorch
  unsigned numTraining = 0, numInference = 0;
};

/// Whether a BatchNormalization computes its statistics from the batch.
bool isTrainingForm(const Node &node, int64_t opset);

/// Finds batch norms. Their nodes get outputs for the new running averages if they had none, a second norm on the same
/// averages reads the results of the first one, and a layer into which a norm was folded gets its own scope back.
BatchNorms findBatchNorms(Model &model, FileDiagnostics &diagnostics);

/// Warns of batch norms whose training differs from that of one process with the whole batch.
void warnOfNorms(const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics);

/// Rejects folded norms that have lost trainable parameters of the signature (`trainable`: patterns), except those
/// already accounted for, and accounts for the others. Also rejects folded norms without parameters that are in
/// training mode.
void refuseFolded(const Model &model, const BatchNorms &norms, const std::vector<std::string> &trainable,
                  llvm::StringSet<> &accounted, FileDiagnostics &diagnostics);

/// Rejects buffers that PyTorch's forward pass changes and that the loss depends on, because a file has their old
/// values only. Excludes those of batch norms, which are read and updated.
void refuseChangedBuffers(const Model &model, const BatchNorms &norms, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
