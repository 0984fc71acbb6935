// Checks that the host supports the instructions of this build: x86-64-v3, if the build machine supported it
// (cmake/CompilerSettings.cmake).
//
// host_isa.cpp is compiled for the baseline x86-64 and linked directly into the program and into libhsakmt.so.1. Its
// constructor function runs before all other static initialisers there, which may already use AVX2: on a host without AVX2,
// the process ends with a message and the exit code kExitHostIsa instead of SIGILL.
#pragma once

#include <cstdint>

namespace lacuna {

/// Results of CPUID. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID.
struct HostIsa {
  std::uint32_t leaf_1_ecx = 0;
  std::uint32_t leaf_7_ebx = 0;
  std::uint32_t leaf_80000001_ecx = 0;
  /// XCR0: the register sets that the operating system saves; 0 without OSXSAVE.
  std::uint32_t saved_registers = 0;

  static HostIsa of_this_host();
};

/// The name of the first missing feature of x86-64-v3; null if none is missing. Source: System V ABI, AMD64 supplement,
/// micro-architecture levels.
const char* missing_of_x86_64_v3(const HostIsa& host);

}  // namespace lacuna
