#include "models/sida/machine/energy_counts.h"

#include <vector>

namespace lacuna::sida {
namespace {

bool multiplies(int semiring) {
  return semiring == LACUNA_SIDA_MUL_ADD || semiring == LACUNA_SIDA_PLUS_NORM || semiring == LACUNA_SIDA_MIN_MUL ||
         semiring == LACUNA_SIDA_MAX_MUL;
}

}  // namespace

void PeOperations::operator+=(const PeOperations& other) {
  int32 += other.int32;
  mul32 += other.mul32;
  f32 += other.f32;
  f32_fma += other.f32_fma;
  f64 += other.f64;
  f64_fma += other.f64_fma;
  transcendental += other.transcendental;
  transcendental_f64 += other.transcendental_f64;
}

void PeOperations::add(int operation, int element, std::uint64_t times) {
  if (operation == LACUNA_SIDA_OPERATION_LOAD || operation == LACUNA_SIDA_OPERATION_STORE) return;
  const bool slow = operation == LACUNA_SIDA_OPERATION_DIVIDE || operation == LACUNA_SIDA_OPERATION_SQUARE_ROOT;
  const bool product = operation == LACUNA_SIDA_OPERATION_MULTIPLY;
  if (element == LACUNA_SIDA_F64) {
    (slow ? transcendental_f64 : f64) += times;
  } else if (element == LACUNA_SIDA_F32) {
    (slow ? transcendental : f32) += times;
  } else if (slow) {
    transcendental += times;
  } else {
    const std::uint64_t words = element == LACUNA_SIDA_I64 ? 2 : 1;
    (product ? mul32 : int32) += (product ? words * words : words) * times;
  }
}

void PeOperations::add_products(int semiring, int element, std::uint64_t products) {
  if (semiring == LACUNA_SIDA_PLUS_NORM) add(LACUNA_SIDA_OPERATION_SUBTRACT, element, products);
  if (!multiplies(semiring)) {
    add(LACUNA_SIDA_OPERATION_ADD, element, 2 * products);
  } else if (element == LACUNA_SIDA_F64) {
    f64_fma += products;
  } else if (element == LACUNA_SIDA_F32) {
    f32_fma += products;
  } else if (element == LACUNA_SIDA_I8) {
    constexpr std::uint64_t kProductsOfBytes = 4;
    mul32 += products / kProductsOfBytes;
    int32 += products / kProductsOfBytes;
  } else {
    add(LACUNA_SIDA_OPERATION_MULTIPLY, element, products);
    add(LACUNA_SIDA_OPERATION_ADD, element, products);
  }
}

void EnergyCounts::operator+=(const EnergyCounts& other) {
  operations += other.operations;
  for (std::size_t k = 0; k < kBufferKinds; ++k) {
    buffer_read[k] += other.buffer_read[k];
    buffer_written[k] += other.buffer_written[k];
  }
  memory_read += other.memory_read;
  memory_written += other.memory_written;
}

PeOperations operations_of(const Program& program, const Pass& pass, const PassOutcome& outcome) {
  PeOperations operations;
  const auto add_code = [&](Phase phase) {
    const Code& code = pass.of(phase);
    const std::uint64_t elements = program.elements(pass, phase);
    std::vector<RegisterKind> registers(LACUNA_SIDA_MAX_REGISTERS);
    registers[0].width = pass.has_os() ? pass.description.width : 1;  // register 0 may hold the product's sum
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
      const lacuna_sida_instruction& instruction = code.instructions[i];
      if (instruction.operation == LACUNA_SIDA_OPERATION_DENSE) {
        const std::uint64_t products = elements * code.widths[i] * registers[instruction.a].width;
        operations.add_products(LACUNA_SIDA_MUL_ADD, instruction.type, products);
      } else {
        operations.add(instruction.operation, instruction.type, elements * code.widths[i]);
      }
      const bool has_register =
          instruction.operation != LACUNA_SIDA_OPERATION_STORE && instruction.operation != LACUNA_SIDA_OPERATION_REDUCE;
      if (has_register) registers[instruction.d].width = code.widths[i];
    }
  };
  add_code(Phase::load);
  if (!pass.has_os() || outcome.has_os) add_code(Phase::ewise);
  if (outcome.has_is) add_code(Phase::finish);
  if (!outcome.has_os) return operations;
  const lacuna_sida_pass& d = pass.description;
  const std::uint64_t products = program.matrices[d.matrix].entries * d.width;
  operations.add_products(d.os_semiring, d.element, products);
  if (outcome.has_is) operations.add_products(d.is_semiring, d.element, products);
  return operations;
}

EnergyCounts energy_counts(const PassShape& shape, const PassCounts& counts, unsigned line_bytes) {
  EnergyCounts energy;
  const std::uint64_t entry = shape.entry_bytes;
  energy.write(BufferKind::columns, (counts.fetched - counts.reloaded) * entry);
  energy.read(BufferKind::columns, counts.os_used * entry);
  energy.write(BufferKind::rows, (counts.converted_to_rows + counts.reloaded) * entry);
  energy.read(BufferKind::rows, counts.is_used * entry);
  energy.pass(BufferKind::rows, counts.repack_moved * entry);
  // If each line of x was fetched exactly once, counts elements instead of lines, as the last line may not be full.
  const std::uint64_t x_bytes = shape.x_length * shape.x_bytes;
  energy.write(BufferKind::x, counts.lines.x_refetched == 0 && counts.lines.x_fetched != 0
                                  ? x_bytes
                                  : (counts.lines.x_fetched + counts.lines.x_refetched) * line_bytes);
  energy.read(BufferKind::x, counts.os_used * shape.x_bytes);
  energy.pass(BufferKind::sums, counts.is_used * shape.z_bytes);
  if (shape.has_is) {
    energy.read(BufferKind::sums, shape.z_length * shape.z_bytes);
    energy.read(BufferKind::sums, counts.lines.sums_spilled * line_bytes);
    energy.write(BufferKind::sums, counts.lines.sums_read_back * line_bytes);
    energy.pass(BufferKind::vectors, shape.y_length * shape.w_bytes);  // w
    energy.read(BufferKind::vectors, counts.lines.w_spilled * line_bytes);
    energy.write(BufferKind::vectors, counts.lines.w_read_back * line_bytes);
  }
  if (shape.has_os) energy.pass(BufferKind::vectors, shape.y_length * shape.w_bytes);  // y
  // With load code, reads of kind x fetch the vectors from which the code computes x; otherwise they fetch x itself, counted
  // above.
  if (shape.load.instructions != 0) energy.pass(BufferKind::vectors, counts.read(MemoryKind::x));
  for (const MemoryKind kind : {MemoryKind::ewise_vectors, MemoryKind::outputs})
    energy.pass(BufferKind::vectors, counts.read(kind) + counts.written(kind));
  for (std::size_t k = 0; k < kMemoryKinds; ++k) {
    energy.memory_read += counts.read_bytes[k];
    energy.memory_written += counts.written_bytes[k];
  }
  return energy;
}

}  // namespace lacuna::sida
