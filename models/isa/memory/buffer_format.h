// Data formats of typed buffers: converts the bytes of a record to up to four 32-bit components and back. Semantics: GCN3 ISA
// manual, "Buffer resource descriptor" (DATA_FORMAT, NUM_FORMAT, DST_SEL). The name of a format lists its components from the
// highest bit down.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lacuna::isa {

/// Each component is the bits of a float, or of an integer if the number format is an integer format.
using Components = std::array<std::uint32_t, 4>;

struct BufferFormat {
  unsigned data = 0;    ///< DATA_FORMAT; 0 and 15 are invalid: loads return zeros, stores write nothing
  unsigned number = 0;  ///< NUM_FORMAT
  /// Sources of the register components x, y, z, w: 0 zero, 1 one, 4 to 7 the record's components.
  std::array<std::uint8_t, 4> select{4, 5, 6, 7};

  /// Format given by word 3 (the last word) of a buffer descriptor.
  static BufferFormat of_descriptor(std::uint32_t word);

  /// Bytes of a record, at most 16.
  unsigned bytes() const;
  bool is_integer() const { return number == 4 || number == 5; }
  Components unpack(const std::byte* record) const;
  /// Converts components to a record. Bits beyond an integer's width are dropped; normalised and scaled values are clamped,
  /// rounded to nearest even. Components of the record that no register component selects are zero.
  void pack(const Components& values, std::byte* record) const;
};

}  // namespace lacuna::isa
