// Who started a process, by environments as the launchers set them: each has variables of others that it inherits or sets
// beside its own.
#include "Job/Launch.h"
#include "Failure.h"

#include <gtest/gtest.h>

#include <map>

using namespace xlc::runtime;

namespace {

using Variables = std::map<std::string, std::string>;

Environment of(const Variables &variables) {
  return [&variables](const char *name) {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

struct Recorded {
  const char *what, *launcher; ///< none: null
  uint64_t rank, world;
  Variables variables;
};

const Recorded table[] = {
    {"a shell", nullptr, 0, 0, {{"HOME", "/root"}}},
    {"torchrun --nproc-per-node 4",
     "torchrun",
     2,
     4,
     {{"RANK", "2"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "2"},
      {"LOCAL_WORLD_SIZE", "4"},
      {"GROUP_RANK", "0"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "29500"},
      {"TORCHELASTIC_RUN_ID", "none"}}},
    {"mpirun -np 2 of Open MPI",
     "mpirun",
     1,
     2,
     {{"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"OMPI_UNIVERSE_SIZE", "2"},
      {"PMIX_RANK", "1"}}},
    {"mpiexec -n 3 of MPICH",
     "mpiexec",
     0,
     3,
     {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "3"}}},
    {"srun -n 8",
     "srun",
     7,
     8,
     {{"SLURM_PROCID", "7"},
      {"SLURM_LOCALID", "3"},
      {"SLURM_NTASKS", "8"},
      {"SLURM_STEP_NUM_TASKS", "8"},
      {"SLURM_NODEID", "1"},
      {"SLURM_JOB_ID", "4"}}},
    {"srun -n 8 --mpi=pmi2",
     "srun",
     7,
     8,
     {{"SLURM_PROCID", "7"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"PMI_RANK", "7"}, {"PMI_SIZE", "8"}}},
    {"a batch script of sbatch -n 8, which is one process",
     nullptr,
     0,
     0,
     {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_NPROCS", "8"}, {"SLURM_JOB_ID", "4"}}},
    {"torchrun in each of two tasks of srun",
     "torchrun",
     3,
     8,
     {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"RANK", "3"}, {"WORLD_SIZE", "8"}}},
    {"one process of torchrun", "torchrun", 0, 1, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}},
    {"half of the variables", nullptr, 0, 0, {{"WORLD_SIZE", "4"}}},
    {"what is no number", nullptr, 0, 0, {{"RANK", "first"}, {"WORLD_SIZE", "4"}}},
    {"a number with more behind it", nullptr, 0, 0, {{"RANK", "1"}, {"WORLD_SIZE", "4 "}}},
    {"a rank that is none of the world", nullptr, 0, 0, {{"RANK", "4"}, {"WORLD_SIZE", "4"}}},
};

TEST(Launch, IsReadFromWhatEachLauncherSets) {
  for (const Recorded &row : table) {
    std::optional<Launch> launch = findLaunch(of(row.variables));
    ASSERT_EQ(launch.has_value(), row.launcher != nullptr) << row.what;
    if (!launch)
      continue;
    EXPECT_STREQ(launch->launcher, row.launcher) << row.what;
    EXPECT_EQ(launch->rank, row.rank) << row.what;
    EXPECT_EQ(launch->world, row.world) << row.what;
  }
}

TEST(Launch, SeveralProcessesAreRefused) {
  for (const Recorded &row : table) {
    std::string said;
    try {
      checkLaunch(of(row.variables), 6);
    } catch (const Rejected &problem) {
      said = problem.what();
    }
    EXPECT_EQ(said.empty(), row.world < 2) << row.what << ": " << said;
  }
  try {
    checkLaunch(of(table[2].variables), 6);
    FAIL();
  } catch (const Rejected &problem) {
    EXPECT_STREQ(
        problem.what(),
        "error: mpirun has started 2 processes of this program (OMPI_COMM_WORLD_SIZE=2, this is number 1), and "
        "each would run all of the plan's ranks, 6, as its threads: start it once, without mpirun");
  }
}

} // namespace
