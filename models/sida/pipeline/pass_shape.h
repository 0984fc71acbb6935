// Sizes and coordinates of one pass of the sparse dataflow accelerator, without values. The timing model needs nothing else
// from a program.
//
// A pass is a product by columns (output-stationary, "OS"), element-wise code on its result, and a product by rows
// (input-stationary, "IS") of the same matrix:
//
//   y = x A        OS walks the lines of `os`: line c is column c, its coordinates are elements of x
//   w = code(y)    E-wise, element by element
//   z = w A        IS walks the lines of `is`: line r is row r, its coordinates are elements of z
//
// An OS-only pass ends with w; an element-wise pass has w alone. For a pair (A, A^T), `same_lines`, both products walk the
// lines of `os`, and z has the length of x. Source: thesis, sections 4.3.2 and 4.4.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// Thrown if a pass or its parameters are invalid; what() states the value and the valid range.
class PassError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// One storage order of the matrix. Line i has the coordinates with indices [offsets[i], offsets[i + 1]), which ascend. The
/// spans must outlive the pass.
struct LineOrder {
  std::span<const std::uint64_t> offsets;
  std::span<const Index> coordinates;

  std::uint64_t lines() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::uint64_t entries() const { return coordinates.size(); }
  std::uint64_t length(std::uint64_t line) const { return offsets[line + 1] - offsets[line]; }
  std::span<const Index> line(std::uint64_t i) const { return coordinates.subspan(offsets[i], length(i)); }
};

/// Code of the E-wise core: instructions and bytes per element of a vector.
struct ElementCode {
  unsigned read_bytes = 0;     ///< bytes of all vectors that the code reads
  unsigned written_bytes = 0;  ///< bytes of all vectors that the code writes to memory
  unsigned instructions = 0;
  unsigned reductions = 0;  ///< number of scalars that the code reduces to
};

struct PassShape {
  LineOrder os;
  LineOrder is;  ///< may be empty for an OS-only pass and for a pair (A, A^T)
  bool same_lines = false;
  bool has_os = true;
  bool has_is = true;
  /// Load code reduces to scalars that the pass needs, so all of x is loaded before OS begins.
  bool preload = false;
  /// False: load code computes x without reading a vector, so x uses E-wise PEs and buffer lines but causes no reads.
  bool x_from_memory = true;

  unsigned entry_bytes = 12;                               ///< bytes of coordinate and value: 4 + 8 for f64; blocked: 2 + 8
  unsigned offset_bytes = 4;                               ///< bytes of an offset; 8 from 2^32 entries on
  std::uint64_t x_length = 0, y_length = 0, z_length = 0;  ///< number of elements; w has as many as y
  unsigned x_bytes = 8, w_bytes = 8, z_bytes = 8;          ///< bytes of an element: features times element size
  unsigned products_per_entry = 1;                         ///< number of features
  unsigned products_per_pe = 1;                            ///< products that a PE computes per cycle; 4 for i8

  ElementCode load;    ///< computes x from the vectors that it reads; x itself is read if there are none and x_from_memory
  ElementCode ewise;   ///< computes w from y
  ElementCode finish;  ///< runs on finished sums; written_bytes includes z

  /// Blocked storage: side of the blocks, 1 to 256; 0: storage without blocks. Values are read with their block (entry_bytes
  /// per entry), the lists of blocks with the columns.
  unsigned block_side = 0;
  unsigned block_list_bytes = 8;  ///< bytes of coordinate and number of a block in one list

  std::uint64_t entries() const { return has_os ? os.entries() : 0; }
  /// The order in which IS walks the matrix.
  const LineOrder& is_order() const { return same_lines ? os : is; }
  /// Bytes read for one element of x.
  unsigned x_read_bytes() const { return load.read_bytes != 0 ? load.read_bytes : x_bytes; }
};

/// Throws PassError if orders, lengths and sizes are inconsistent. Coordinates are not checked; they must be less than the
/// length of the vector that they index.
void validate(const PassShape& shape);

}  // namespace lacuna::sida
