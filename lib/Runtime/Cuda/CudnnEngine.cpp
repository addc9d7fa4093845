// See CudnnEngine.h.
#include "CudnnEngine.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime::cudnn {

constexpr int64_t mostEngines = 16; // of a heuristic
constexpr int64_t mostNotes = 16;   // of an engine

OwnedDescriptor Descriptors::make(Kind kind) const {
  Descriptor made = nullptr;
  require(library.createDescriptor(kind, &made), "cudnnBackendCreateDescriptor");
  return OwnedDescriptor(made, {&library});
}

std::optional<std::string> Engine::choose(Descriptor graph, int64_t mostWorkspace, Engines engines) {
  std::string why = "its heuristics found no suitable engine";
  for (HeuristicsMode mode : {HeuristicsMode::Best, HeuristicsMode::Fallback})
    for (OwnedDescriptor &engine : find(graph, mode))
      if (isTaken(engine.get(), engines) && tryToPlan(engine.get(), mostWorkspace, why)) {
        configuration = std::move(engine);
        return std::nullopt;
      }
  return fmt::format("cuDNN {} has no usable kernel for {}: {}", descriptors.library.version(), descriptors.what, why);
}

std::vector<OwnedDescriptor> Engine::find(Descriptor graph, HeuristicsMode mode) const {
  OwnedDescriptor heuristics = descriptors.make(Kind::Heuristics);
  descriptors.set(heuristics.get(), Attribute::HeuristicsGraph, Type::Descriptor, graph);
  descriptors.set(heuristics.get(), Attribute::HeuristicsMode, Type::HeuristicsMode, mode);
  if (device.properties)
    descriptors.set(heuristics.get(), Attribute::HeuristicsDevice, Type::Descriptor, device.properties);
  if (descriptors.library.finalize(heuristics.get()) != Status::Success)
    return {};
  std::vector<OwnedDescriptor> found;
  std::vector<Descriptor> places;
  places.reserve(mostEngines);
  for (int64_t i = 0; i < mostEngines; ++i)
    places.push_back(found.emplace_back(descriptors.make(Kind::EngineConfiguration)).get());
  int64_t count = 0;
  Status status = descriptors.library.getAttribute(heuristics.get(), Attribute::HeuristicsResults, Type::Descriptor,
                                                   mostEngines, &count, (void *)places.data());
  found.resize(status == Status::Success ? (size_t)count : 0);
  return found;
}

std::vector<Note> Engine::notesOf(Descriptor configuration) const {
  OwnedDescriptor engine = descriptors.make(Kind::Engine);
  Descriptor place = engine.get();
  int64_t count = 0;
  descriptors.require(descriptors.library.getAttribute(configuration, Attribute::ConfigurationEngine, Type::Descriptor,
                                                       1, &count, (void *)&place),
                      "cudnnBackendGetAttribute");
  std::vector<Note> notes(mostNotes);
  descriptors.require(descriptors.library.getAttribute(engine.get(), Attribute::EngineNotes, Type::Note, mostNotes,
                                                       &count, notes.data()),
                      "cudnnBackendGetAttribute");
  notes.resize((size_t)count);
  return notes;
}

bool Engine::isTaken(Descriptor configuration, Engines engines) const {
  return engines == Engines::Any || std::ranges::all_of(notesOf(configuration), [&](Note note) {
           return note == Note::StrictNan || (note == Note::TensorCore && engines == Engines::Repeatable);
         });
}

bool Engine::usesTensorCores() const { return std::ranges::count(notesOf(configuration.get()), Note::TensorCore) > 0; }

bool Engine::tryToPlan(Descriptor configuration, int64_t mostWorkspace, std::string &why) {
  OwnedDescriptor made = descriptors.make(Kind::ExecutionPlan);
  if (device.properties)
    descriptors.set(made.get(), Attribute::PlanDevice, Type::Descriptor, device.properties);
  else
    descriptors.set(made.get(), Attribute::PlanHandle, Type::Handle, device.handle);
  descriptors.set(made.get(), Attribute::PlanConfiguration, Type::Descriptor, configuration);
  if (descriptors.library.finalize(made.get()) != Status::Success) {
    why = descriptors.library.lastError();
    return false;
  }
  int64_t bytes = 0, count = 0;
  descriptors.require(
      descriptors.library.getAttribute(made.get(), Attribute::PlanWorkspace, Type::Int64, 1, &count, &bytes),
      "cudnnBackendGetAttribute");
  if (bytes > mostWorkspace) {
    why = fmt::format("a kernel needs {} bytes of workspace, but the plan reserves {}", bytes, mostWorkspace);
    return false;
  }
  chosen = std::move(made);
  return true;
}

} // namespace xlc::runtime::cudnn
