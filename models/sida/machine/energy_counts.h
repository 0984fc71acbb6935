// What the accelerator's energy is of: operations of PEs, bytes of the buffer, bytes of memory, for all three machines alike.
//
// Compute: a product of an entry and its addition to a sum is one multiply-add where the semiring multiplies, else two simple
// operations; an element-wise instruction is one operation. An 8-bit product is a quarter of one of 32 bits (thesis, section
// 4.6.2, "dp4a-like").
//
// Buffer (ours; the thesis has one number for all of it): all that memory brings is written into the buffer before a core reads
// it, and all that memory gets is read from it.
//   columns    entries by the order of OS: written when they arrive, read by OS
//   rows       entries that are kept or loaded again for IS: written; IS reads each entry once, wherever it is; repacking reads
//              and writes those that it moves
//   x          lines written when they are loaded, an element read for each entry
//   sums       a sum of IS is read and written for each product, read when it is finished; those of OS are in its adder tree
//   vectors    the result of OS and w: written and read once; all that element-wise code loads or stores: both
// On the roofline machine each operator's inputs are written and read, and so is its result; x as above.
#pragma once

#include <array>
#include <cstdint>

#include "models/sida/function/job.h"
#include "models/sida/pipeline/pass_counts.h"
#include "models/sida/pipeline/pass_shape.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

enum class BufferKind : std::uint8_t { columns, rows, x, sums, vectors };
inline constexpr std::size_t kBufferKinds = 5;
inline constexpr std::array<const char*, kBufferKinds> kBufferKindNames = {"columns", "rows", "x", "sums", "vectors"};

/// Operations by what one takes; members are those of ComputeEnergy.
struct PeOperations {
  std::uint64_t int32 = 0, mul32 = 0, f32 = 0, f32_fma = 0, f64 = 0, f64_fma = 0, transcendental = 0, transcendental_f64 = 0;

  void operator+=(const PeOperations& other);
  /// `times` of an element-wise operation on elements of that type.
  void add(int operation, int element, std::uint64_t times);
  /// Products with their additions. `element`: of the operands.
  void add_products(int semiring, int element, std::uint64_t products);
};

struct EnergyCounts {
  PeOperations operations;
  std::array<std::uint64_t, kBufferKinds> buffer_read{}, buffer_written{};  ///< bytes
  std::uint64_t memory_read = 0, memory_written = 0;                        ///< bytes

  void operator+=(const EnergyCounts& other);
  void read(BufferKind kind, std::uint64_t bytes) { buffer_read[static_cast<std::size_t>(kind)] += bytes; }
  void write(BufferKind kind, std::uint64_t bytes) { buffer_written[static_cast<std::size_t>(kind)] += bytes; }
  /// All of it is both written and read once.
  void pass(BufferKind kind, std::uint64_t bytes) { read(kind, bytes), write(kind, bytes); }
};

/// Operations of a pass that went as `outcome` says.
PeOperations operations_of(const Program& program, const Pass& pass, const PassOutcome& outcome);

/// A pass that the pipeline has timed. `line_bytes`: of the buffer's lines of vectors.
EnergyCounts energy_counts(const PassShape& shape, const PassCounts& counts, unsigned line_bytes);

}  // namespace lacuna::sida
