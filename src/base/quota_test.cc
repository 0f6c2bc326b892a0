#include "base/quota.h"

#include <algorithm>

#include "gtest/gtest.h"

#include "base/testing.h"

namespace vivace {
namespace {

class QuotaTest : public testing::Test {
 protected:
  FileTree tree_{std::string("quota_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name()};
  const std::string& root_ = tree_.root();
};

TEST_F(QuotaTest, NoneWithoutGroups) {
  EXPECT_EQ(QuotaCores(root_), 0);
  EXPECT_EQ(GrantedCores(root_), std::max(1, static_cast<int>(AffinityCpus().size())));
}

TEST_F(QuotaTest, TheSmallestParentOfVersionTwo) {
  tree_.Write("proc/self/cgroup", "0::/a/b/c\n");
  tree_.Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  tree_.Write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  tree_.Write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(QuotaCores(root_), 1.5);
  EXPECT_EQ(GrantedCores(root_), 1);
}

TEST_F(QuotaTest, TellsTheFile) {
  tree_.Write("proc/self/cgroup", "0::/a/b\n");
  tree_.Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(ReadQuota(root_).source, root_ + "sys/fs/cgroup/a/cpu.max");
  tree_.Write("proc/self/cgroup", "2:cpu:/a\n");
  tree_.Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  tree_.Write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ReadQuota(root_).source, root_ + "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us");
}

TEST_F(QuotaTest, MemoryOfBothVersions) {
  EXPECT_EQ(MemoryLimit(root_), 0);
  tree_.Write("proc/self/cgroup", "0::/a/b\n");
  tree_.Write("sys/fs/cgroup/a/memory.max", "536870912\n");
  tree_.Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(MemoryLimit(root_), 512 << 20);
  tree_.Write("proc/self/cgroup", "4:memory:/box\n");
  tree_.Write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(MemoryLimit(root_), 0);
  tree_.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(MemoryLimit(root_), 1 << 30);
}

TEST_F(QuotaTest, AContainerWithItsOwnNamespace) {
  tree_.Write("proc/self/cgroup", "0::/\n");
  tree_.Write("sys/fs/cgroup/cpu.max", "765000 100000\n");
  EXPECT_EQ(QuotaCores(root_), 7.65);
}

TEST_F(QuotaTest, APathThatClimbsOutOfTheNamespace) {
  tree_.Write("proc/self/cgroup", "0::/../../system.slice\n");
  tree_.Write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  tree_.Write("sys/system.slice/cpu.max", "100000 100000\n");
  EXPECT_EQ(QuotaCores(root_), 2);
}

TEST_F(QuotaTest, DockerOfVersionOneShowsTheHostsPath) {
  tree_.Write("proc/self/cgroup", "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n");
  tree_.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "765000\n");
  tree_.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(QuotaCores(root_), 7.65);
}

TEST_F(QuotaTest, LxcOfVersionOne) {
  tree_.Write("proc/self/cgroup", "3:cpuacct,cpu:/lxc/box/init.scope\n0::/lxc/box\n");
  tree_.Write("sys/fs/cgroup/cpu/lxc/box/cpu.cfs_quota_us", "50000\n");
  tree_.Write("sys/fs/cgroup/cpu/lxc/box/cpu.cfs_period_us", "20000\n");
  tree_.Write("sys/fs/cgroup/cpu/lxc/box/init.scope/cpu.cfs_quota_us", "-1\n");
  tree_.Write("sys/fs/cgroup/cpu/lxc/box/init.scope/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(QuotaCores(root_), 2.5);
}

TEST_F(QuotaTest, VersionTwoBesideVersionOne) {
  tree_.Write("proc/self/cgroup", "1:name=systemd:/x\n0::/x\n");
  tree_.Write("sys/fs/cgroup/unified/x/cpu.max", "300000 100000\n");
  EXPECT_EQ(QuotaCores(root_), 3);
}

TEST_F(QuotaTest, AQuotaOfMinusOneIsNone) {
  tree_.Write("proc/self/cgroup", "4:cpu:/x\n");
  tree_.Write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  tree_.Write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(QuotaCores(root_), 0);
}

TEST_F(QuotaTest, LessThanOneCoreIsOne) {
  tree_.Write("proc/self/cgroup", "0::/\n");
  tree_.Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(QuotaCores(root_), 0.5);
  EXPECT_EQ(GrantedCores(root_), 1);
}

TEST_F(QuotaTest, GarbageIsNone) {
  tree_.Write("proc/self/cgroup", "nonsense\n0::\n::::\n0:\n1:cpu:relative\n");
  tree_.Write("sys/fs/cgroup/cpu.max", "many of them");
  tree_.Write("sys/fs/cgroup/cpu.stat", "nr_periods few\n");
  EXPECT_EQ(QuotaCores(root_), 0);
  EXPECT_EQ(ReadThrottling(root_).periods, 0);
  tree_.Write("sys/fs/cgroup/cpu.max", "100000 0");
  EXPECT_EQ(QuotaCores(root_), 0);
}

TEST_F(QuotaTest, ThrottlingOfVersionTwo) {
  tree_.Write("proc/self/cgroup", "0::/a/b\n");
  tree_.Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  tree_.Write("sys/fs/cgroup/a/cpu.stat",
              "usage_usec 900\nnr_periods 40\nnr_throttled 7\nthrottled_usec 1234\n");
  tree_.Write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 900\nnr_periods 0\nnr_throttled 0\n");
  const Throttling throttling = ReadThrottling(root_);
  EXPECT_EQ(throttling.periods, 40);
  EXPECT_EQ(throttling.throttled_periods, 7);
  EXPECT_EQ(throttling.throttled_us, 1234);
}

TEST_F(QuotaTest, ThrottlingOfVersionOneIsInNanoseconds) {
  tree_.Write("proc/self/cgroup", "4:cpu:/\n");
  tree_.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  tree_.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  tree_.Write("sys/fs/cgroup/cpu/cpu.stat",
              "nr_periods 40\nnr_throttled 7\nthrottled_time 1234000\n");
  EXPECT_EQ(ReadThrottling(root_).throttled_us, 1234);
}

TEST(AffinityTest, ThisThreadRunsSomewhere) {
  const std::vector<int> cpus = AffinityCpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
}

}  // namespace
}  // namespace vivace
