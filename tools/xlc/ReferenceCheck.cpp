// See ReferenceCheck.h. The phases run once more for a spec of one rank whose optimizer stores each gradient in place
// of its parameter. So the comparison covers the results of Import, Differentiate, the kernels and the runtime for the
// file, with the spec's `loss`, `trainable`, `padding`, `tie` and `untie`.
#include "ReferenceCheck.h"
#include "Failure.h"
#include "Files/InputFile.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Estimate/Cost.h"
#include "xlc/Reference/Reference.h"
#include "xlc/Spec/SpecPlace.h"
#include "xlc/Support/Bytes.h"
#include "xlc/Support/FreedMemory.h"
#include "xlc/Support/Numbers.h"
#include "xlc/Verify/RunStep.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <fstream>

using namespace mlir;
using namespace xlc;
using namespace xlc::reference;
using Clock = std::chrono::steady_clock;
namespace rt = xlc::runtime;

namespace {

/// Why nothing is compared, in words that go on after "not compared with PyTorch: ".
struct Obstacle {
  explicit Obstacle(const Twine &why) : why(why.str()) {}
  std::string why;
};

/// "4 gradients and 2 running averages".
std::string describe(const Judgement &judgement) {
  std::string text = formatCount((int64_t)judgement.gradients, "gradient");
  return judgement.averages ? text + " and " + formatCount((int64_t)judgement.averages, "running average") : text;
}

/// What was not compared beside what was: running averages that begin elsewhere.
std::string tellMoved(const Judgement &judgement) {
  if (judgement.moved == 0)
    return "";
  return "; " + formatCount((int64_t)judgement.moved, "running average") +
         " not compared, because the initial values differ from PyTorch's";
}

/// Bytes that a process may still take; none where the system does not say it.
std::optional<int64_t> findFreeMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    int64_t kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes)
      return kilobytes << 10;
    std::getline(file, unit);
  }
  return std::nullopt;
}

class Check {
public:
  Check(Session &session, const Reference &reference, const CheckOptions &options)
      : session(session), main(session.get()), reference(reference), begin(Clock::now()),
        end(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds))),
        seconds(options.seconds), silence(&main.context, [](Diagnostic &) { return success(); }),
        diagnostics(messages) {}

  /// Throws Obstacle.
  Judgement run() {
    chooseTarget();
    compile();
    Observation observation = listValues();
    step(observation);
    bool hasStateDict = main.spec.init.from == InitSpec::From::StateDict;
    Decisions decisions{main.spec.where("trainable").line > 0, hasStateDict ? main.spec.init.stateDict : ""};
    return judge(reference, observation, decisions);
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }

