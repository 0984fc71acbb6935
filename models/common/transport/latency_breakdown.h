// Breakdown of the time of memory requests by level.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/common/time/units.h"

namespace lacuna {

/// Levels to which latency is attributed, in the order in which a request reaches them.
enum class MemoryLevel : std::uint8_t { tlb, l1, noc, l2, dram, host_memory, count };
inline constexpr std::size_t kMemoryLevels = static_cast<std::size_t>(MemoryLevel::count);
/// Names of the levels in the output files.
inline constexpr std::array<std::string_view, kMemoryLevels> kMemoryLevelNames{"tlb", "l1", "noc", "l2", "dram", "host_memory"};

/// Breakdown of the time of one request. Targets add their times; the initiator of the request resets and reads the object.
struct LatencyBreakdown {
  std::array<Tick, kMemoryLevels> queueing{};
  std::array<Tick, kMemoryLevels> service{};
  Tick mshr{};       ///< part of the queueing time of caches that was spent waiting for an MSHR
  Tick injection{};  ///< part of the replies' queueing time in the network, spent in the injection queue of the memory's node

  /// Sets all times to 0, member by member: for an assignment of the whole object, the compiler would generate a string
  /// instruction whose start-up takes longer than all stores.
  void clear() {
    queueing = {};
    service = {};
    mshr = injection = {};
  }
  void set(MemoryLevel level, Tick waited, Tick served) {
    queueing[static_cast<std::size_t>(level)] = waited;
    service[static_cast<std::size_t>(level)] = served;
  }
  void add(MemoryLevel level, Tick waited, Tick served) {
    queueing[static_cast<std::size_t>(level)] += waited;
    service[static_cast<std::size_t>(level)] += served;
  }
  /// Total time of the request.
  Tick total() const {
    Tick sum{};
    for (std::size_t i = 0; i < queueing.size(); ++i) sum += queueing[i] + service[i];
    return sum;
  }
  /// Multiplies all times by `factor`.
  void scale(double factor) {
    const auto by_factor = [factor](Tick& time) {
      time.ps = static_cast<std::uint64_t>(std::llround(static_cast<double>(time.ps) * factor));
    };
    for (Tick& time : queueing) by_factor(time);
    for (Tick& time : service) by_factor(time);
    by_factor(mshr);
    by_factor(injection);
  }
  LatencyBreakdown& operator+=(const LatencyBreakdown& other) {
    // Element by element, as both operands have just been written element by element, and the host cannot forward such stores
    // to a vector load.
    const auto add = [](Tick& sum, Tick time) {
      asm("" : "+r"(time.ps));
      sum += time;
    };
    for (std::size_t i = 0; i < queueing.size(); ++i) {
      add(queueing[i], other.queueing[i]);
      add(service[i], other.service[i]);
    }
    add(mshr, other.mshr);
    add(injection, other.injection);
    return *this;
  }
};

}  // namespace lacuna
