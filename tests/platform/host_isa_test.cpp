#include "platform/host_isa.h"

#include <gtest/gtest.h>

namespace lacuna {
namespace {

/// CPUID results of an AMD EPYC 7B12 (Zen 2), with bits as defined in Intel's and AMD's manuals; XCR0 has x87, SSE and AVX.
constexpr HostIsa kZen2{0x7ef8320b, 0x219c91a9, 0x75c237ff, 0x7};

TEST(HostIsa, AProcessorWithAvx2IsAccepted) { EXPECT_EQ(missing_of_x86_64_v3(kZen2), nullptr); }

TEST(HostIsa, MissingExtensionsAreNamed) {
  HostIsa ivy_bridge = kZen2;  // has AVX, but neither FMA nor AVX2
  ivy_bridge.leaf_1_ecx &= ~(1U << 12);
  ivy_bridge.leaf_7_ebx &= ~(1U << 5);
  EXPECT_STREQ(missing_of_x86_64_v3(ivy_bridge), "FMA");
  HostIsa without_avx2 = kZen2;
  without_avx2.leaf_7_ebx &= ~(1U << 5);
  EXPECT_STREQ(missing_of_x86_64_v3(without_avx2), "AVX2");
  HostIsa without_lzcnt = kZen2;
  without_lzcnt.leaf_80000001_ecx &= ~(1U << 5);
  EXPECT_STREQ(missing_of_x86_64_v3(without_lzcnt), "LZCNT");
  EXPECT_STREQ(missing_of_x86_64_v3({}), "SSE4.2");
}

TEST(HostIsa, AvxNeedsAnOperatingSystemThatSavesItsRegisters) {
  HostIsa sse_only = kZen2;
  sse_only.saved_registers = 0x3;
  EXPECT_STREQ(missing_of_x86_64_v3(sse_only), "AVX registers in the operating system");
}

TEST(HostIsa, ThisHostHasTheExtensionsOfTheBuild) {
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (has_v3) {
    EXPECT_EQ(missing_of_x86_64_v3(HostIsa::of_this_host()), nullptr);
  } else {
    EXPECT_NE(missing_of_x86_64_v3(HostIsa::of_this_host()), nullptr);
  }
}

}  // namespace
}  // namespace lacuna
