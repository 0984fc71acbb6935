// Breakdown of a kernel's time: wavefront cycles by stall cause, memory request time by level.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/common/config/extension_texts.h"
#include "models/common/time/units.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/isa/analysis/execution_profile.h"
#include "models/isa/decode/instruction.h"

namespace lacuna {

inline constexpr unsigned kMaxWavefrontsPerWorkgroup = 16;  // 1024 work-items

/// Cause that a cycle of a resident wavefront is charged to: the issue of an instruction, or the cause that prevents it.
enum class StallCause : std::uint8_t {
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
  extension,  ///< the first of kMostExtensionCauses causes of research machines (models/common/config/extension_texts.h)
  matrix = extension + kMostExtensionCauses,
  count
};
inline constexpr std::size_t kStallCauses = static_cast<std::size_t>(StallCause::count);

/// Texts of the causes that every machine has; those of extensions are empty.
constexpr std::array<StallText, kStallCauses> kStallTexts{{
    {"issue", "issues an instruction", "the rate at which instructions issue",
     "fewer instructions (unrolled loops, wider loads), more compute units (`gpu.shader_arrays`)"},
    {"fetch", "waits for the line of its next instruction", "instruction fetch",
     "smaller code; `l1i.size`, fewer compute units for each instruction cache"},
    {"dependency", "waits for its last instruction to leave the pipeline", "latency of its instructions",
     "more wavefronts for each SIMD (fewer registers, less LDS, a larger grid), `cu.lanes_per_simd`, `cu.valu_decode_cycles`"},
    {"vmcnt", "waits at `s_waitcnt vmcnt` for the unloaded latency of memory", "latency of vector memory",
     "more wavefronts for each SIMD, loads issued earlier (prefetch, unrolling), `l1v.size`, `l2.size`, latencies of the "
     "levels in "
     "`load_requests`"},
    {"lgkmcnt", "likewise for LDS and scalar memory", "latency of LDS and scalar memory",
     "more wavefronts for each SIMD, LDS reads issued earlier, `cu.lds_latency`, `l1s.size`"},
    {"barrier", "waits at `s_barrier`", "barriers",
     "fewer barriers, smaller workgroups, more workgroups for each compute unit; equal work for all wavefronts of a workgroup"},
    {"unit_busy", "could issue, but the SIMD has another wavefront's turn or its vector ALU is busy",
     "vector ALUs and issue cycles taken by other wavefronts",
     "fewer vector instructions, more compute units, `cu.lanes_per_simd`, divisors of slow instructions "
     "(`cu.f64_rate_divisor`)"},
    {"lds_conflict", "waits for LDS data that are late because lanes access the same bank, or the LDS serves another wavefront",
     "LDS bank conflicts",
     "another layout in LDS (padding of rows), wider LDS reads, data in registers; `cu.lds_conflicts = false` shows the part "
     "due to "
     "conflicts"},
    {"mshr_full", "waits for data whose miss had to wait for an MSHR", "L1 or L2 MSHRs all in use",
     "`l1v.mshrs`, `l2.mshrs`, fewer misses (`l1v.size`, blocking), coalesced accesses"},
    {"queue_full",
     "waits for data that queued for a port, link, bank or bus, or for a way of a cache that was being filled; or may not "
     "issue because a counter is at its limit",
     "queues for ports, links, banks and buses of the memory system",
     "the level with the most `LEVEL_queueing_ps`: `l1v.ports`, `noc.width`, `l2.banks`, `gpu.memory_partitions`; for DRAM its "
     "row "
     "conflicts, `dram.address_map` and `gpu.partition_hash`"},
    {"tlb", "waits for data whose address was being translated", "address translation",
     "larger pages (`l1_tlb.page`), `l1_tlb.entries`, `l2_tlb.entries`, accesses that stay within a page"},
    {"sleep", "sleeps (`s_sleep`)", "s_sleep", "what the program waits for when it sleeps"},
    {},
    {},
    {},
    {},
    {"matrix", "waits for the result of a matrix instruction (`mfma.interlock`)", "latency of matrix instructions",
     "more independent products for each wavefront, more wavefronts, `cu.mfma_pass_cycles`"},
}};
/// Text of a cause, by number; null: no machine has registered it.
inline const StallText* stall_text(std::size_t cause) {
  constexpr auto kFirst = static_cast<std::size_t>(StallCause::extension);
  if (cause >= kFirst && cause < kFirst + kMostExtensionCauses) return extension_cause(cause - kFirst);
  return &kStallTexts[cause];
}
/// A cause of a research machine. `number`: its number among the causes of all research machines.
constexpr StallCause extension_stall(std::size_t number) {
  return static_cast<StallCause>(static_cast<std::size_t>(StallCause::extension) + number);
}

/// Counts of research machines (models/common/config/extension_texts.h).
using ExtensionCounts = std::array<std::uint64_t, kMostExtensionCounts>;

/// Cycles of the wavefronts with the same number in their workgroups: in many programs the number determines their role.
struct WavefrontClass {
  std::array<std::uint64_t, kStallCauses> cycles{};  ///< indexed by StallCause
  std::uint64_t wavefronts = 0;
  /// Cycles from launch to end, counted independently: must equal the sum of `cycles`.
  std::uint64_t resident = 0;

