// Where the time of a kernel goes: of its wavefronts by cause, of its memory requests by level.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/common/latency_breakdown.h"
#include "models/common/units.h"
#include "models/isa/instruction.h"

namespace lacuna {

inline constexpr unsigned kMaxWavefrontsPerWorkgroup = 16;  // 1024 work-items

/// What a resident wavefront does in a cycle: it issues an instruction, or the first of these that keeps it from doing so.
enum class WavefrontTime : std::uint8_t {
  issue,         ///< an instruction issues
  fetch,         ///< the next instruction has not come yet
  dependency,    ///< its own last instruction is still in the pipeline
  vmcnt,         ///< s_waitcnt vmcnt: unloaded latency of vector memory
  lgkmcnt,       ///< s_waitcnt lgkmcnt: unloaded latency of LDS and scalar memory
  barrier,       ///< s_barrier: others have not arrived
  unit_busy,     ///< the SIMD serves another wavefront, or its vector ALU is busy
  lds_conflict,  ///< waits for LDS data that are late because lanes meet in a bank or the LDS serves others
  mshr_full,     ///< waits for data whose miss had to wait for an MSHR
  queue_full,    ///< waits for data that queued for a port, link, bank or bus, or to issue because a counter is at its limit
  tlb,           ///< waits for data whose address was being translated
  sleep,         ///< s_sleep
  count
};
inline constexpr std::size_t kWavefrontTimes = static_cast<std::size_t>(WavefrontTime::count);

/// Names as in the output files.
constexpr std::array<std::string_view, kWavefrontTimes> kWavefrontTimeNames{
    "issue",     "fetch",        "dependency", "vmcnt",      "lgkmcnt", "barrier",
    "unit_busy", "lds_conflict", "mshr_full",  "queue_full", "tlb",     "sleep"};

/// Cycles of the wavefronts that have the same place in their workgroups: programs give places roles.
struct WavefrontClass {
  std::array<std::uint64_t, kWavefrontTimes> cycles{};
  std::uint64_t wavefronts = 0;
  /// Cycles from launch to end, counted by themselves: what `cycles` must sum to.
  std::uint64_t resident = 0;

  WavefrontClass& operator+=(const WavefrontClass& other) {
    for (std::size_t i = 0; i < kWavefrontTimes; ++i) cycles[i] += other.cycles[i];
    wavefronts += other.wavefronts;
    resident += other.resident;
    return *this;
  }
  std::uint64_t operator[](WavefrontTime t) const { return cycles[static_cast<std::size_t>(t)]; }
};

/// What a kernel may be bounded by, each with how much of it there is.
enum class Resource : std::uint8_t {
  slots,    ///< wavefront slots: cycles that a wavefront was in one
  compute,  ///< vector ALUs: cycles that a SIMD executed
  l1,       ///< L1 vector caches: bytes of their accesses
  l2,       ///< likewise
  noc,      ///< bytes through the ports of the L2 banks, both ways
  dram,     ///< bytes
  count
};
inline constexpr std::size_t kResources = static_cast<std::size_t>(Resource::count);
constexpr std::array<std::string_view, kResources> kResourceNames{"slots", "compute", "l1", "l2", "noc", "dram"};
using ResourceAmounts = std::array<std::uint64_t, kResources>;

/// The device's resources: what was used since its beginning, and what there is in so many core clock cycles.
class ResourceMeter {
 public:
  virtual ~ResourceMeter() = default;
  virtual ResourceAmounts used() const = 0;
  virtual ResourceAmounts available(Cycles cycles) const = 0;
};

struct KernelActivity {
  /// By the wavefront's number in its workgroup.
  std::array<WavefrontClass, kMaxWavefrontsPerWorkgroup> classes{};
  std::array<std::uint64_t, static_cast<std::size_t>(isa::Unit::count)> issued{};
  /// Of the requests of vector and scalar loads: their number, time from compute unit to answer, and what that consists of.
  std::uint64_t requests = 0;
  Tick request_time{};
  LatencyBreakdown latency;
  /// Of the whole device while the kernel ran: kernels that run together share it.
  ResourceAmounts used{};
  ResourceAmounts available{};

  WavefrontClass all() const {
    WavefrontClass sum;
    for (const WavefrontClass& c : classes) sum += c;
    return sum;
  }
  KernelActivity& operator+=(const KernelActivity& other) {
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] += other.classes[i];
    for (std::size_t i = 0; i < issued.size(); ++i) issued[i] += other.issued[i];
    requests += other.requests;
    request_time += other.request_time;
    latency += other.latency;
    for (std::size_t i = 0; i < kResources; ++i) {
      used[i] += other.used[i];
      available[i] += other.available[i];
    }
    return *this;
  }
};

}  // namespace lacuna
