// One pass of the sparse dataflow accelerator in counts, without values: the timing model sees nothing else of a program.
//
// A pass is a product by columns (output-stationary, "OS"), element-wise code on its result, and a product by rows
// (input-stationary, "IS") of the same matrix:
//
//   y = x A        OS walks the lines of `os`: line c is column c, its coordinates are elements of x
//   w = code(y)    E-wise, element by element
//   z = w A        IS walks the lines of `is`: line r is row r, its coordinates are elements of z
//
// An OS-only pass ends with w; an element-wise pass has w alone. For a pair (A, A^T), `same_lines`, both products walk the
// lines of `os`: z has then the length of x. Source: thesis, sections 4.3.2 and 4.4; spec "The idea".
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "models/sida/matrix/sparse_matrix.h"

namespace lacuna::sida {

/// A pass or its parameters cannot run; what() names the value and what is legal.
class PassError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// One storage order of the matrix. Line i has the coordinates offsets[i] to offsets[i + 1], which ascend. The spans must
/// outlive the pass.
struct LineOrder {
  std::span<const std::uint64_t> offsets;
  std::span<const Index> coordinates;

  std::uint64_t lines() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::uint64_t entries() const { return coordinates.size(); }
  std::uint64_t length(std::uint64_t line) const { return offsets[line + 1] - offsets[line]; }
  std::span<const Index> line(std::uint64_t i) const { return coordinates.subspan(offsets[i], length(i)); }
};

/// Code of the E-wise core, for one element of a vector.
struct ElementCode {
  unsigned read_bytes = 0;     ///< of the vectors that it reads
  unsigned written_bytes = 0;  ///< of the vectors that it writes to memory
  unsigned instructions = 0;
  unsigned reductions = 0;  ///< scalars that it reduces into
};

struct PassShape {
  LineOrder os;
  LineOrder is;  ///< of an OS-only pass and of a pair (A, A^T): may be empty
  bool same_lines = false;
  bool has_os = true;
  bool has_is = true;
  /// Load code reduces to scalars that the pass needs: all of x is loaded before OS begins.
  bool preload = false;
  /// False: load code computes x from no vector, so x costs E-wise's PEs and its lines of the buffer, but no reads.
  bool x_from_memory = true;

  unsigned entry_bytes = 12;                               ///< coordinate and value: 4 + 8 for f64; blocked: 2 + 8
  unsigned offset_bytes = 4;                               ///< 8 from 2^32 entries on
  std::uint64_t x_length = 0, y_length = 0, z_length = 0;  ///< elements; w has as many as y
  unsigned x_bytes = 8, w_bytes = 8, z_bytes = 8;          ///< of an element: features times element size
  unsigned products_per_entry = 1;                         ///< features
  unsigned products_per_pe = 1;                            ///< of a PE in a cycle; 4 for i8

  ElementCode load;    ///< computes x from the vectors that it reads; without them x itself is read
  ElementCode ewise;   ///< computes w from y
  ElementCode finish;  ///< runs on finished sums; its written_bytes has those of z

  /// Blocked storage: side of the blocks, 1 to 256; 0: plain. Values are read with their block (entry_bytes for each entry),
  /// the lists of blocks with the columns. Spec "Machine", blocked storage.
  unsigned block_side = 0;
  unsigned block_list_bytes = 8;  ///< coordinate and pointer of a block in one list

  std::uint64_t entries() const { return has_os ? os.entries() : 0; }
  /// The order in which IS walks.
  const LineOrder& is_order() const { return same_lines ? os : is; }
  /// Bytes read for one element of x.
  unsigned x_read_bytes() const { return load.read_bytes != 0 ? load.read_bytes : x_bytes; }
};

/// Throws PassError unless orders, lengths and sizes go together. Coordinates are not looked at: they must be below the
/// length of the vector that they index.
void validate(const PassShape& shape);

}  // namespace lacuna::sida
