// See Launch.h. The variables are those that each launcher documents for the processes that it starts.
#include "Launch.h"

#include "Failure.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace xlc::runtime {
namespace {

struct Launcher {
  const char *name, *rank, *world;
};

/// The inner launcher comes first: torchrun and mpirun are started by srun too, and then it set its variables before.
/// SLURM_NTASKS is none of these: a batch script has it, and is one process.
constexpr Launcher launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, // Open MPI
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},           // sets PMI_RANK as well, with some plugins
    {"mpiexec", "PMI_RANK", "PMI_SIZE"},                        // MPICH's Hydra, Intel MPI
};

std::optional<uint64_t> parseWhole(const char *text) {
  if (!text)
    return std::nullopt;
  std::string_view digits = text;
  uint64_t number = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool isWhole = problem == std::errc() && end == digits.data() + digits.size();
  return isWhole ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<Launch> findLaunch(const Environment &environment) {
  for (const Launcher &row : launchers) {
    std::optional<uint64_t> rank = parseWhole(environment(row.rank)), world = parseWhole(environment(row.world));
    if (rank && world && *rank < *world)
      return Launch{row.name, row.world, *rank, *world};
  }
  return std::nullopt;
}

void checkLaunch(const Environment &environment, uint64_t ranks) {
  std::optional<Launch> launch = findLaunch(environment);
  if (launch && launch->world > 1)
    throw Rejected(fmt::format(
        "error: {} has started {} processes of this program ({}={}, this is number {}), and each would run all of the "
        "plan's ranks, {}, as its threads: start it once, without {}",
        launch->launcher, launch->world, launch->variable, launch->world, launch->rank, ranks, launch->launcher));
}

} // namespace xlc::runtime
