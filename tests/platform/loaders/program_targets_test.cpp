// Tests the messages about a program that has no code for a GPU. tests/rocm/missing_code.sh tests the reading of bundles from
// HIP programs.
#include "platform/loaders/program_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ProgramTargets, SentencesNameWhatFits) {
  const std::vector<FatBinary> both{{"a.out", {"gfx803", "gfx90a", "gfx1030"}}};
  EXPECT_THAT(missing_targets(both, {"gfx803", "gfx90a"}, "rocm.gpus"), IsEmpty());
  EXPECT_THAT(missing_targets({}, {"gfx803"}, "gpu.target"), IsEmpty());
  EXPECT_THAT(missing_targets({{"a.out", {"gfx90a", "gfx906"}}}, {"gfx803"}, "gpu.target"),
              ElementsAre("a.out has code for gfx906, gfx90a and none for gfx803, so that HIP will end it: --set "
                          "gpu.target=gfx90a fits"));
  EXPECT_THAT(missing_targets({{"a.out", {"gfx906"}}}, {"gfx803", "gfx90a", "gfx803"}, "rocm.gpus"),
              ElementsAre("a.out has code for gfx906 and none for gfx803, gfx90a, so that HIP will end it: compile it with "
                          "--offload-arch=gfx803 --offload-arch=gfx90a"));
  EXPECT_THAT(missing_targets({{"a.out", {}}, {"b.so", {"gfx803"}}}, {"gfx803"}, "gpu.target"),
              ElementsAre("a.out has code for no GPU and none for gfx803, so that HIP will end it: compile it with "
                          "--offload-arch=gfx803"));
}

TEST(ProgramTargets, OtherProgramsCarryNothing) {
  EXPECT_THAT(fat_binaries("/proc/self/exe"), IsEmpty());
  EXPECT_THAT(fat_binaries("/nowhere"), IsEmpty());
  EXPECT_THAT(fat_binaries("/"), IsEmpty());
  const std::string name = testing::TempDir() + "program_targets_" + std::to_string(getpid());
  for (const char* text : {"", "#!/bin/sh\nexit 0\n",
                           "\x7f"
                           "ELF\x02\x01\x01"}) {
    std::ofstream(name, std::ios::trunc) << text;
    EXPECT_THAT(fat_binaries(name), IsEmpty());
  }
  std::remove(name.c_str());
}

}  // namespace
}  // namespace lacuna
