// IDs of the data in a workspace: positions with equal IDs hold the same element of the input.
//
// exact    pairs of image and element with element = (y X + x) P + channel for the padded input's row y and column x; X and P
//          are its width and its channels, rounded up to powers of two, so that products are shifts. There are as many
//          different IDs as elements of the padded input that filters reach.
// paper    as printed in sections III.B and III.C, with the channels corrected: columns are divided by F_h F_w C and F_w C.
//          Different elements get equal IDs if the input is not square or is padded, or if the stride exceeds 1.
// address  the position in the workspace: only equal addresses are equal data.
#pragma once

#include <bit>
#include <cstdint>

#include "models/duplo/lowered_convolution.h"

namespace lacuna {

enum class DatumIds : std::uint8_t { paper, exact, address };

/// Number of bits to represent the numbers below `count`, which is at least 1.
constexpr unsigned bits_for(std::uint64_t count) { return static_cast<unsigned>(std::bit_width(count - 1)); }

/// ID of an element of a workspace.
struct DatumId {
  std::uint32_t image = 0;
  std::uint32_t element = 0;
  bool operator==(const DatumId&) const = default;
};

class IdGenerator {
 public:
  /// Bits of an element's ID (section IV.B: an index of 10 bits and a tag of 22 bits).
  static constexpr unsigned kElementBits = 32;
  /// Number of bits of the convolution's exact IDs.
  static unsigned element_bits(const LoweredConvolution& convolution);

  /// The problem() of `convolution` must be nullopt.
  IdGenerator(const LoweredConvolution& convolution, DatumIds ids);

  /// ID of the element at a row < rows() and column < columns() of the workspace.
  DatumId id(std::uint64_t row, unsigned column) const;
  /// Number of low bits of an element's ID that are 0 in the first element of every tile that begins at a multiple of
  /// `columns`.
  unsigned zeros(unsigned columns) const;
  /// Number of divisors in the formulas that are not powers of two. Each requires a multiplication by its reciprocal instead of
  /// a shift; the paper assumes powers of two only.
  unsigned reciprocals() const;

  const LoweredConvolution& convolution() const { return convolution_; }

 private:
  DatumId exact_id(std::uint64_t row, unsigned column) const;
  DatumId printed_id(std::uint64_t row, unsigned column) const;

  LoweredConvolution convolution_;
  DatumIds ids_;
  unsigned output_height_;
  unsigned output_width_;
  unsigned positions_;
  unsigned filter_row_;    ///< number of elements in a row of the filter
  unsigned column_shift_;  ///< bit position of x in an exact ID
  unsigned row_shift_;     ///< bit position of y in an exact ID
};

}  // namespace lacuna
