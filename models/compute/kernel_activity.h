// Where the time of a kernel goes: of its wavefronts by cause, of its memory requests by level.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/common/latency_breakdown.h"
#include "models/common/units.h"
#include "models/isa/execution_profile.h"
#include "models/isa/instruction.h"

namespace lacuna {

inline constexpr unsigned kMaxWavefrontsPerWorkgroup = 16;  // 1024 work-items

/// What a resident wavefront does in a cycle: it issues an instruction, or the first of these that keeps it from doing so.
enum class WavefrontTime : std::uint8_t {
  issue,
  fetch,
  dependency,
  vmcnt,
  lgkmcnt,
  barrier,
  unit_busy,
  lds_conflict,
  mshr_full,
  queue_full,
  tlb,
  sleep,
  registers,
  zero_mask,
  matrix,
  count
};
inline constexpr std::size_t kWavefrontTimes = static_cast<std::size_t>(WavefrontTime::count);

struct WavefrontTimeText {
  std::string_view name;     ///< as in the output files
  std::string_view meaning;  ///< "the wavefront ...", Markdown
  std::string_view bound;    ///< what to say of a kernel whose wavefronts spend most of their time so
};
/// The one list that statistics, reports and documentation are made from.
constexpr std::array<WavefrontTimeText, kWavefrontTimes> kWavefrontTimeTexts{{
    {"issue", "issues an instruction", "the rate at which instructions issue"},
    {"fetch", "waits for the line of its next instruction", "instruction fetch"},
    {"dependency", "waits for its last instruction to leave the pipeline", "latency of its instructions"},
    {"vmcnt", "waits at `s_waitcnt vmcnt` for what memory takes when nothing else is in the way", "latency of vector memory"},
    {"lgkmcnt", "likewise for LDS and scalar memory", "latency of LDS and scalar memory"},
    {"barrier", "waits at `s_barrier`", "barriers"},
    {"unit_busy", "could issue, but the SIMD has another wavefront's turn or its vector ALU is busy",
     "vector ALUs and issue cycles taken by other wavefronts"},
    {"lds_conflict", "waits for LDS data that are late because lanes meet in a bank, or the LDS serves another wavefront",
     "LDS bank conflicts"},
    {"mshr_full", "waits for data whose miss had to wait for an MSHR", "L1 or L2 MSHRs all in use"},
    {"queue_full",
     "waits for data that queued for a port, link, bank or bus, or for a way of a cache that was being filled; or may not "
     "issue because a counter is at its limit",
     "queues for ports, links, banks and buses of the memory system"},
    {"tlb", "waits for data whose address was being translated", "address translation"},
    {"sleep", "sleeps (`s_sleep`)", "s_sleep"},
    {"registers",
     "waits for registers whose load was held until its next instruction (lazy cores), without what other causes say",
     "latency of loads that are made when their data are needed"},
    {"zero_mask", "waits for a zero cache to say whether the registers of its next instruction are zero", "zero caches"},
    {"matrix", "waits for the result of a matrix instruction (`mfma.interlock`)", "latency of matrix instructions"},
}};

/// What becomes of the vector loads and stores of lazy cores and zero caches (models/compute/lazy_unit.h), in transactions but
/// where the name says otherwise.
enum class LazyCount : std::uint8_t {
  loads_held,
  loads_eager,
  issued,
  suspended_issued,
  zero_block,
  zero_part,
  otimes,
  dead,
  lanes_differ,
  lanes_changed,
  zero_sent,
  zero_reads,
  zero_writes,
  writes_eliminated,
  count
};
inline constexpr std::size_t kLazyCounts = static_cast<std::size_t>(LazyCount::count);
using LazyCounts = std::array<std::uint64_t, kLazyCounts>;
struct LazyCountText {
  std::string_view name;  ///< as in the output files
  std::string_view unit;
  std::string_view meaning;
};
constexpr std::array<LazyCountText, kLazyCounts> kLazyCountTexts{{
    {"loads_held", "instructions", "loads that were held in their registers"},
    {"loads_eager", "instructions", "loads that were made at once, as their form or addresses do not fit into registers"},
    {"issued", "transactions", "sent for held loads when an instruction needed them"},
    {"suspended_issued", "transactions", "of these, had been suspended by an instruction whose other operand was zero"},
    {"zero_block", "transactions", "eliminated: all of their words are zero"},
    {"zero_part", "transactions", "eliminated: what the wavefront loads of them is zero, other words are not"},
    {"otimes", "transactions", "eliminated: their data would have been multiplied by zero, or ANDed with it, and nothing else"},
    {"dead", "transactions", "eliminated: nobody used their data"},
    {"lanes_differ", "lanes", "whose result would differ without the eliminated operand, by NaN, infinity or the sign of zero"},
    {"lanes_changed", "lanes", "of held loads for which memory had changed when they were sent (`lazy.check`)"},
    {"zero_sent", "transactions", "of loads made at once whose data a zero cache knew (`eager_zero`)"},
    {"zero_reads", "transactions", "asked of the L1 zero cache"},
    {"zero_writes", "transactions", "of masks that stores and atomics wrote"},
    {"writes_eliminated", "transactions", "of stores that were not sent: all that they store is zero, which their masks say"},
}};

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
  matrix,   ///< matrix units: cycles that a unit executed
  count
};
inline constexpr std::size_t kResources = static_cast<std::size_t>(Resource::count);
struct ResourceText {
  std::string_view name;   ///< as in the output files
  std::string_view title;  ///< in reports
};
constexpr std::array<ResourceText, kResources> kResourceTexts{{{"slots", "wavefront slots"},
                                                               {"compute", "vector ALUs"},
                                                               {"l1", "L1 bandwidth"},
                                                               {"l2", "L2 bandwidth"},
                                                               {"noc", "NoC bandwidth"},
                                                               {"dram", "DRAM bandwidth"},
                                                               {"matrix", "matrix units"}}};
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
  std::array<std::uint64_t, isa::kUnits> issued{};
  /// Of the requests of vector and scalar loads: their number, time from compute unit to answer, and what that consists of.
  std::uint64_t requests = 0;
  Tick request_time{};
  LatencyBreakdown latency;
  LazyCounts lazy{};
  /// Passes of matrix instructions by operation (isa::kMatrixOperationTexts).
  std::array<std::uint64_t, isa::kMatrixOperations> matrix_passes{};
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
    for (std::size_t i = 0; i < kLazyCounts; ++i) lazy[i] += other.lazy[i];
    for (std::size_t i = 0; i < isa::kMatrixOperations; ++i) matrix_passes[i] += other.matrix_passes[i];
    for (std::size_t i = 0; i < kResources; ++i) {
      used[i] += other.used[i];
      available[i] += other.available[i];
    }
    return *this;
  }
};

}  // namespace lacuna
