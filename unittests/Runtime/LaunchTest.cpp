// The detection of the launcher of a process, with environments as the launchers set them: each contains variables of
// other launchers that it inherits or sets in addition to its own.
#include "Failure.h"
#include "Launch/Environment.h"

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
  const char *hosts, *job;
  Variables variables;
};

const Recorded table[] = {
    {"a shell", nullptr, 0, 0, "", "", {{"HOME", "/root"}}},
    {"torchrun --nproc-per-node 4",
     "torchrun",
     2,
     4,
     "",
     "MASTER_ADDR=127.0.0.1\nMASTER_PORT=29500\nTORCHELASTIC_RUN_ID=none\nTORCHELASTIC_RESTART_COUNT=0\n",
     {{"RANK", "2"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "2"},
      {"LOCAL_WORLD_SIZE", "4"},
      {"GROUP_RANK", "0"},
      {"GROUP_WORLD_SIZE", "1"},
      {"ROLE_RANK", "2"},
      {"ROLE_WORLD_SIZE", "4"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "29500"},
      {"TORCHELASTIC_RESTART_COUNT", "0"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
      {"TORCHELASTIC_RUN_ID", "none"}}},
    {"torchrun --nnodes 2 --nproc-per-node 2",
     "torchrun",
     3,
     4,
     "LOCAL_WORLD_SIZE=2 of WORLD_SIZE=4",
     "MASTER_ADDR=a\nMASTER_PORT=1\n",
     {{"RANK", "3"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"MASTER_ADDR", "a"},
      {"MASTER_PORT", "1"}}},
    {"mpirun -np 2 of Open MPI 4.1",
     "mpirun",
     1,
     2,
     "",
     "PMIX_NAMESPACE=1288896513\nOMPI_MCA_ess_base_jobid=1288896513\n",
     {{"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"OMPI_COMM_WORLD_NODE_RANK", "1"},
      {"OMPI_MCA_ess_base_jobid", "1288896513"},
      {"OMPI_MCA_ess_base_vpid", "1"},
      {"OMPI_UNIVERSE_SIZE", "2"},
      {"PMIX_NAMESPACE", "1288896513"},
      {"PMIX_RANK", "1"}}},
    {"mpirun -np 4 over two hosts",
     "mpirun",
     2,
     4,
     "OMPI_COMM_WORLD_LOCAL_SIZE=2 of OMPI_COMM_WORLD_SIZE=4",
     "",
     {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}},
    {"mpiexec.hydra -n 2 of MPICH 4.0",
     "mpiexec",
     0,
     2,
     "",
     "",
     {{"PMI_RANK", "0"},
      {"PMI_SIZE", "2"},
      {"PMI_FD", "6"},
      {"HYDI_CONTROL_FD", "7"},
      {"MPI_LOCALRANKID", "0"},
      {"MPI_LOCALNRANKS", "2"}}},
    {"srun -n 8 on two hosts",
     "srun",
     7,
     8,
     "SLURM_STEP_NUM_NODES=2",
     "SLURM_JOB_ID=4\nSLURM_STEP_ID=0\n",
     {{"SLURM_PROCID", "7"},
      {"SLURM_LOCALID", "3"},
      {"SLURM_NTASKS", "8"},
      {"SLURM_STEP_NUM_TASKS", "8"},
      {"SLURM_STEP_NUM_NODES", "2"},
      {"SLURM_NODEID", "1"},
      {"SLURM_JOB_ID", "4"},
      {"SLURM_STEP_ID", "0"}}},
    {"srun -n 8 --mpi=pmi2",
     "srun",
     7,
     8,
     "",
     "",
     {{"SLURM_PROCID", "7"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"PMI_RANK", "7"}, {"PMI_SIZE", "8"}}},
    {"a batch script of sbatch -n 8, which is one process",
     nullptr,
     0,
     0,
     "",
     "",
     {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_NPROCS", "8"}, {"SLURM_JOB_ID", "4"}}},
    {"torchrun in each of two tasks of srun",
     "torchrun",
     3,
     8,
     "",
     "",
     {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"RANK", "3"}, {"WORLD_SIZE", "8"}}},
    {"one process of torchrun", nullptr, 0, 0, "", "", {{"RANK", "0"}, {"WORLD_SIZE", "1"}}},
    {"mpirun -np 2 in a container that is a world of one by itself",
     "mpirun",
     1,
     2,
     "",
     "",
     {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}},
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
    EXPECT_EQ(launch->hosts, row.hosts) << row.what;
    EXPECT_EQ(launch->job, row.job) << row.what;
    bool isJoined = launch->launcher == std::string_view("mpirun") || launch->launcher == std::string_view("srun");
    EXPECT_EQ(launch->joins != nullptr, isJoined) << row.what;
  }
}

TEST(Launch, KnowsHowManyShareTheCoresOfAHost) {
  auto countOf = [](const Variables &variables) { return findLaunch(of(variables))->onHost; };
  Variables mpirun{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "6"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_EQ(countOf(mpirun), 2u);
  mpirun["OMPI_COMM_WORLD_LOCAL_SIZE"] = "6";
  EXPECT_EQ(countOf(mpirun), 6u);
  EXPECT_EQ(countOf({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "7"}, {"SLURM_STEP_NUM_NODES", "2"}}), 4u);
  EXPECT_EQ(countOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}), 3u);
  EXPECT_EQ(countOf({{"RANK", "1"}, {"WORLD_SIZE", "3"}, {"LOCAL_WORLD_SIZE", "0"}}), 3u); // no host has none
}

