#include "platform/host_isa.h"

#include <cpuid.h>
#include <unistd.h>
#include <cstring>

#include "platform/run/exit_codes.h"

// This file uses no templates of the standard library: the linker might take their code from object files that use instructions
// beyond the baseline.
namespace lacuna {
namespace {

constexpr std::uint32_t bit(unsigned number) { return std::uint32_t{1} << number; }

struct Feature {
  const char* name;
  std::uint32_t HostIsa::*leaf;
  std::uint32_t bits;
};

constexpr Feature kX86_64V3[] = {
    {"SSE4.2", &HostIsa::leaf_1_ecx, bit(20)},
    {"POPCNT", &HostIsa::leaf_1_ecx, bit(23)},
    {"FMA", &HostIsa::leaf_1_ecx, bit(12)},
    {"MOVBE", &HostIsa::leaf_1_ecx, bit(22)},
    {"AVX", &HostIsa::leaf_1_ecx, bit(28)},
    {"F16C", &HostIsa::leaf_1_ecx, bit(29)},
    {"BMI1", &HostIsa::leaf_7_ebx, bit(3)},
    {"AVX2", &HostIsa::leaf_7_ebx, bit(5)},
    {"BMI2", &HostIsa::leaf_7_ebx, bit(8)},
    {"LZCNT", &HostIsa::leaf_80000001_ecx, bit(5)},
    {"AVX registers in the operating system", &HostIsa::saved_registers, bit(1) | bit(2)},
};

#ifdef LACUNA_BUILT_FOR_X86_64_V3
void say(const char* text) {
  // A failure of this write cannot be reported anywhere.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

/// Runs before other static initialisers: 101 is the highest priority available to programs.
__attribute__((constructor(101))) void check_host() {
  const char* const missing = missing_of_x86_64_v3(HostIsa::of_this_host());
  if (missing == nullptr) return;
  say("lacuna: this build needs a processor with x86-64-v3 (AVX2, FMA); this one has no ");
  say(missing);
  say(". Build with -DLACUNA_X86_64_V3=OFF for it.\n");
  _exit(kExitHostIsa);
}
#endif

}  // namespace

HostIsa HostIsa::of_this_host() {
  HostIsa host;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) host.leaf_1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) host.leaf_7_ebx = ebx;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0) host.leaf_80000001_ecx = ecx;
  constexpr unsigned kOsxsave = 27;
  if ((host.leaf_1_ecx & bit(kOsxsave)) != 0) {
    unsigned high = 0;
    __asm__("xgetbv" : "=a"(host.saved_registers), "=d"(high) : "c"(0));
  }
  return host;
}

const char* missing_of_x86_64_v3(const HostIsa& host) {
  for (const Feature& feature : kX86_64V3)
    if ((host.*feature.leaf & feature.bits) != feature.bits) return feature.name;
  return nullptr;
}

}  // namespace lacuna
