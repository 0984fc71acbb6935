// Addresses of data and trap handler of test programs for the hart's core.
#pragma once

#include <cstdint>

#include "tests/host/core_machine.h"

namespace lacuna::rv64 {

inline constexpr std::uint64_t kRam = Machine::kRam;
inline constexpr std::uint64_t kData = kRam + 0x1000;
inline constexpr std::uint64_t kHandler = kRam + 0x2000;
inline constexpr std::uint64_t kNowhere = 0x4000'0000;

/// Installs a trap handler that ends the run: wfi without a pending interrupt.
inline void install_handler(Machine& machine) {
  machine.core.csrs().mtvec = kHandler;
  machine.place(kHandler, {kWfi});
}

}  // namespace lacuna::rv64
