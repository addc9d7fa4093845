// What batch norms mean for the parameters of a model: their running averages are buffers, and a norm that the exporter
// folded into a convolution has lost its parameters.
#ifndef XLC_IMPORT_BATCHNORMS_H
#define XLC_IMPORT_BATCHNORMS_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace xlc::onnx {

/// State that is no parameter: not trained, each rank has its own.
enum class Buffer { None, Mean, Variance };

struct BatchNorms {
  /// Uses (node, input) of a running average, and PyTorch's name for it.
  struct Use {
    Buffer buffer = Buffer::None;
    std::string name;
  };
  std::map<std::pair<unsigned, unsigned>, Use> uses;
  /// A running average that is updated: where it is read, and the name of the value that takes its place.
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

/// Looks for batch norms. Their nodes get outputs for the new running averages where they had none, a second norm on
/// the same averages reads what the first one made of them, and a layer into which a norm was folded gets its own scope
/// back.
BatchNorms findBatchNorms(Model &model, FileDiagnostics &diagnostics);

/// Warns of batch norms that do not do what one process with the whole batch would do in training.
void warnOfNorms(const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics);

/// Refuses folded norms that have lost parameters of the signature that are to be trained (`trainable`: patterns),
/// beyond those that are accounted for; now they are. And those without parameters that are in training mode.
void refuseFolded(const Model &model, const BatchNorms &norms, const std::vector<std::string> &trainable,
                  llvm::StringSet<> &accounted, FileDiagnostics &diagnostics);

/// Refuses buffers that PyTorch's forward pass changes and that the loss depends on: a file has them as they were. Not
/// those of batch norms, which are read and updated.
void refuseChangedBuffers(const Model &model, const BatchNorms &norms, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
