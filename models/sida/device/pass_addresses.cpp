#include "models/sida/device/pass_addresses.h"

#include <algorithm>

namespace lacuna::sida {

PassAddresses::PassAddresses(const Program& program, const Pass& pass) {
  const auto arrays_of = [&program](const std::vector<std::uint16_t>& vectors) {
    Arrays arrays;
    for (const std::uint16_t v : vectors)
      arrays.push_back({program.vectors[v].address, program.bytes_of_element(v), program.vectors[v].length});
    return arrays;
  };
  load_ = arrays_of(pass.of(Phase::load).loads);
  ewise_read_ = arrays_of(pass.of(Phase::ewise).loads);
  ewise_written_ = arrays_of(pass.of(Phase::ewise).stores);
  finish_read_ = arrays_of(pass.of(Phase::finish).loads);
  finish_written_ = arrays_of(pass.of(Phase::finish).stores);
  if (!pass.has_os()) return;

  const lacuna_sida_pass& d = pass.description;
  const lacuna_sida_matrix& m = program.matrices[d.matrix];
  const bool blocked = m.layout == LACUNA_SIDA_BLOCKED, transposed = d.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED;
  const std::uint64_t value_bytes = m.has_values == 1 ? lacuna_sida_element_bytes(m.element) : 0;
  for (const bool is : {false, true}) {
    const bool by_rows = transposed != is;
    const lacuna_sida_order& order = by_rows ? m.by_rows : m.by_columns;
    Matrix& out = matrix_[is ? 1 : 0];
    out.offsets = {{order.offsets, m.offset_bytes, (by_rows ? m.rows : m.columns) + 1}};
    if (blocked) {
      out.entries = {{m.block_rows, 1, m.entries}, {m.block_columns, 1, m.entries}};
      out.blocks = {{order.coordinates, sizeof(std::uint32_t), m.blocks}, {order.values, sizeof(std::uint32_t), m.blocks}};
    } else {
      out.entries = {{order.coordinates, sizeof(std::uint32_t), m.entries}};
    }
    if (value_bytes != 0) out.entries.push_back({blocked ? m.block_values : order.values, value_bytes, m.entries});
  }
  // If E-wise (or finish) code stores no vector, w (or z) uses the addresses of the program's longest vector.
  const auto longest = [&] {
    const auto by_length = [&](const lacuna_sida_vector& a, const lacuna_sida_vector& b) { return a.length < b.length; };
    const auto most = std::max_element(program.vectors.begin(), program.vectors.end(), by_length);
    const auto v = static_cast<std::uint16_t>(most - program.vectors.begin());
    return Arrays{{most->address, program.bytes_of_element(v), most->length}};
  };
  w_ = !ewise_written_.empty() ? Arrays{ewise_written_.front()} : longest();
  z_ = !finish_written_.empty() ? Arrays{finish_written_.front()} : longest();
}

const PassAddresses::Arrays& PassAddresses::vectors(Operand operand, bool write) const {
  switch (operand) {
    case Operand::load:
      return load_;
    case Operand::ewise:
      return write ? ewise_written_ : ewise_read_;
    case Operand::finish:
      return write ? finish_written_ : finish_read_;
    case Operand::w:
      return w_;
    default:
      return z_;
  }
}

/// Appends, for each array, the address range of the request's elements; the request's offset counts the bytes of all arrays
/// together. A range beyond the end of a shorter array is moved back to that end.
void PassAddresses::append(const Arrays& arrays, const MemoryRequest& request, std::vector<AddressRange>& ranges) {
  std::uint64_t element_bytes = 0;
  for (const Array& array : arrays) element_bytes += array.element_bytes;
  if (element_bytes == 0) return;
  const std::uint64_t first = request.offset / element_bytes,
                      count = (request.offset + request.bytes + element_bytes - 1) / element_bytes - first;
  for (const Array& array : arrays) {
    const std::uint64_t n = std::min(count, array.length), from = std::min(first, array.length - n);
    if (n != 0) ranges.push_back({array.address + from * array.element_bytes, n * array.element_bytes});
  }
}

void PassAddresses::find(const MemoryRequest& request, bool write, std::vector<AddressRange>& ranges) const {
  if (request.operand != Operand::os_order && request.operand != Operand::is_order) {
    append(vectors(request.operand, write), request, ranges);
    return;
  }
  const Matrix& matrix = matrix_[request.operand == Operand::is_order ? 1 : 0];
  if (request.kind == MemoryKind::offsets) {
    append(matrix.offsets, request, ranges);
  } else if (request.kind == MemoryKind::csc && !matrix.blocks.empty()) {
    append(matrix.blocks, request, ranges);
  } else {
    append(matrix.entries, request, ranges);
  }
}

}  // namespace lacuna::sida
