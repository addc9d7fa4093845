// See Saving.h.
#include "Saving.h"

#include "Checkpoint/SharedFolder.h"
#include "Files/StandardStreams.h"
#include "Plan/PlannedSchedule.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace xlc::runtime {
namespace {

constexpr int64_t second = 1'000'000'000;
constexpr char lockName[] = "lock", nowName[] = "checkpoint-now";

/// Makes the folder where it is missing, and locks it for as long as the file is open.
int lockFolder(const std::string &dir) {
  auto reject = [&](const std::string &what, const std::string &why) {
    throw Rejected(fmt::format("{}: error: {}: {}", dir, what, why));
  };
  if (mkdir(dir.c_str(), 0777) == 0)
    syncFolder(dir + "/.."); // or a power cut could take all of it
  else if (errno != EEXIST)
    reject("cannot create the folder of checkpoints", std::strerror(errno));
  std::string path = dir + "/" + lockName;
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    reject("cannot write checkpoints to this folder", std::strerror(errno));
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(file);
    reject("cannot write checkpoints to this folder", "another run is writing to it");
  }
  if (access(dir.c_str(), W_OK | X_OK) != 0) {
    std::string why = std::strerror(errno);
    close(file);
    reject("cannot write checkpoints to this folder", why);
  }
  return file;
}

std::string describeLayout(const Plan &plan) {
  const plan::Mesh &mesh = *plan.mesh;
  return fmt::format("dp {}, pp {}, tp {}, shards {}", mesh.dp(), mesh.pp(), mesh.tp(), mesh.shards());
}

/// What evaluates or generates leaves the folder to a run that trains at the same time.
bool writesCheckpoints(const Options &options) {
  return options.checkpointsNow || (!options.evaluates && !options.generate);
}

} // namespace

class Saving::Waits {
public:
  Waits(Saving &saving, int rank) : saving(saving), rank(rank) {}
  ~Waits() {
    if (rank == 0)
      saving.waited += now() - begin;
  }
  Waits(const Waits &) = delete;

private:
  Saving &saving;
  const int rank;
  const int64_t begin = now();
};

Saving::Saving(const World &world, const Options &options, const Settings &settings, bool speaks)
    : world(world), plan(world.plan), settings(settings),
      dir(writesCheckpoints(options) ? checkpointFolder(world.plan, options) : ""), parts(rankCount(world.plan)),
      lastTime(now()), lastLook(now()) {
  for (Part &part : parts)
    part.step.afterReading = [&part] {
      part.isRead.store(true, std::memory_order_release);
      part.isRead.notify_all();
    };
  if (options.checkpointsNow && dir.empty())
    throw Rejected("error: --checkpoint-now requires a folder of checkpoints: add 'checkpoint: {dir: ...}' to the "
                   "spec, or give --checkpoint-dir");
  if (isOn() && speaks)
    lock = lockFolder(dir);
}

Saving::~Saving() {
  for (Part &part : parts)
    if (part.thread.joinable())
      part.thread.join();
  if (lock >= 0)
    close(lock);
}

void Saving::markFolder() const {
  if (isOn() && world.isWired())
    Request::raise(world.request().checkpointFolder, runtime::markFolder(dir));
}

void Saving::checkFolder() const {
  if (uint64_t number = world.request().checkpointFolder; isOn() && number != 0)
    checkMark(dir, number);
}

void Saving::ask(int rank, uint64_t step, bool isFirstOfProcess) {
  if (!isOn())
    return;
  const plan::CheckpointsT *rule = plan.checkpoints.get();
  bool isDue = rule && rule->every_steps && step % rule->every_steps == 0;
  if (settings.checkpointSignals && isFirstOfProcess) {
    uint64_t signals = *settings.checkpointSignals;
    isDue |= std::exchange(seenSignals, signals) != signals;
  }
  if (rank == 0 && rule && rule->every_seconds > 0)
    isDue |= (double)(now() - lastTime) >= rule->every_seconds * (double)second;
  if (rank == 0 && now() - lastLook >= second) {
    lastLook = now();
    isDue |= unlink((dir + "/" + nowName).c_str()) == 0;
  }
  if (isDue)
    Request::raise(world.request().checkpoint, step + 1);
  if (!parts[rank].isWritten.load(std::memory_order_acquire))
    Request::raise(world.request().checkpointBusy, step + 1);
}

bool Saving::isDue(uint64_t step, bool isLast) const {
  const Request &request = world.request();
  return isOn() && request.isSpoiled == 0 && (isLast || request.checkpoint == step + 1);
}

/// What fails in it ends the attempt for all.
void Saving::attempt(uint64_t step, const std::function<void()> &work) {
  Request &request = world.request();
  if (request.checkpointFailed == step + 1)
    return;
  try {
    work();
  } catch (const std::exception &problem) { // a device that has failed shows it in the next step
    Request::raise(request.checkpointFailed, step + 1);
    if (world.board().failedCheckpointSaid.exchange(step + 1) == step + 1)
      return;
    clearBar();
    bool stops = plan.checkpoints && plan.checkpoints->stops;
    say(fmt::format("{}\nwarning: the checkpoint of step {} was not written; {}", problem.what(), step,
                    stops ? "the run ends" : "training continues"));
  }
}

void Saving::publish(const State &state) {
  Manifest manifest;
  manifest.progress = state.progress, manifest.seed = state.seed, manifest.data = *state.data;
  manifest.lossScale = state.lossScale, manifest.evaluation = state.evaluation;
  manifest.optimizer = plan.optimizer, manifest.states = listOptimizerStates(plan);
  manifest.schedule = describeSchedule(plan);
  manifest.madeBy = {plan.compiler, describeLayout(plan), plan.precision, plan.gpu.empty() ? "cpu" : plan.gpu};
  std::string folder = folderOfStep(dir, state.progress.step);
  listFiles(plan, folder, manifest);
  OutputFile file(folder + "/" + manifestName);
  file.write(writeManifest(manifest));
  file.publish();
  syncFolder(dir);
}

