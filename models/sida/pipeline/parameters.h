// Parameters of the pipeline, and values derived from them for a pass.
//
// Published: 1,024 PEs per core, 64 MB, 512 GB/s (thesis, section 4.5.1). No clock is given: at our choice of 1 GHz, 512 GB/s
// are 512 bytes per cycle. All times here are cycles of that clock.
//
// Columns of a sub-tensor (our choice): the smallest power of two, at least 64, for which the mean size of a sub-tensor is at
// least twice latency x bandwidth, or which is not less than the length of y. In passes without entries, the bytes of the
// vectors count instead. With blocks, the least common multiple of this number and the block side.
//
// CSC space (our choice): twice the largest sub-tensor, so that a sub-tensor can be loaded while another is used; at least
// eight times latency x bandwidth, and at most a sixteenth of the buffer. It has at least one entry, and leaves space for the
// smallest number of vector lines. Smallest buffer: one line each of x, w and z, as far as the pass has these vectors, and one
// entry.
#pragma once

#include <cstdint>
#include <optional>

#include "models/sida/pipeline/pass_shape.h"

namespace lacuna::sida {

enum class CsrReserve : std::uint8_t {
  element,  ///< an entry occupies only its own space, as counted in Table 4.1
  row,      ///< the first waiting entry reserves space for all of its row (thesis, section 4.4.2)
};
enum class Prefetch : std::uint8_t {
  stream,  ///< loads columns as far ahead as the CSC space allows
  step,    ///< loads one sub-tensor ahead; a step begins when its sub-tensor has arrived (thesis, section 4.4.4)
};
/// Number of entries of row r that the CSR loader fetches at a time. T(i): entries of row i fetched so far; S: last row that IS
/// has finished.
enum class Balance : std::uint8_t {
  mean,     ///< at most sum(T(i), i = S..r) / (r - S + 1) entries, at least one
  printed,  ///< entries in columns c to c + sum(T(i), i = S..r) / r, where c is the next column of the row
};
enum class Eager : std::uint8_t { automatic, off };  ///< off: R is 0 in every step
/// Cost of several products for the same sum in one cycle.
enum class Scatter : std::uint8_t {
  serial,  ///< added one after the other: m cycles, where m is the largest number of products for one sum
  tree,    ///< added in pairs within the network: ceil(log2 m) additional cycles
};

struct PipelineParameters {
  unsigned os_pes = 1024, ewise_pes = 1024, is_pes = 1024;  ///< PEs by core (thesis, section 4.5.1)
  std::uint64_t buffer_bytes = std::uint64_t{64} << 20;     ///< size of the buffer (thesis, section 4.5.1)
  std::uint64_t bytes_per_cycle = 512;                      ///< memory bandwidth, for the estimator and for default sizes
  unsigned memory_latency = 150;  ///< memory latency in cycles, for default sizes and for memory without a network (our choice)
  std::uint64_t sub_tensor = 0;   ///< T, columns of a sub-tensor; 0: the default, which depends on bandwidth and latency
  std::uint64_t csc_bytes = 0;    ///< capacity of the CSC space in bytes; 0: the default
  /// Limit of the bytes of columns converted from eagerly fetched rows (our choice). 0: a quarter of the buffer. Converted
  /// columns never use space that vectors need in any step, nor space that CSR entries occupy at the time of the fetch.
  std::uint64_t converted_bytes = 0;
  /// Limit of the bytes of columns in flight (our choice). 0: twice latency x bandwidth.
  std::uint64_t bytes_in_flight = 0;
  unsigned line_bytes = 128;  ///< size of the buffer's lines of x, w and z
  CsrReserve csr_reserve = CsrReserve::element;
  Prefetch prefetch = Prefetch::stream;
  Balance balance = Balance::mean;
  Eager eager = Eager::automatic;
  Scatter scatter = Scatter::serial;
  /// The CSR space is repacked when used entries exceed this share of it; 0: in each step, before anything else. The thesis
  /// gives no number; row_store.h explains the default.
  double repack_threshold = 0.0625;
  /// Fixed capacity of the CSR space in entries, independent of vectors, for comparison with models without vectors.
  std::optional<std::uint64_t> fixed_csr_entries;
  bool trace = false;  ///< record a StepTrace of each step

  /// Twice latency x bandwidth, in bytes.
  std::uint64_t double_latency() const { return std::uint64_t{2} * memory_latency * bytes_per_cycle; }
  std::uint64_t in_flight() const { return bytes_in_flight != 0 ? bytes_in_flight : double_latency(); }
};

/// Columns of a sub-tensor of the pass; for an element-wise pass, elements of a sub-tensor.
std::uint64_t sub_tensor_of(const PassShape& shape, const PipelineParameters& parameters);

/// Division of a vector into lines of the buffer. A line holds at least one element.
struct LineGeometry {
  std::uint64_t length = 0;  ///< length of the vector
  unsigned per_line = 1;     ///< elements per line
  unsigned bytes = 0;        ///< bytes of the buffer that a line occupies

  LineGeometry() = default;
  LineGeometry(std::uint64_t vector_length, unsigned element_bytes, unsigned line_bytes);
  Index lines() const { return static_cast<Index>((length + per_line - 1) / per_line); }
  Index line_of(std::uint64_t element) const { return static_cast<Index>(element / per_line); }
  std::uint64_t first_of(Index line) const { return std::uint64_t{line} * per_line; }
  /// Number of elements of a line; the last line may have fewer.
  unsigned elements_of(Index line) const {
    const std::uint64_t left = length - first_of(line);
    return left < per_line ? static_cast<unsigned>(left) : per_line;
  }
};

/// Size of the smallest buffer with which the pass can run, in bytes.
std::uint64_t smallest_buffer(const PassShape& shape, const PipelineParameters& parameters);

/// Capacity of the CSC space in bytes.
std::uint64_t csc_space_of(const PassShape& shape, const PipelineParameters& parameters);

/// Throws PassError if parameters are invalid or incompatible with the pass. For a buffer that is too small, the message states
/// the minimum size.
void validate(const PipelineParameters& parameters, const PassShape& shape);

}  // namespace lacuna::sida
