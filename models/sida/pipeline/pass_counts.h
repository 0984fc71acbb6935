// Counters of a pass: data moved, used and kept, and waiting times. "Entries" are entries of the matrix, "lines" are lines of
// the buffer (lifetimes.h), and cycles are those of the accelerator's clock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sida/pipeline/pass_memory.h"
#include "models/sida/pipeline/vector_lines.h"

namespace lacuna::sida {

/// Bottleneck of a step: the core that was busy during the whole step, or memory if no core was.
enum class Bound : std::uint8_t { memory, os, ewise, is };
inline constexpr std::size_t kBounds = 4;

/// Cores, in the order of their counters.
enum class Core : std::uint8_t { os, ewise, is };
inline constexpr std::size_t kCores = 3;

/// Contents of the buffer after a step, in bytes.
struct BufferContent {
  std::uint64_t columns = 0;    ///< columns in the CSC space, including those in flight
  std::uint64_t converted = 0;  ///< columns from eagerly fetched rows
  std::uint64_t rows = 0;       ///< CSR space, including reserved space and used entries not yet dropped
  LineBytes lines;

  std::uint64_t all() const { return columns + converted + rows + lines.all(); }
};

struct StepTrace {
  static constexpr std::int64_t kIdle = -1;
  std::uint64_t step = 0;
  Time begin = 0, end = 0;
  Time estimate = 0;                                                 ///< X, the estimated duration of the step in cycles
  std::array<std::int64_t, kCores> sub_tensor{kIdle, kIdle, kIdle};  ///< sub-tensor in each core
  std::uint64_t os_entries = 0, is_entries = 0;
  std::uint64_t r_given = 0, r_used = 0;            ///< R, and entries fetched eagerly
  std::uint64_t reloaded = 0;                       ///< entries loaded again
  std::uint64_t waiting = 0;                        ///< entries that wait for their row after the step
  std::array<std::uint64_t, kMemoryKinds> bytes{};  ///< bytes requested in the step, read and written
  BufferContent buffer;
  Bound bound = Bound::memory;
};

struct PassCounts {
  std::array<std::uint64_t, kMemoryKinds> read_bytes{}, written_bytes{};
  std::uint64_t requests = 0;

  std::uint64_t entries = 0;                    ///< entries of the matrix
  std::uint64_t os_used = 0, is_used = 0;       ///< entries used by OS and by IS
  std::uint64_t fetched = 0;                    ///< entries fetched: by column, eagerly and again
  std::uint64_t converted_to_rows = 0;          ///< entries kept until their row is used
  std::uint64_t converted_to_columns = 0;       ///< eagerly fetched entries kept until their column is used
  std::uint64_t discarded = 0;                  ///< conversions discarded because a lower row in the column was missing
  std::uint64_t evicted = 0, reloaded = 0;      ///< entries evicted and loaded again
  std::uint64_t repacks = 0, repack_moved = 0;  ///< number of repacks; entries that they moved
  std::uint64_t r_given = 0, r_used = 0;        ///< sums of R and of the entries fetched eagerly
  std::uint64_t conflicts = 0;                  ///< products of IS whose sum was already used in the same group
  Time conflict_cycles = 0;
  LineCounts lines;

  std::uint64_t steps = 0;                     ///< number of steps, including the drain steps
  std::array<std::uint64_t, kBounds> bound{};  ///< number of steps with each bottleneck
  std::array<Time, kCores> busy{}, stalled{};  ///< stalled: cycles in which a core had work and waited for memory
  Time cycles = 0;                             ///< duration from the beginning of the pass until its last request is complete

  std::uint64_t sub_tensors = 0;
  std::uint64_t waiting_peak = 0, waiting_sum = 0;  ///< waiting entries after a step; sum: over steps with a sub-tensor
  std::uint64_t rows_peak = 0, rows_sum = 0;        ///< occupied CSR space in entries (RowStore::space()); sum as above
  std::uint64_t buffer_peak = 0, buffer_sum = 0;    ///< bytes in the buffer after a step; sum: over all steps

  /// Adds counts; peaks become the maximum of both.
  PassCounts& operator+=(const PassCounts& other);

  std::uint64_t read(MemoryKind kind) const { return read_bytes[static_cast<std::size_t>(kind)]; }
  std::uint64_t written(MemoryKind kind) const { return written_bytes[static_cast<std::size_t>(kind)]; }
  std::uint64_t bytes() const;
  double waiting_mean() const;  ///< mean of waiting entries over the steps that Table 4.1 counts
  double rows_mean() const;
  double reuse() const;        ///< products per entry fetched; 0 without entries
  double buffer_mean() const;  ///< mean bytes in the buffer
  /// Share of a bandwidth of `bytes_per_cycle` that the pass used.
  double utilisation(std::uint64_t bytes_per_cycle) const;
};

/// Checks conservation at the end of a pass: entries fetched = entries + reloads + discarded conversions, reloads = evictions,
/// each entry used once by OS and, with `has_is`, once by IS, no entry waiting (`left` is 0). Throws std::logic_error with the
/// counts.
void check_conservation(const PassCounts& counts, bool has_is, std::uint64_t left);

}  // namespace lacuna::sida
