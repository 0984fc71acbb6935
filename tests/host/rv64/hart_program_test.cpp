// Runs a self-checking program on the hart: traps, U mode, interrupts, atomics, floating point, counters, semihosting.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/hart_environment.h"

namespace lacuna::test {
namespace {

TEST(HartProgram, SelfTest) {
  const auto root = std::filesystem::path(testing::TempDir()) / "lacuna_hart_program_test";
  std::filesystem::create_directories(root);

  HartEnvironment environment("environment", {});
  environment.load(LACUNA_SELFTEST_IMAGE);
  SemihostingParameters semihosting;
  semihosting.root = root;
  semihosting.command_line = "selftest one two";
  environment.hart.attach_semihosting(semihosting);
  sc_core::sc_start();

  EXPECT_EQ(environment.exits, 1u);
  EXPECT_EQ(environment.exit_code, 0);
  EXPECT_TRUE(environment.hart.halted());
  EXPECT_EQ(
      environment.console,
      "ok traps\nok user_mode\nok interrupts\nok atomics\nok floating_point\nok code_modification\nok counters\nok files\n");
  const HartStatistics& s = environment.hart.statistics();
  EXPECT_GT(s.instructions, 100'000u);
  EXPECT_GE(s.interrupts, 10u);
  EXPECT_GE(s.exceptions, 35u);
  EXPECT_GE(s.waiting, Tick{4'990'000'000});  // the wfi test sleeps for 5 ms
  EXPECT_LT(s.waiting, Tick{5'100'000'000});
  EXPECT_GE(s.bus_errors, 4u);
  EXPECT_GT(s.semihosting_calls, 100u);
  EXPECT_FALSE(std::filesystem::exists(root.parent_path() / "outside.txt"));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace lacuna::test
