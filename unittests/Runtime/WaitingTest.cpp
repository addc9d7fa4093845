// A thread that requests short slices keeps its other scheduling attributes.
#include "Fabric/Waiting.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <thread>

using namespace xlc::runtime;

namespace {

TEST(WakePromptly, KeepsPolicyAndNiceness) {
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 5), 0);
    wakePromptly();
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 5);
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1000);
  }).join();
}

TEST(WakePromptly, LeavesAPolicyThatSomebodyChose) {
  std::thread([] {
    sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    wakePromptly();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

} // namespace