private:
  /// That of the session where it runs here, else this machine's.
  void chooseTarget() {
    target = &session.getTarget();
    if (!target->runsInCompiler())
      target = (own = getTargets().front().make(CommonOptions().cpu)).get();
    if (std::vector<std::string> missing = target->findMissingFeatures(); !missing.empty())
      throw Obstacle("kernels for " + target->chip() + " cannot run here: this CPU lacks " + missing.front());
  }

  /// One rank that has all rows in one micro-batch, in float32.
  Spec makeSpec() const {
    const Spec &from = main.spec;
    Spec spec;
    spec.path = from.path;
    spec.loss = from.loss;
    spec.loss.chunk = 0;
    spec.dims = from.dims;
    spec.trainable = from.trainable;
    spec.padding = from.padding;
    spec.dropsNothing = true; // as in PyTorch's run
    spec.tie = from.tie;
    spec.untie = from.untie;
    if (from.init.from == InitSpec::From::StateDict)
      spec.init = from.init;
    spec.microBatch = reference.rows;
    spec.globalBatch = reference.rows;
    spec.optimizer.rule = &getGradientProbe();
    return spec;
  }

  void compile() {
    giveBackFreedMemory(); // the file is read once more, and then there is an arena: a large model needs the room
    other.emplace(main.context, *target, diagnostics, main.quiet());
    for (const auto &[name, input] : reference.inputs)
      other->importing.shapes[name] = input.shape;
    other->spec = makeSpec();
    runUpTo("Spec", "Import");
    refuseAbsentValues();
    for (ParameterSource &source : other->parameters) // the user's own compilation has them
      std::string().swap(source.bytes);
    giveBackFreedMemory();
    runUpTo("Import", kPlanPhase);
    refuseCosts();
    runUpTo(kPlanPhase, "");
    refuseLate();
  }

  void runUpTo(StringRef after, StringRef last) {
    RunOptions run;
    run.startAfter = after.str();
    run.stopAfter = last.str();
    if (succeeded(runPhases(*other, run)))
      return refuseLate();
    auto error = llvm::find_if(messages, [](const Message &each) { return each.severity == Severity::Error; });
    throw Obstacle(error == messages.end() ? "an internal error in phase " + other->phase.str() : error->text);
  }

  void refuseLate() const {
    if (Clock::now() > end)
      throw Obstacle("compiling the step took " + formatSeconds(elapsed()) + ", more than --check-budget " +
                     formatSeconds(seconds));
  }

  void refuseAbsentValues() const {
    size_t absent = llvm::count_if(
        other->parameters, [](const ParameterSource &source) { return source.kind == ParameterSource::Kind::Absent; });
    if (absent)
      throw Obstacle(
          llvm::formatv("{0} of {1} parameters have no values in the model", absent, other->parameters.size()));
    if (!other->absentConstants.empty())
      throw Obstacle("constant '" + other->absentConstants.front().name + "' has no values");
  }

  /// Of time and memory, before they are spent.
  void refuseCosts() {
    constexpr double flopsPerThread = 4e9; // of small products, on an old processor
    Quantity flops;
    other->unpartitioned->walk([&](Operation *op) { flops += countFlops(op); });
    double expected = (double)flops / (flopsPerThread * std::max(1u, std::thread::hardware_concurrency()));
    if (elapsed() + expected > seconds)
      throw Obstacle("a step takes about " + formatSeconds(elapsed() + expected) + ", more than --check-budget " +
                     formatSeconds(seconds));
    int64_t arena = 0;
    for (auto program : other->module->getOps<exec::ProgramOp>())
      arena = std::max(arena, (int64_t)program.getArena());
    if (std::optional<int64_t> available = findFreeMemory(); available && arena > *available)
      throw Obstacle("a step needs " + formatBytes(arena) + ", but this machine has " + formatBytes(*available) +
                     " free");
  }

  /// Of a parameter or a buffer before the step.
  Fingerprint beginOf(BlockArgument value, StringRef name) {
    auto source = llvm::find_if(main.parameters, [&](const ParameterSource &each) { return each.name == name; });
    std::vector<float> values((size_t)cast<RankedTensorType>(value.getType()).getNumElements());
    if (source != main.parameters.end())
      fillFrom(*source, values);
    return fingerprintOf(ArrayRef<float>(values));
  }

  /// Parameters and buffers in the order of their first readers.
  Observation listValues() {
    func::FuncOp microBatch = graph::Entry::find(*other->unpartitioned, graph::Purpose::train).getFunction();
    llvm::DenseMap<Operation *, size_t> places;
    for (Operation &op : microBatch.front())
      places.try_emplace(&op, places.size());
    std::multimap<size_t, Observed> found; // by the place of the first reader
    for (BlockArgument value : microBatch.getArguments()) {
      graph::Argument argument(value);
      if (!argument.getParameter())
        continue;
      using Kind = Observed::Kind;
      Observed each;
      each.kind = argument.isBuffer() ? Kind::Buffer : argument.isFrozen() ? Kind::Frozen : Kind::Trained;
      each.name = argument.getParameter().str();
      if (argument.isBuffer())
        each.begin = beginOf(value, each.name);
      size_t first = places.size();
      for (Operation *user : value.getUsers())
        if (size_t place = places.lookup(user); place < first) {
          first = place;
          graph::ModelUnitAttr unit = graph::getUnit(user);
          each.unit = unit ? (unit.getClassName().getValue() + "[" + Twine(unit.getInstance()) + "]").str() : "";
        }
      found.emplace(first, std::move(each));
    }
    Observation observation;
    for (auto &[place, each] : found)
      observation.values.push_back(std::move(each));
    return observation;
  }

  void step(Observation &observation) {
    llvm::StringMap<Observed *> values;
    for (Observed &each : observation.values)
      values[each.name] = &each;
    llvm::StringMap<const ParameterSource *> sources;
    for (const ParameterSource &source : main.parameters)
      sources[source.name] = &source;
    auto fill = [&](StringRef name, MutableArrayRef<float> to) { fillFrom(*sources.at(name), to); };
    auto read = [&](StringRef name, ArrayRef<float> from) {
      if (Observed *value = values.lookup(name))
        value->value = fingerprintOf(from);
    };
    verify::StepRequest request{.rows = {}, .fill = fill, .read = read, .end = end};
    for (const auto &[name, input] : reference.inputs)
      request.rows[name] = input.elements;
    if (const std::string &labels = main.spec.loss.labels; !reference.labels.empty() && !labels.empty())
      request.rows.try_emplace(labels, reference.inputs.at(reference.labels).elements);
    llvm::Expected<verify::StepOutcome> outcome = verify::runStep(*other->object, request);
    if (!outcome)
      throw Obstacle(llvm::toString(outcome.takeError()));
    if (outcome->isLate)
      throw Obstacle("the step was stopped after " + formatSeconds(elapsed()) + "; --check-budget is " +
                     formatSeconds(seconds));
    observation.loss = outcome->loss;
  }

  /// Throws runtime::Rejected where a file cannot be read, Obstacle where the values are not those of the reference.
  void fillFrom(const ParameterSource &source, MutableArrayRef<float> to) {
    using Kind = ParameterSource::Kind;
    if (source.kind != Kind::Data)
      std::fill(to.begin(), to.end(), source.kind == Kind::Ones ? 1.0f : 0.0f);
    else if (source.file.empty())
      std::memcpy(to.data(), source.bytes.data(), to.size() * sizeof(float));
    else
      rt::InputFile(source.file).read(source.offset, to.size() * sizeof(float), to.data());
  }

  Session &session;
  Compilation &main;
  const Reference &reference;
  Clock::time_point begin, end;
  double seconds;
  ScopedDiagnosticHandler silence;
  std::vector<Message> messages;
  Diagnostics diagnostics;
  std::unique_ptr<Target> own;
  const Target *target = nullptr;
  std::optional<Compilation> other;
};

