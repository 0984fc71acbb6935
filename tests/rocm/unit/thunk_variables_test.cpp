// Tests environment variables of ROCm's thunk: those that are ignored and named in a message, and the accepted values of
// HSA_OVERRIDE_GFX_VERSION.
#include "drivers/rocm/thunk_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "drivers/rocm/topology.h"
#include "platform/gfx_override.h"
#include "platform/run/run_parameters.h"

namespace lacuna::rocm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(ThunkVariables, AreNamedWhenTheyWouldChangeSomething) {
  EXPECT_THAT(ignored_thunk_variables(), IsEmpty());
  const Variable cache("HSA_DISABLE_CACHE", "1");
  const Variable frame_buffer("HSA_ZFB", "0");
  const Variable pages("HSA_SVM_GUARD_PAGES", "4");
  EXPECT_THAT(ignored_thunk_variables(),
              ElementsAre(HasSubstr("HSA_DISABLE_CACHE=1 has no effect: in ROCm's libhsakmt it maps"),
                          HasSubstr("HSA_SVM_GUARD_PAGES=4 has no effect")));
}

std::string problem(const char* value, const std::vector<isa::Target>& targets = {isa::Target::gfx90a}) {
  return gfx_override_problem(value, targets, "gpu.target");
}

TEST(GfxOverride, TheVersionOfTheGpuIsAccepted) {
  EXPECT_EQ(problem(nullptr), "");
  EXPECT_EQ(problem("9.0.10"), "");
  EXPECT_EQ(problem("8.0.3", {isa::Target::gfx803}), "");
  EXPECT_EQ(problem("9.0.10", {isa::Target::gfx90a, isa::Target::gfx90a}), "");
}

TEST(GfxOverride, VersionsOfOtherInstructionSetsAreRefused) {
  EXPECT_EQ(problem("10.3.0"),
            "HSA_OVERRIDE_GFX_VERSION=10.3.0 selects gfx1030, but GPU 0 executes gfx90a (gpu.target) and no other instruction "
            "set: unset it or set 9.0.10");
  EXPECT_EQ(problem("8.0.3"),
            "HSA_OVERRIDE_GFX_VERSION=8.0.3 selects gfx803, but GPU 0 executes gfx90a (gpu.target) and no other instruction "
            "set: unset it, or choose such GPUs by --set gpu.target=gfx803");
  EXPECT_THAT(problem("9.0.10", {isa::Target::gfx90a, isa::Target::gfx803}), HasSubstr("GPU 1 executes gfx803"));
  EXPECT_THAT(problem("9.0.0"), HasSubstr("selects gfx900,"));
}

TEST(GfxOverride, InvalidVersionsAreRefused) {
  for (const char* value : {"", "9", "9.0", "9.0.", "9.0.10.", "9.0.10x", "9.0.a", "gfx90a", "-9.0.10", "64.0.0", "9.256.0",
                            "9.0.256", "9..10", "99999999999.0.0"}) {
    EXPECT_THAT(problem(value),
                HasSubstr(": must be MAJOR.MINOR.STEPPING in decimal, at most 63.255.255 (gfx803 is 8.0.3, gfx90a "
                          "is 9.0.10), or unset"))
        << value;
  }
}

TEST(GfxOverride, IsCheckedByTheTopology) {
  const RunParameters parameters({{true, "tiny"}}, Machine::process);
  {
    const Variable version(kGfxOverride, "8.0.3");
    const HsaNodeProperties gpu = Topology(parameters.values()).properties(1);
    EXPECT_EQ(HSAuint32{gpu.EngineId.ui32.Major}, 8U);
    EXPECT_EQ(HSAuint32{gpu.EngineId.ui32.Stepping}, 3U);
  }
  const Variable version(kGfxOverride, "9.0.10");
  EXPECT_THROW(Topology(parameters.values()), std::invalid_argument);
}

}  // namespace
}  // namespace lacuna::rocm
