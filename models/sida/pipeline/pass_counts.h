// What a pass has moved, used, kept and waited for (spec "What to count"). Entries are those of the matrix; lines are of the
// buffer (lifetimes.h); cycles are the accelerator's.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sida/pipeline/pass_memory.h"
#include "models/sida/pipeline/vector_lines.h"

namespace lacuna::sida {

/// What a step took its time for: the core that was busy all of it, or memory if none was.
enum class Bound : std::uint8_t { memory, os, ewise, is };
inline constexpr std::size_t kBounds = 4;

/// Cores, in the order of their counters.
enum class Core : std::uint8_t { os, ewise, is };
inline constexpr std::size_t kCores = 3;

/// Bytes of the buffer after a step.
struct BufferContent {
  std::uint64_t columns = 0;    ///< CSC space, requested columns included
  std::uint64_t converted = 0;  ///< columns from eagerly fetched rows
  std::uint64_t rows = 0;       ///< CSR space, reserved room and used entries that have not been dropped included
  LineBytes lines;

  std::uint64_t all() const { return columns + converted + rows + lines.all(); }
};

struct StepTrace {
  static constexpr std::int64_t kIdle = -1;
  std::uint64_t step = 0;
  Time begin = 0, end = 0;
  Time estimate = 0;                                                 ///< X
  std::array<std::int64_t, kCores> sub_tensor{kIdle, kIdle, kIdle};  ///< in each core
  std::uint64_t os_entries = 0, is_entries = 0;
  std::uint64_t r_given = 0, r_used = 0;            ///< entries
  std::uint64_t reloaded = 0;                       ///< entries
  std::uint64_t waiting = 0;                        ///< entries that wait for their row after the step
  std::array<std::uint64_t, kMemoryKinds> bytes{};  ///< requested in the step, read and written
  BufferContent buffer;
  Bound bound = Bound::memory;
};

struct PassCounts {
  std::array<std::uint64_t, kMemoryKinds> read_bytes{}, written_bytes{};
  std::uint64_t requests = 0;

  std::uint64_t entries = 0;                    ///< of the matrix
  std::uint64_t os_used = 0, is_used = 0;       ///< entries
  std::uint64_t fetched = 0;                    ///< entries: by column, eagerly and again
  std::uint64_t converted_to_rows = 0;          ///< entries kept for their row
  std::uint64_t converted_to_columns = 0;       ///< eagerly fetched entries kept for their column
  std::uint64_t discarded = 0;                  ///< eagerly fetched entries that were not the next of their column
  std::uint64_t evicted = 0, reloaded = 0;      ///< entries
  std::uint64_t repacks = 0, repack_moved = 0;  ///< moved: entries
  std::uint64_t r_given = 0, r_used = 0;        ///< entries, sums over the steps
  std::uint64_t conflicts = 0;                  ///< products of IS that met another of their group for their sum
  Time conflict_cycles = 0;
  LineCounts lines;

  std::uint64_t steps = 0;                     ///< the two of the drain included
  std::array<std::uint64_t, kBounds> bound{};  ///< steps
  std::array<Time, kCores> busy{}, stalled{};  ///< stalled: a core had work and waited for memory
  Time cycles = 0;                             ///< from the start of the pass until its last request is complete

  std::uint64_t sub_tensors = 0;
  std::uint64_t waiting_peak = 0, waiting_sum = 0;  ///< entries that wait after a step; sum over the steps with a sub-tensor
  std::uint64_t rows_peak = 0, rows_sum = 0;        ///< entries that the CSR space has room for: reserved and dead ones too
  std::uint64_t buffer_peak = 0, buffer_sum = 0;    ///< bytes after a step; sum over all steps

  /// Sums over passes; peaks are of the pass that has most.
  PassCounts& operator+=(const PassCounts& other);

  std::uint64_t read(MemoryKind kind) const { return read_bytes[static_cast<std::size_t>(kind)]; }
  std::uint64_t written(MemoryKind kind) const { return written_bytes[static_cast<std::size_t>(kind)]; }
  std::uint64_t bytes() const;
  double waiting_mean() const;  ///< entries; of the steps that Table 4.1 counts
  double rows_mean() const;
  double buffer_mean() const;  ///< bytes
  /// Share of a bandwidth of `bytes_per_cycle` that the pass has used.
  double utilisation(std::uint64_t bytes_per_cycle) const;
};

/// Conservation at the end of a pass: entries fetched = entries + reloads + discarded conversions, reloads = evictions, each
/// entry used once by OS and, with `has_is`, once by IS, nothing waiting. Throws std::logic_error with the counts.
void check_conservation(const PassCounts& counts, bool has_is, std::uint64_t left);

}  // namespace lacuna::sida
