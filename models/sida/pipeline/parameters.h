// Parameters of the pipeline, and values derived from them for a pass.
//
// Published: 1,024 PEs per core, 64 MB, 512 GB/s (thesis, section 4.5.1). No clock is given: at the spec's 1 GHz, 512 GB/s are
// 512 bytes per cycle. All times here are cycles of that clock.
//
// Sub-tensor (spec "Consequences"): the smallest power of two, at least 64 and a multiple of the block side, for which a mean
// sub-tensor has twice latency x bandwidth. In passes without a matrix the vectors are counted.
//
// CSC space (our choice): twice the largest sub-tensor, so that the next one can be loaded while one is used, but at least
// four times latency x bandwidth, and at most eight times latency x bandwidth or a sixteenth of the buffer. At least one
// entry, and no more than the smallest number of vector lines leaves. Smallest buffer (issue 39): a line each of x, w and z as
// far as the pass has them, and one entry.
#pragma once

#include <cstdint>
#include <optional>

#include "models/sida/pipeline/pass_shape.h"

namespace lacuna::sida {

enum class CsrReserve : std::uint8_t {
  element,  ///< an entry takes only its own space: what Table 4.1 counts
  row,      ///< the first waiting entry reserves space for all of its row (thesis, section 4.4.2)
};
enum class Prefetch : std::uint8_t {
  stream,  ///< loads columns as far ahead as the CSC space allows
  step,    ///< loads one sub-tensor ahead; a step begins when it has arrived (thesis, section 4.4.4)
};
/// Number of elements of row r that the CSR loader fetches at a time. T(i): elements of row i fetched so far.
enum class Balance : std::uint8_t {
  mean,     ///< at most sum(T(i), i = S..r) / (r - S + 1) elements, at least one
  printed,  ///< elements in columns c to c + sum(T(i), i = S..r) / r, where c is the next column of the row
};
enum class Eager : std::uint8_t { automatic, off };  ///< off: R is 0 in every step
/// Cost of several products of one cycle for the same sum.
enum class Scatter : std::uint8_t {
  serial,  ///< added one after the other: a cycle is repeated for each product of the sum that has the most
  tree,    ///< added in pairs within the network: ceil(log2) additional cycles
};

struct PipelineParameters {
  unsigned os_pes = 1024, ewise_pes = 1024, is_pes = 1024;  ///< thesis, section 4.5.1
  std::uint64_t buffer_bytes = std::uint64_t{64} << 20;     ///< thesis, section 4.5.1
  std::uint64_t bytes_per_cycle = 512;                      ///< memory bandwidth, for the estimator and for the default of T
  unsigned memory_latency = 150;                            ///< cycles, for the default of T (spec "Consequences")
  std::uint64_t sub_tensor = 0;  ///< T, columns; 0: the default, which depends on bandwidth and latency
  std::uint64_t csc_bytes = 0;   ///< CSC space; 0: the default
  /// Limit of the bytes of columns converted from eagerly fetched rows (our choice). 0: a quarter of the buffer. They never
  /// take space that vectors need in any step, nor space that CSR entries occupy when they are fetched.
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
  /// gives no number; row_store.h explains this one.
  double repack_threshold = 0.0625;
  /// Fixed capacity of the CSR space, independent of vectors, to compare with models without vectors.
  std::optional<std::uint64_t> fixed_csr_entries;
  bool trace = false;  ///< record a StepTrace of each step

  /// Twice latency x bandwidth, bytes.
  std::uint64_t double_latency() const { return std::uint64_t{2} * memory_latency * bytes_per_cycle; }
  std::uint64_t in_flight() const { return bytes_in_flight != 0 ? bytes_in_flight : double_latency(); }
};

/// Columns of a sub-tensor of the pass; for an element-wise pass, its elements by the rule above.
std::uint64_t sub_tensor_of(const PassShape& shape, const PipelineParameters& parameters);

/// Elements of a vector in a line of the buffer, which has at least the size of one element.
struct LineGeometry {
  std::uint64_t length = 0;  ///< length of the vector
  unsigned per_line = 1;     ///< elements
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

/// Throws PassError if parameters are invalid or do not fit the pass. For a buffer that is too small, the message states the
/// minimum size.
void validate(const PipelineParameters& parameters, const PassShape& shape);

}  // namespace lacuna::sida