  /// Multiplies all cycles by `factor`.
  void scale(double factor) {
    for (std::uint64_t& c : cycles) c = scaled(c, factor);
    resident = scaled(resident, factor);
  }
  static std::uint64_t scaled(std::uint64_t count, double factor) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * factor));
  }
  WavefrontClass& operator+=(const WavefrontClass& other) {
    for (std::size_t i = 0; i < kStallCauses; ++i) cycles[i] += other.cycles[i];
    wavefronts += other.wavefronts;
    resident += other.resident;
    return *this;
  }
  std::uint64_t operator[](StallCause t) const { return cycles[static_cast<std::size_t>(t)]; }
};

/// Resources that may bound a kernel, with the unit in which their use is counted.
enum class Resource : std::uint8_t {
  slots,    ///< wavefront slots: cycles for which a slot held a wavefront
  compute,  ///< vector ALUs: busy cycles of the SIMDs
  l1,       ///< L1 vector caches: bytes of their accesses
  l2,       ///< L2 banks: bytes of their accesses
  noc,      ///< network: bytes through the ports of the L2 banks, in both directions
  dram,     ///< DRAM: bytes transferred
  matrix,   ///< matrix units: busy cycles
  count
};
inline constexpr std::size_t kResources = static_cast<std::size_t>(Resource::count);
struct ResourceText {
  std::string_view name;    ///< name in the output files
  std::string_view title;   ///< name in reports
  std::string_view remedy;  ///< Markdown text: changes to try on a kernel that the resource bounds
};
constexpr std::array<ResourceText, kResources> kResourceTexts{
    {{"slots", "wavefront slots", ""},
     {"compute", "vector ALUs",
      "fewer or cheaper instructions, more compute units (`gpu.shader_arrays`), `cu.lanes_per_simd`, matrix units"},
     {"l1", "L1 bandwidth",
      "wider, coalesced accesses, reuse in registers and LDS, `l1v.ports`, `l1v.banks`, `gpu.cus_per_l1v`"},
     {"l2", "L2 bandwidth", "reuse in L1 and LDS, `l1v.size`, `l2.banks`, `l2.ports`, `gpu.memory_partitions`"},
     {"noc", "NoC bandwidth", "reuse in L1 and LDS, `l1v.size`, `noc.width`, `gpu.memory_partitions`"},
     {"dram", "DRAM bandwidth",
      "reuse in L2 (`l2.size`, blocking), smaller data types, `dram.clock`, `gpu.memory_partitions`, another kind of "
      "DRAM (`--config dram/hbm2e`)"},
     {"matrix", "matrix units", "more compute units, a narrower type, `cu.mfma_pass_cycles`"}}};
using ResourceAmounts = std::array<std::uint64_t, kResources>;

/// Outcomes of requests in L2 and DRAM.
enum class MemoryCount : std::uint8_t { l2_reads, l2_read_hits, dram_row_hits, dram_row_empty, dram_row_conflicts, count };
inline constexpr std::size_t kMemoryCounts = static_cast<std::size_t>(MemoryCount::count);
struct MemoryCountText {
  std::string_view name;  ///< name in the output files
  std::string_view meaning;
};
constexpr std::array<MemoryCountText, kMemoryCounts> kMemoryCountTexts{
    {{"l2_reads", "reads of L2 sectors"},
     {"l2_read_hits", "of these, the L2 had the sector"},
     {"dram_row_hits", "DRAM bursts whose row was open in their bank"},
     {"dram_row_empty", "DRAM bursts whose bank had no open row"},
     {"dram_row_conflicts", "DRAM bursts whose bank had another row open, which was closed first"}}};
using MemoryCounts = std::array<std::uint64_t, kMemoryCounts>;

/// The device's resources: the amounts used since the creation of the device, and the amounts available in a number of core
/// clock cycles.
class ResourceMeter {
 public:
  virtual ~ResourceMeter() = default;
  virtual ResourceAmounts used() const = 0;
  virtual ResourceAmounts available(Cycles cycles) const = 0;
  /// Maximum number of bytes that DRAM can transfer, given its command rate and burst size; at most the available() bytes of
  /// its data buses.
  virtual std::uint64_t reachable_dram_bytes(Cycles cycles) const = 0;
  /// Outcomes of the device's requests in L2 and DRAM since its creation, except those of bulk copies.
  virtual MemoryCounts memory_counts() const = 0;
};

/// Kinds of line requests of loads. Scalar requests are classified by address: those to the pages of the kernel's arguments and
/// packet load arguments; all others load data, which machines without a scalar unit load into vector registers.
enum class LoadKind : std::uint8_t { vector, scalar_data, scalar_arguments, count };
inline constexpr std::size_t kLoadKinds = static_cast<std::size_t>(LoadKind::count);
/// Names in the output files.
inline constexpr std::array<std::string_view, kLoadKinds> kLoadKindNames{"vector", "scalar_data", "scalar_arguments"};