TEST(Launch, KnowsWhichOfThoseOnAHostItIs) {
  auto localRankOf = [](const Variables &variables) { return findLaunch(of(variables))->localRank; };
  EXPECT_EQ(localRankOf({{"OMPI_COMM_WORLD_RANK", "5"},
                         {"OMPI_COMM_WORLD_SIZE", "6"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}}),
            2u);
  EXPECT_EQ(localRankOf({{"RANK", "5"}, {"WORLD_SIZE", "6"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}), 1u);
  EXPECT_EQ(localRankOf({{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}}),
            2u);
  Variables srun{{"SLURM_PROCID", "7"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_NUM_NODES", "2"}};
  EXPECT_EQ(localRankOf(srun), 3u); // of ranks that fill a host of four, then the other
  srun["SLURM_LOCALID"] = "1";
  EXPECT_EQ(localRankOf(srun), 1u);
}

TEST(Launch, KnowsWhereRankZeroIs) {
  auto meetingOf = [](const char *host, const char *port) {
    return findLaunch(of({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", host}, {"MASTER_PORT", port}}))->meeting;
  };
  EXPECT_EQ(meetingOf("a", "29500")->host, "a");
  EXPECT_EQ(meetingOf("a", "29500")->port, 29500);
  EXPECT_EQ(meetingOf("a", "29500")->secret, "");
  EXPECT_EQ(findLaunch(of({{"RANK", "0"},
                           {"WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "a"},
                           {"MASTER_PORT", "1"},
                           {"XLC_JOB_SECRET", "a secret"}}))
                ->meeting->secret,
            "a secret");
  EXPECT_FALSE(meetingOf("", "29500"));
  for (const char *none : {"0", "65535", "first", ""}) // the next one is ours
    EXPECT_FALSE(meetingOf("a", none)) << none;
}

TEST(Launch, RankAndWorldAreWholeNumbersThatFit) {
  struct Wrong {
    Variables variables;
    const char *message;
  };
  for (const Wrong &wrong : std::initializer_list<Wrong>{
           {{{"WORLD_SIZE", "4"}},
            "error: WORLD_SIZE is set, but RANK is not: torchrun sets both, and a single process needs neither"},
           {{{"RANK", "2"}},
            "error: RANK is set, but WORLD_SIZE is not: torchrun sets both, and a single process needs neither"},
           {{{"RANK", "first"}, {"WORLD_SIZE", "4"}}, "error: RANK is 'first', which is not an integer >= 0"},
           {{{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, "error: RANK is '-1', which is not an integer >= 0"},
           {{{"RANK", "1"}, {"WORLD_SIZE", "4 "}}, "error: WORLD_SIZE is '4 ', which is not an integer >= 0"},
           {{{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "error: RANK is 4, but WORLD_SIZE is 4: ranks are 0 to 3"},
           {{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "error: WORLD_SIZE is 0, but must be at least 1"},
           {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "4294967296"}},
            "error: LOCAL_RANK is 4294967296, but WORLD_SIZE is 2: ranks of a host are 0 to 1"},
           {{{"OMPI_COMM_WORLD_SIZE", "2"}},
            "error: OMPI_COMM_WORLD_SIZE is set, but OMPI_COMM_WORLD_RANK is not: mpirun sets both, and a single "
            "process "
            "needs neither"}})
    try {
      findLaunch(of(wrong.variables));
      ADD_FAILURE() << wrong.message;
    } catch (const Rejected &problem) {
      EXPECT_STREQ(problem.what(), wrong.message);
    }
}

} // namespace