void Saving::removeOutdated(const State &state) const {
  Retention rule;
  if (plan.checkpoints)
    rule = {plan.checkpoints->keep, plan.checkpoints->keep_every};
  if (plan.evaluation && plan.evaluation->keeps_best && state.evaluation)
    rule.best = state.evaluation->bestStep;
  try {
    for (const StepFolder &outdated : findOutdated(listStepFolders(dir), rule))
      removeCheckpoint(outdated.path);
  } catch (const Rejected &problem) {
    sayAboveBar(fmt::format("{}\nwarning: an outdated checkpoint was not removed", problem.what()));
  }
}

/// `step`: the step that runs meanwhile; null if training waits.
void Saving::writePart(int rank, const InitialValues &values, const ReadState &read, const WaitingStep *step) {
  Part &part = parts[rank];
  uint64_t number = part.state.progress.step;
  std::string folder = folderOfStep(dir, number);
  attempt(number, [&] {
    if (compares())
      writeShared(folder, rank, part.shared ? *part.shared : digestShared(plan, rank, read));
    writeFiles(plan, rank, values, read, folder, step);
  });
  if (step)
    step->afterReading(); // also of an attempt that has failed
  part.isWritten.store(true, std::memory_order_release);
}

void Saving::write(int rank, const State &state, const InitialValues &values, RankMemory memory, Pulse *pulse,
                   bool isLast) {
  Part &part = parts[rank];
  Waits waits(*this, rank);
  completeOpen(rank, pulse);
  part.state = state, part.isOpen = true, part.shared.reset();
  pulse->set(Pulse::Speaks); // as long as it takes
  if (rank == 0)
    attempt(state.progress.step, [&] {
      unlink((dir + "/" + nowName).c_str()); // this checkpoint also answers a request that was not yet seen
      makeFolder(dir, state.progress.step);
    });
  world.ranksMeet().meet(pulse);
  pulse->set(Pulse::Speaks);
  plan::Background how = plan.checkpoints ? plan.checkpoints->background : plan::Background::Off;
  auto read = [memory](uint64_t offset, uint64_t bytes, char *room) -> const char * {
    if (memory.isOfHost)
      return memory.arena + offset;
    memory.device->read(room, memory.arena + offset, bytes);
    return room;
  };
  if (isLast || how == plan::Background::Off) {
    writePart(rank, values, read, nullptr);
    return completeOpen(rank, pulse);
  }
  if (compares() && how == plan::Background::Copy)
    part.shared = digestShared(plan, rank, read);
  auto copy = std::make_shared<const StateCopy>(plan, rank, read, /*all=*/how == plan::Background::Copy);
  part.isWritten = false, part.isRead = how == plan::Background::Copy, part.step.isWaiting = false;
  try {
    part.thread = std::thread(
        [this, rank, &values, &part, copy, read] { writePart(rank, values, copy->before(read), &part.step); });
  } catch (const std::system_error &) { // a limit of threads: the step waits
    writePart(rank, values, read, nullptr);
    part.isRead = true;
  }
}

void Saving::await(int rank) {
  if (parts[rank].isRead.load(std::memory_order_acquire))
    return;
  Waits waits(*this, rank);
  parts[rank].step.isWaiting = true;
  parts[rank].isRead.wait(false, std::memory_order_acquire);
}

void Saving::completeAfter(int rank, uint64_t step, Pulse *pulse) {
  if (parts[rank].isOpen && world.request().checkpointBusy <= step) // of a rank that is a step ahead it is more
    complete(rank, pulse);
}

void Saving::complete(int rank, Pulse *pulse) {
  if (!parts[rank].isOpen)
    return;
  Waits waits(*this, rank);
  completeOpen(rank, pulse);
}

/// No checkpoint is written of it, and what is there stays: it may be of a better time.
void Saving::endOfDifferent(uint64_t step, const std::string &which) {
  removeTorn(dir, step);
  std::string why = fmt::format("error: the checkpoint of step {} was not written: {}; the memory or a processor is "
                                "faulty; --resume continues from the previous checkpoint",
                                step, which);
  world.stop().raise(Exit::RankFailed, why);
  throw Stopped();
}

void Saving::completeOpen(int rank, Pulse *pulse) {
  Part &part = parts[rank];
  if (!part.isOpen)
    return;
  uint64_t step = part.state.progress.step;
  Request &request = world.request();
  pulse->set(Pulse::Speaks);
  if (part.thread.joinable())
    part.thread.join();
  world.ranksMeet().meet(pulse);
  pulse->set(Pulse::Speaks);
  if (rank == 0) {
    std::string different;
    attempt(step, [&] {
      if (compares())
        different = compareShared(plan, folderOfStep(dir, step));
      if (different.empty())
        publish(part.state);
    });
    if (!different.empty())
      endOfDifferent(step, different);
    lastFailed = request.checkpointFailed == step + 1, lastTime = now();
    lastFailed ? removeTorn(dir, step) : removeOutdated(part.state);
    endsRun |= lastFailed && plan.checkpoints && plan.checkpoints->stops;
    if (endsRun)
      Request::raise(request.lastStep, std::max<uint64_t>(step, 1));
  }
  world.ranksMeet().meet(pulse);
  part.isOpen = false;
}

} // namespace xlc::runtime