/// The file that the spec names, or that lies beside the model; empty: none.
std::string findReference(const Compilation &compilation) {
  const ReferenceSpec &spec = compilation.spec.reference;
  if (spec.from == ReferenceSpec::From::File)
    return spec.path;
  if (spec.from == ReferenceSpec::From::Nowhere)
    return "";
  SmallString<256> path(compilation.modelPath);
  llvm::sys::path::replace_extension(path, "reference.safetensors");
  return llvm::sys::fs::exists(path) ? path.str().str() : "";
}

/// An argument that the exporter left out because nothing reads it, or because one input stands for two.
std::string tellUnmatched(const Reference &reference) {
  if (reference.unmatched.empty())
    return "";
  return "; the file has no input for PyTorch's argument" + std::string(reference.unmatched.size() > 1 ? "s" : "") +
         " '" + llvm::join(reference.unmatched, "', '") + "'";
}

} // namespace

void CheckOptions::addTo(CLI::App &command) {
  command
      .add_option("--check-budget", seconds,
                  "time limit in seconds of the comparison with the model's reference; reference: off skips it")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

int xlc::checkReference(Session &session, const CheckOptions &options) {
  std::string path = findReference(session.get());
  if (path.empty())
    return Done;
  Diagnostics &diagnostics = session.get().diagnostics;
  std::optional<Reference> reference = readReference(path, diagnostics);
  if (!reference)
    return Rejected;
  const std::string &model = session.get().modelPath;
  auto note = [&](const Twine &text) {
    diagnostics.report({.severity = Severity::Note, .where = model, .text = (text + tellUnmatched(*reference)).str()});
  };
  try {
    Check check(session, *reference, options);
    Judgement judgement = check.run();
    if (!judgement.obstacle.empty())
      throw Obstacle(judgement.obstacle);
    if (!judgement.differs()) {
      note("matches PyTorch: the loss and " + describe(judgement) + " of '" + llvm::sys::path::filename(path) + "' (" +
           formatSeconds(check.elapsed()) + ")" + tellMoved(judgement));
      return Done;
    }
    Message message{.severity = Severity::Error, .where = model, .text = judgement.headline};
    for (const std::string &each : judgement.notes)
      message.notes.push_back({.severity = Severity::Note, .where = model, .text = each});
    message.notes.push_back({.severity = Severity::Note,
                             .where = model,
                             .text =
                                 "export the model with xlc_export.export, which writes files that train as in PyTorch "
                                 "(docs/Export.md), or set reference to off to skip the comparison"});
    message.text += tellMoved(judgement) + tellUnmatched(*reference);
    diagnostics.report(message);
    return VerificationFailed;
  } catch (const Obstacle &obstacle) {
    note("not compared with PyTorch ('" + llvm::sys::path::filename(path) + "'): " + obstacle.why);
  } catch (const rt::Rejected &problem) {
    note("not compared with PyTorch ('" + llvm::sys::path::filename(path) + "'): " + problem.what());
  }
  return Done;
}
