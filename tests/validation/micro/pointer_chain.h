// Measures the time of a load from the memory level that a chain of pointers fits into, by one work-item that follows the
// pointers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/validation/micro/machine.h"

namespace lacuna::validation {

/// A chain through all lines in random order: each line holds the byte offset of the next one.
struct PointerChain {
  PointerChain(unsigned lines, unsigned line_bytes) : bytes(line_bytes), table(lines * (bytes / 4)), order(lines - 1) {
    for (unsigned i = 0; i < order.size(); ++i) order[i] = i + 1;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    std::uint32_t at = 0;
    for (const std::uint32_t line : order) {
      table[at * (bytes / 4)] = line * bytes;
      at = line;
    }
  }
  /// Byte offset of the line that is reached after `hops` hops from the first line.
  std::uint32_t after(unsigned hops) const { return bytes * order[hops - 1]; }

  unsigned bytes;
  Words table;
  std::vector<std::uint32_t> order;
};

/// Parameters of a chain whose loads are all served by one memory level.
struct ChainLevel {
  const char* name;
  unsigned lines;
  unsigned warm_up;  ///< hops before the measurement, which fill caches or TLBs
  bool again;        ///< true: measures the warm-up's hops again; false: measures the hops after them
};

/// Number of measured hops.
inline constexpr unsigned kHops = 2048;

/// Latency of a load in nanoseconds, on a gfx90a machine.
inline double load_latency(Machine& machine, const ChainLevel& level, unsigned line_bytes) {
  const PointerChain chain(level.lines, line_bytes);
  const auto chase = [](unsigned first, unsigned hops) {
    return fmt::format("[dispatch chase]\ngrid = 64\narg = buf:table\narg = buf:last\narg = u32:{}\narg = u32:{}\n", first,
                       hops);
  };
  machine.launch(fmt::format("[code]\nfile = {}/memory_streams_gfx90a.co\n", kernels()) +
                     "[buffer table]\ncontents = in:table.bin\n[buffer last]\ncontents = zero:4\n" +
                     chase(0, level.warm_up + 1) + chase(level.again ? 0 : chain.after(level.warm_up), kHops),
                 {{"table", chain.table}});
  return machine.dispatch_times("chase").back() / kHops;
}

}  // namespace lacuna::validation
