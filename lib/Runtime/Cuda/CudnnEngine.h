// Descriptors of cuDNN, and the engine that executes a graph of its operations.
#ifndef XLC_LIB_RUNTIME_CUDA_CUDNNENGINE_H
#define XLC_LIB_RUNTIME_CUDA_CUDNNENGINE_H

#include "Cudnn.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace xlc::runtime::cudnn {

/// Creates descriptors and sets their attributes. If cuDNN rejects one, throws a DeviceFailure that names `what`.
class Descriptors {
public:
  Descriptors(const Library &library, std::string what) : library(library), what(std::move(what)) {}

  OwnedDescriptor make(Kind kind) const;
  template <class T> void set(Descriptor of, Attribute attribute, Type type, const T &value) const {
    setAll(of, attribute, type, std::span(&value, 1));
  }
  template <class Range> void setAll(Descriptor of, Attribute attribute, Type type, const Range &values) const {
    require(library.setAttribute(of, attribute, type, (int64_t)std::size(values), (const void *)std::data(values)),
            "cudnnBackendSetAttribute");
  }
  void finish(Descriptor made) const { require(library.finalize(made), "cudnnBackendFinalize"); }
  void require(Status status, const char *function) const { library.require(status, function, what); }

  const Library &library;
  const std::string what;
};

/// The permitted engines.
enum class Engines : uint8_t {
  Any,
  Repeatable, ///< products of unrounded operands, summed in float32 and in one order
  Exact,      ///< also no tensor cores for float32: each operation conforms to IEEE
};

class Engine {
public:
  Engine(const Descriptors &descriptors, const Device &device) : descriptors(descriptors), device(device) {}

  /// Chooses an engine for a finished graph, by the order of the heuristic among those with at most this workspace.
  /// Returns the reason if there is none.
  std::optional<std::string> choose(Descriptor graph, int64_t mostWorkspace, Engines engines);
  /// Whether the notes of the engine state that it uses tensor cores.
  bool usesTensorCores() const;
  /// The execution plan.
  Descriptor plan() const { return chosen.get(); }

private:
  std::vector<OwnedDescriptor> find(Descriptor graph, HeuristicsMode mode) const;
  std::vector<Note> notesOf(Descriptor configuration) const;
  bool isTaken(Descriptor configuration, Engines engines) const;
  bool tryToPlan(Descriptor configuration, int64_t mostWorkspace, std::string &why);

  const Descriptors &descriptors;
  const Device device;
  OwnedDescriptor configuration, chosen;
};

} // namespace xlc::runtime::cudnn

#endif
