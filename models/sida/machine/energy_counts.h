// Events that determine energy, on the accelerator, the roofline machine and the oracle: operations of PEs, and bytes of buffer
// and memory.
//
// Compute: a product and its addition to a sum are one multiply-add of floats, or a multiplication and an addition of integers,
// if the semiring multiplies, otherwise two simple operations. An element-wise instruction is one operation, except LOAD and
// STORE, which are none, and DENSE, which consists of products. A 64-bit integer counts as two operations of 32 bits, four if
// it is multiplied. An 8-bit product is a quarter of a 32-bit product (thesis, section 4.6.2, "dp4a-like").
//
// Buffer (our model; the thesis gives only a total): all data read from memory are written to the buffer before a core reads
// them, and all data written to memory are read from it.
//   columns    entries in OS order: written when they arrive, read by OS
//   rows       entries that are kept or loaded again for IS: written; IS reads each entry once, wherever it is; repacking reads
//              and writes the entries that it moves
//   x          lines are written when they are loaded; one element is read per entry
//   sums       a sum of IS is read and written for each product, and read when it is finished; sums of OS are in its adder tree
//   vectors    the result of OS, w, and all vectors that element-wise code loads or stores: written and read once
// On the roofline machine, each transfer of an operator's inputs or result is written and read once; x is counted as above.
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

/// Number of operations by kind; members correspond to those of ComputeEnergy.
struct PeOperations {
  std::uint64_t int32 = 0, mul32 = 0, f32 = 0, f32_fma = 0, f64 = 0, f64_fma = 0, transcendental = 0, transcendental_f64 = 0;

  void operator+=(const PeOperations& other);
  /// Adds `times` executions of an element-wise operation on elements of type `element`.
  void add(int operation, int element, std::uint64_t times);
  /// Adds products including their additions. `element`: type of the operands.
  void add_products(int semiring, int element, std::uint64_t products);
};

struct EnergyCounts {
  PeOperations operations;
  std::array<std::uint64_t, kBufferKinds> buffer_read{}, buffer_written{};  ///< bytes by BufferKind
  std::uint64_t memory_read = 0, memory_written = 0;                        ///< bytes read from and written to memory

  void operator+=(const EnergyCounts& other);
  void read(BufferKind kind, std::uint64_t bytes) { buffer_read[static_cast<std::size_t>(kind)] += bytes; }
  void write(BufferKind kind, std::uint64_t bytes) { buffer_written[static_cast<std::size_t>(kind)] += bytes; }
  /// Counts bytes that are written and read once.
  void pass(BufferKind kind, std::uint64_t bytes) { read(kind, bytes), write(kind, bytes); }
};

/// Operations of a pass with the given outcome.
PeOperations operations_of(const Program& program, const Pass& pass, const PassOutcome& outcome);

/// Bytes of a pass that the pipeline has simulated; operations are 0. `line_bytes`: size of the buffer's lines of vectors.
EnergyCounts energy_counts(const PassShape& shape, const PassCounts& counts, unsigned line_bytes);

}  // namespace lacuna::sida