/// Sources of the data of line requests. Requests that neither from_l2 nor from_memory counts were served by a first-level
/// cache that held the line or had already requested it.
struct LoadSources {
  std::uint64_t requests = 0;
  std::uint64_t from_l2 = 0;      ///< number of requests whose line the L2 held or had already requested
  std::uint64_t from_memory = 0;  ///< number of requests whose data came from DRAM or host memory

  LoadSources& operator+=(const LoadSources& other) {
    requests += other.requests;
    from_l2 += other.from_l2;
    from_memory += other.from_memory;
    return *this;
  }
};

/// Cycles for which vector memory instructions have waited before they could be performed. Several instructions may wait at the
/// same time.
struct VectorMemoryWaits {
  std::uint64_t address_unit = 0;  ///< for the address unit, which performed others
  std::uint64_t counter = 0;       ///< for vmcnt, which was at its limit: the instruction could not issue
};

struct KernelActivity {
  /// Indexed by a wavefront's number in its workgroup; no longer than the largest number requires.
  std::vector<WavefrontClass> classes;
  std::array<std::uint64_t, isa::kUnits> issued{};  ///< instructions issued, by isa::Unit
  std::uint64_t requests = 0;                       ///< number of requests of vector and scalar loads
  Tick request_time{};                              ///< time from creation to response, summed over `requests`
  LatencyBreakdown latency;                         ///< breakdown of request_time
  std::array<LoadSources, kLoadKinds> loads{};      ///< breakdown of `requests`, by LoadKind
  std::uint64_t scalar_data_dwords = 0;             ///< registers that loads of kind scalar_data fill
  VectorMemoryWaits vmem_waits;
  ExtensionCounts extension{};
  /// Passes of matrix instructions by operation (isa::kMatrixOperationTexts).
  std::array<std::uint64_t, isa::kMatrixOperations> matrix_passes{};
  // Resources of the whole device while the kernel ran; kernels that run concurrently share them.
  ResourceAmounts used{};
  ResourceAmounts available{};
  std::uint64_t reachable_dram_bytes = 0;  ///< maximum bytes that DRAM can transfer, at most available[Resource::dram]
  MemoryCounts memory{};

  /// The class of the wavefronts that have this number in their workgroups; the number is below kMaxWavefrontsPerWorkgroup. The
  /// reference is valid until a larger number is passed.
  WavefrontClass& wavefront_class(std::size_t number) {
    if (number >= classes.size()) classes.resize(number + 1);
    return classes[number];
  }
  WavefrontClass all() const {
    WavefrontClass sum;
    for (const WavefrontClass& c : classes) sum += c;
    return sum;
  }
  /// Multiplies cycles of wavefronts by `time`; multiplies counts and times of requests, passes, counts of research machines,
  /// used resources and memory counts by `work`. Instructions, wavefronts and available resources stay as they are.
  void scale(double time, double work) {
    for (WavefrontClass& c : classes) c.scale(time);
    const auto by_work = [work](std::uint64_t& count) { count = WavefrontClass::scaled(count, work); };
    by_work(requests);
    by_work(request_time.ps);
    latency.scale(work);
    for (LoadSources& sources : loads) {
      by_work(sources.requests);
      by_work(sources.from_l2);
      by_work(sources.from_memory);
    }
    by_work(scalar_data_dwords);
    by_work(vmem_waits.address_unit);
    by_work(vmem_waits.counter);
    for (std::uint64_t& count : extension) by_work(count);
    for (std::uint64_t& count : matrix_passes) by_work(count);
    for (std::uint64_t& amount : used) by_work(amount);
    for (std::uint64_t& count : memory) by_work(count);
  }
  KernelActivity& operator+=(const KernelActivity& other) {
    if (classes.size() < other.classes.size()) classes.resize(other.classes.size());
    for (std::size_t i = 0; i < other.classes.size(); ++i) classes[i] += other.classes[i];
    for (std::size_t i = 0; i < issued.size(); ++i) issued[i] += other.issued[i];
    requests += other.requests;
    request_time += other.request_time;
    latency += other.latency;
    for (std::size_t i = 0; i < kLoadKinds; ++i) loads[i] += other.loads[i];
    scalar_data_dwords += other.scalar_data_dwords;
    vmem_waits.address_unit += other.vmem_waits.address_unit;
    vmem_waits.counter += other.vmem_waits.counter;
    for (std::size_t i = 0; i < kMostExtensionCounts; ++i) extension[i] += other.extension[i];
    for (std::size_t i = 0; i < isa::kMatrixOperations; ++i) matrix_passes[i] += other.matrix_passes[i];
    for (std::size_t i = 0; i < kResources; ++i) {
      used[i] += other.used[i];
      available[i] += other.available[i];
    }
    reachable_dram_bytes += other.reachable_dram_bytes;
    for (std::size_t i = 0; i < kMemoryCounts; ++i) memory[i] += other.memory[i];
    return *this;
  }
};

}  // namespace lacuna
