#include "models/sida/machine/pass_shapes.h"

namespace lacuna::sida {
namespace {

unsigned bytes_of_vectors(const Program& program, const std::vector<std::uint16_t>& vectors) {
  std::uint64_t bytes = 0;
  for (const std::uint16_t vector : vectors) bytes += program.bytes_of_element(vector);
  return static_cast<unsigned>(bytes);
}

ElementCode code_of(const Program& program, const Code& code) {
  return {.read_bytes = bytes_of_vectors(program, code.loads),
          .written_bytes = bytes_of_vectors(program, code.stores),
          .instructions = static_cast<unsigned>(code.operations),
          .reductions = static_cast<unsigned>(code.reductions.size())};
}

}  // namespace

unsigned entry_bytes(const lacuna_sida_matrix& matrix) {
  const unsigned value = matrix.has_values == 1 ? lacuna_sida_element_bytes(matrix.element) : 0;
  return value + (matrix.layout == LACUNA_SIDA_BLOCKED ? 2 : static_cast<unsigned>(sizeof(Index)));
}

PassShape shape_of(const Program& program, const Pass& pass, const PassOutcome& outcome, const MatrixOrders& orders) {
  const lacuna_sida_pass& d = pass.description;
  PassShape shape;
  shape.has_os = pass.has_os();
  shape.has_is = outcome.has_is;
  shape.ewise = code_of(program, pass.of(Phase::ewise));
  shape.y_length = program.elements(pass, Phase::ewise);
  if (!pass.has_os()) return shape;
  const lacuna_sida_matrix& matrix = program.matrices[d.matrix];
  const bool os_transposed = d.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED, is_transposed = d.flags & LACUNA_SIDA_PASS_IS_TRANSPOSED;
  shape.same_lines = shape.has_is && os_transposed != is_transposed;
  shape.os = os_transposed ? orders.by_rows : orders.by_columns;
  if (shape.has_is && !shape.same_lines) shape.is = os_transposed ? orders.by_columns : orders.by_rows;
  shape.preload = pass.loads_first();
  shape.entry_bytes = entry_bytes(matrix);
  shape.offset_bytes = matrix.offset_bytes;
  shape.x_length = program.elements(pass, Phase::load);
  shape.z_length = shape.has_is ? program.elements(pass, Phase::finish) : 0;
  shape.x_bytes = shape.w_bytes = d.width * lacuna_sida_element_bytes(d.element);
  shape.z_bytes = d.width * lacuna_sida_element_bytes(lacuna_sida_sum_element(d.element));
  shape.products_per_entry = d.width;
  constexpr unsigned kProductsOfBytes = 4;  // "dp4a-like": thesis, section 4.6.2
  shape.products_per_pe = d.element == LACUNA_SIDA_I8 ? kProductsOfBytes : 1;
  shape.load = code_of(program, pass.of(Phase::load));
  shape.x_from_memory = shape.load.read_bytes != 0;
  if (shape.has_is) shape.finish = code_of(program, pass.of(Phase::finish));
  shape.block_side = matrix.layout == LACUNA_SIDA_BLOCKED ? matrix.block_side : 0;
  return shape;
}

}  // namespace lacuna::sida
