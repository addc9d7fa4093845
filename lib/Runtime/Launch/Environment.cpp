// See Environment.h. The variables are those that each launcher documents for the processes that it starts. If a
// launcher documents none, they are those that it was observed to set.
#include "Environment.h"

#include "Failure.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace xlc::runtime {
namespace {

struct Launcher {
  const char *name, *rank, *world;
  bool mayLackWorld;                 ///< other processes have the rank's variable too
  const char *localRank;             ///< among those on this host
  const char *localWorld, *nodes;    ///< how many these are, or on how many hosts all are
  std::array<const char *, 4> inJob; ///< equal within a job
  const char *joins, *unbind;
};

/// The inner launcher comes first: torchrun and mpirun are started by srun too, and then it set its variables before.
/// SLURM_NTASKS is none of these: a batch script has it, and SLURM_PROCID, and is one process. Hydra gives its processes
/// nothing in common.
constexpr Launcher launchers[] = {
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     false,
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     nullptr,
     {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
     nullptr,
     nullptr},
    {"mpirun", // Open MPI
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     true,
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     nullptr,
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
     "the mpirun that belongs to libmpi.so.40",
     "--bind-to none"},
    {"srun", // sets PMI_RANK as well, with some plugins
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     true,
     "SLURM_LOCALID",
     nullptr,
     "SLURM_STEP_NUM_NODES",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     "srun --mpi=pmix",
     "--cpu-bind=none"},
    {"mpiexec", // MPICH's Hydra, Intel MPI
     "PMI_RANK",
     "PMI_SIZE",
     true,
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     nullptr,
     {},
     nullptr,
     "-bind-to none"},
};

std::optional<uint64_t> findWhole(const char *text) {
  if (!text)
    return std::nullopt;
  std::string_view digits = text;
  uint64_t number = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool isWhole = problem == std::errc() && end == digits.data() + digits.size();
  return isWhole ? std::optional(number) : std::nullopt;
}

uint64_t readWhole(const Environment &environment, const Launcher &row, const char *variable) {
  const char *text = environment(variable);
  if (!text)
    throw Rejected(fmt::format("error: {} is set, but {} is not: {} sets both, and a single process needs neither",
                               variable == row.rank ? row.world : row.rank, variable, row.name));
  std::optional<uint64_t> number = findWhole(text);
  if (!number)
    throw Rejected(fmt::format("error: {} is '{}', which is not an integer >= 0", variable, text));
  return *number;
}

struct Hosts {
  std::string several; ///< what says so
  uint64_t onHost;
};

Hosts findHosts(const Environment &environment, const Launcher &row, uint64_t world) {
  if (std::optional<uint64_t> local = findWhole(row.localWorld ? environment(row.localWorld) : nullptr);
      local && *local > 0 && *local != world)
    return {fmt::format("{}={} of {}={}", row.localWorld, *local, row.world, world), *local};
  if (std::optional<uint64_t> nodes = findWhole(row.nodes ? environment(row.nodes) : nullptr); nodes && *nodes > 1)
    return {fmt::format("{}={}", row.nodes, *nodes), (world + *nodes - 1) / *nodes};
  return {"", world};
}

/// As torchrun says it to its processes, and users of other launchers to theirs.
std::optional<MeetingPoint> findMeeting(const Environment &environment) {
  const char *host = environment("MASTER_ADDR"), *port = environment("MASTER_PORT"),
             *secret = environment("XLC_JOB_SECRET");
  if (!host || !*host || !port)
    return std::nullopt;
  std::optional<uint64_t> number = findWhole(port);
  bool isPort = number && *number > 0 && *number < UINT16_MAX; // ours is the next
  return isPort ? std::optional(MeetingPoint{host, (uint16_t)*number, secret ? secret : ""}) : std::nullopt;
}

std::string findJob(const Environment &environment, const Launcher &row) {
  std::string job;
  for (const char *variable : row.inJob)
    if (const char *value = variable ? environment(variable) : nullptr)
      job += fmt::format("{}={}\n", variable, value);
  return job;
}

} // namespace

std::optional<Launch> findLaunch(const Environment &environment) {
  for (const Launcher &row : launchers) {
    if (!environment(row.world) && (row.mayLackWorld || !environment(row.rank)))
      continue;
    uint64_t world = readWhole(environment, row, row.world);
    if (world == 0)
      throw Rejected(fmt::format("error: {} is 0, but must be at least 1", row.world));
    if (world == 1)
      continue;
    uint64_t rank = readWhole(environment, row, row.rank);
    if (rank >= world)
      throw Rejected(
          fmt::format("error: {} is {}, but {} is {}: ranks are 0 to {}", row.rank, rank, row.world, world, world - 1));
    Hosts hosts = findHosts(environment, row, world);
    std::optional<uint64_t> localRank = findWhole(environment(row.localRank));
    if (localRank && *localRank >= world)
      throw Rejected(fmt::format("error: {} is {}, but {} is {}: ranks of a host are 0 to {}", row.localRank,
                                 *localRank, row.world, world, world - 1));
    return Launch{row.name,
                  fmt::format("{}={}", row.world, world),
                  rank,
                  world,
                  hosts.several,
                  hosts.onHost,
                  localRank.value_or(rank % hosts.onHost),
                  findJob(environment, row),
                  row.joins,
                  row.unbind,
                  findMeeting(environment)};
  }
  return std::nullopt;
}

} // namespace xlc::runtime
