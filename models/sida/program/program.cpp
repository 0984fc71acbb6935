#include "models/sida/program/program.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "models/sida/program/code_check.h"

namespace lacuna::sida {
namespace {

template <class T>
void read_table(const Memory& memory, std::uint64_t address, std::uint32_t count, std::vector<T>& table) {
  static_assert(std::is_trivially_copyable_v<T>);
  table.resize(count);
  memory.read(address, std::as_writable_bytes(std::span(table)));
}

void check_header(const lacuna_sida_program& header, std::uint64_t address) {
  if (header.magic != LACUNA_SIDA_MAGIC || header.version != LACUNA_SIDA_VERSION) {
    throw ProgramError(LACUNA_SIDA_ERROR_MAGIC, "magic and version are not those of a program of version 1", address);
  }
  const auto limited = [address](const char* what, std::uint32_t count, std::uint32_t most) {
    if (count > most) {
      throw ProgramError(LACUNA_SIDA_ERROR_SIZE,
                         std::to_string(count) + " " + what + ", at most " + std::to_string(most) + " are possible", address);
    }
  };
  limited("matrices", header.matrices, LACUNA_SIDA_MAX_MATRICES);
  limited("vectors", header.vectors, LACUNA_SIDA_MAX_VECTORS);
  limited("scalars", header.scalars, LACUNA_SIDA_MAX_SCALARS);
  limited("instructions", header.instructions, LACUNA_SIDA_MAX_INSTRUCTIONS);
  limited("passes", header.passes, LACUNA_SIDA_MAX_PASSES);
  limited("swaps", header.swaps, LACUNA_SIDA_MAX_VECTORS * LACUNA_SIDA_MAX_PASSES);
  if (header.passes == 0) throw ProgramError(LACUNA_SIDA_ERROR_SIZE, "a program without passes", address);
  const std::uint64_t bytes = lacuna_sida_tables_of(&header).end;
  if (header.bytes != bytes) {
    throw ProgramError(LACUNA_SIDA_ERROR_SIZE,
                       "the program has " + std::to_string(header.bytes) + " bytes, its counts make " + std::to_string(bytes),
                       address);
  }
  if (header.limit == 0) throw ProgramError(LACUNA_SIDA_ERROR_LOOP, "the limit of iterations is 0", address);
}

void check_matrix(const lacuna_sida_matrix& matrix, std::uint32_t number, std::uint64_t address) {
  const std::string name = "matrix " + std::to_string(number);
  const auto wrong = [&](lacuna_sida_error code, const std::string& what) {
    throw ProgramError(code, name + ": " + what, address);
  };
  if (matrix.layout != LACUNA_SIDA_DUAL && matrix.layout != LACUNA_SIDA_BLOCKED) {
    wrong(LACUNA_SIDA_ERROR_SIZE, "layout " + std::to_string(matrix.layout) + " is neither dual (0) nor blocked (1)");
  }
  if (matrix.has_values > 1) wrong(LACUNA_SIDA_ERROR_SIZE, "has_values is neither 0 nor 1");
  if (matrix.has_values == 1 && lacuna_sida_element_bytes(matrix.element) == 0) {
    wrong(LACUNA_SIDA_ERROR_ELEMENT, "unknown element " + std::to_string(matrix.element));
  }
  if (matrix.offset_bytes != sizeof(std::uint32_t) && matrix.offset_bytes != sizeof(std::uint64_t)) {
    wrong(LACUNA_SIDA_ERROR_SIZE, "offsets of " + std::to_string(matrix.offset_bytes) + " bytes; 4 and 8 are possible");
  }
  if (matrix.offset_bytes == sizeof(std::uint32_t) && std::max(matrix.entries, matrix.blocks) > UINT32_MAX) {
    wrong(LACUNA_SIDA_ERROR_SIZE, "offsets of 4 bytes for more than 2^32 - 1 entries");
  }
  constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 48;
  if (matrix.entries > kMostEntries) wrong(LACUNA_SIDA_ERROR_SIZE, "more than 2^48 entries");
  const bool blocked = matrix.layout == LACUNA_SIDA_BLOCKED;
  constexpr std::uint32_t kGreatestSide = 256;
  if (blocked ? matrix.block_side == 0 || matrix.block_side > kGreatestSide : matrix.block_side != 0) {
    wrong(LACUNA_SIDA_ERROR_SIZE,
          "blocks of side " + std::to_string(matrix.block_side) + "; of a blocked matrix 1 to 256, else 0");
  }
  if (blocked ? matrix.blocks > matrix.entries : matrix.blocks != 0) {
    wrong(LACUNA_SIDA_ERROR_SIZE, std::to_string(matrix.blocks) + " blocks of " + std::to_string(matrix.entries) + " entries");
  }
}

void check_vector(const lacuna_sida_vector& vector, std::uint32_t number, std::uint64_t address) {
  const std::string name = "vector " + std::to_string(number);
  if (lacuna_sida_element_bytes(vector.element) == 0) {
    throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, name + ": unknown element " + std::to_string(vector.element), address);
  }
  if (vector.width == 0 || vector.width > LACUNA_SIDA_MAX_WIDTH) {
    throw ProgramError(LACUNA_SIDA_ERROR_SIZE,
                       name + ": " + std::to_string(vector.width) + " features; 1 to 1,024 are possible", address);
  }
  constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;
  if (vector.length > kMostElements) {
    throw ProgramError(LACUNA_SIDA_ERROR_SIZE, name + ": more than 2^40 elements", address);
  }
}

/// Checks that successors and exits exist, that an exit only closes the program, and that every loop of passes counts
/// iterations, so that the iteration limit ends the loop.
void check_successors(const Program& program) {
  const auto passes = static_cast<std::uint32_t>(program.passes.size());
  constexpr std::uint32_t kCounts = LACUNA_SIDA_PASS_EWISE_COUNTS | LACUNA_SIDA_PASS_FINISH_COUNTS;
  for (std::uint32_t p = 0; p < passes; ++p) {
    const lacuna_sida_pass& pass = program.passes[p].description;
    if (pass.next != LACUNA_SIDA_NONE && pass.next >= passes) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "successor " + std::to_string(pass.next) + " does not exist", 0, p);
    }
    for (const std::uint16_t exit : {pass.load_exit, pass.ewise_exit, pass.finish_exit}) {
      if (exit == LACUNA_SIDA_NONE) continue;
      if (exit >= passes)
        throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "exit " + std::to_string(exit) + " does not exist", 0, p);
      const Pass& closing = program.passes[exit];
      if (closing.has_os() || closing.description.next != LACUNA_SIDA_NONE || (closing.description.flags & kCounts) != 0) {
        throw ProgramError(
            LACUNA_SIDA_ERROR_LOOP,
            "exit " + std::to_string(exit) + " is not an element-wise pass without successor that counts nothing", 0, p);
      }
    }
    // Follow passes that do not count iterations; if there are more steps than passes, they form a loop.
    std::uint32_t at = p, steps = 0;
    while (at != LACUNA_SIDA_NONE && at < passes && (program.passes[at].description.flags & kCounts) == 0) {
      if (++steps > passes)
        throw ProgramError(LACUNA_SIDA_ERROR_LOOP, "passes follow each other and never count an iteration", 0, p);
      at = program.passes[at].description.next;
    }
  }
}

void check_swaps(const Program& program) {
  for (std::uint32_t p = 0; p < program.passes.size(); ++p) {
    const lacuna_sida_pass& pass = program.passes[p].description;
    if (pass.first_swap > program.swaps.size() || pass.swaps > program.swaps.size() - pass.first_swap) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "swaps beyond the program's", 0, p);
    }
    for (std::uint32_t i = 0; i < pass.swaps; ++i) {
      const lacuna_sida_swap swap = program.swaps[pass.first_swap + i];
      if (swap.a >= program.vectors.size() || swap.b >= program.vectors.size()) {
        throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "a swap of a vector that does not exist", 0, p);
      }
      const lacuna_sida_vector &a = program.vectors[swap.a], &b = program.vectors[swap.b];
      if (a.length != b.length || a.width != b.width || a.element != b.element) {
        throw ProgramError(LACUNA_SIDA_ERROR_SHAPE,
                           "vectors " + std::to_string(swap.a) + " and " + std::to_string(swap.b) + " are swapped and differ",
                           0, p);
      }
    }
  }
}

struct Range {
  std::uint64_t begin, end;
  bool stored;
  std::string name;
};

/// Checks that all arrays are mapped, and that arrays to which passes store overlap neither other arrays nor the program.
void check_arrays(const Memory& memory, const Program& program) {
  std::vector<Range> ranges;
  const auto add = [&](std::uint64_t begin, std::uint64_t bytes, bool stored, const std::string& name) {
    if (bytes == 0) return;
    if (begin + bytes < begin) throw ProgramError(LACUNA_SIDA_ERROR_ADDRESS, name + " ends beyond the address space", begin);
    try {
      memory.check(begin, bytes, Access::read);
      if (stored) memory.check(begin, bytes, Access::write);
    } catch (const ProgramError& error) {
      throw ProgramError(error.code, name + ": " + error.what(), error.address);
    }
    ranges.push_back({begin, begin + bytes, stored, name});
  };
  std::vector<bool> stored(program.vectors.size());
  for (const Pass& pass : program.passes) {
    for (const Code& code : pass.code) {
      for (const std::uint16_t vector : code.stores) stored[vector] = true;
    }
  }
  // A swap exchanges two vectors: a store to one is also a store to the other.
  for (std::size_t round = 0; round < program.swaps.size() + 1; ++round) {
    bool changed = false;
    for (const lacuna_sida_swap& swap : program.swaps) {
      if (swap.a >= stored.size() || swap.b >= stored.size() || stored[swap.a] == stored[swap.b]) continue;
      stored[swap.a] = stored[swap.b] = changed = true;
    }
    if (!changed) break;
  }
  add(program.address, program.header.bytes, true, "the program");
  for (std::size_t v = 0; v < program.vectors.size(); ++v) {
    const lacuna_sida_vector& vector = program.vectors[v];
    add(vector.address, vector.length * program.bytes_of_element(static_cast<std::uint16_t>(v)), stored[v],
        "vector " + std::to_string(v));
  }
  for (std::size_t m = 0; m < program.matrices.size(); ++m) {
    const lacuna_sida_matrix& matrix = program.matrices[m];
    const std::string name = "matrix " + std::to_string(m);
    const bool blocked = matrix.layout == LACUNA_SIDA_BLOCKED;
    const std::uint64_t lines[2]{matrix.columns, matrix.rows},
        value_bytes = matrix.has_values == 1 ? lacuna_sida_element_bytes(matrix.element) : 0;
    const lacuna_sida_order* const orders[2]{&matrix.by_columns, &matrix.by_rows};
    const std::uint64_t listed = blocked ? matrix.blocks : matrix.entries;
    for (unsigned o = 0; o < 2; ++o) {
      const std::uint64_t count = blocked ? (lines[o] + matrix.block_side - 1) / matrix.block_side : lines[o];
      const std::string order = name + (o == 0 ? " by columns: " : " by rows: ");
      add(orders[o]->offsets, (count + 1) * matrix.offset_bytes, false, order + "offsets");
      add(orders[o]->coordinates, listed * sizeof(std::uint32_t), false, order + "coordinates");
      add(orders[o]->values, listed * (blocked ? sizeof(std::uint32_t) : value_bytes), false, order + "values");
    }
    if (!blocked) continue;
    add(matrix.block_offsets, (matrix.blocks + 1) * sizeof(std::uint64_t), false, name + ": offsets of blocks");
    add(matrix.block_rows, matrix.entries, false, name + ": rows within blocks");
    add(matrix.block_columns, matrix.entries, false, name + ": columns within blocks");
    add(matrix.block_values, matrix.entries * value_bytes, false, name + ": values");
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  // Ranges are visited in order of their start addresses. Of the ranges visited so far, `furthest` is the range that ends last,
  // and `furthest_stored` the stored range that ends last.
  const Range *furthest = nullptr, *furthest_stored = nullptr;
  for (const Range& range : ranges) {
    const Range* const other = range.stored ? furthest : furthest_stored;
    if (other && other->end > range.begin) {
      throw ProgramError(LACUNA_SIDA_ERROR_OVERLAP, other->name + " and " + range.name + " overlap, and one of them is stored",
                         range.begin);
    }
    if (!furthest || range.end > furthest->end) furthest = &range;
    if (range.stored && (!furthest_stored || range.end > furthest_stored->end)) furthest_stored = &range;
  }
}

}  // namespace

std::uint64_t Program::bytes_of_element(std::uint16_t vector) const {
  return std::uint64_t{vectors[vector].width} * lacuna_sida_element_bytes(vectors[vector].element);
}

std::uint64_t Program::elements(const Pass& pass, Phase phase) const {
  const lacuna_sida_pass& d = pass.description;
  if (!pass.has_os()) return phase == Phase::ewise ? d.elements : 0;
  const lacuna_sida_matrix& matrix = matrices[d.matrix];
  const bool os_transposed = d.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED, is_transposed = d.flags & LACUNA_SIDA_PASS_IS_TRANSPOSED;
  switch (phase) {
    case Phase::load:
      return os_transposed ? matrix.columns : matrix.rows;
    case Phase::ewise:
      return os_transposed ? matrix.rows : matrix.columns;
    case Phase::finish:
      break;
  }
  if (!pass.has_is()) return 0;
  return is_transposed ? matrix.rows : matrix.columns;
}

Program read_program(const Memory& memory, std::uint64_t address) {
  Program program;
  program.address = address;
  if (address % LACUNA_SIDA_TABLE_ALIGNMENT != 0)
    throw ProgramError(LACUNA_SIDA_ERROR_ADDRESS, "a program is aligned to 16 bytes", address);
  memory.read(address, std::as_writable_bytes(std::span(&program.header, 1)));
  const lacuna_sida_program& header = program.header;
  check_header(header, address);
  const lacuna_sida_tables tables = lacuna_sida_tables_of(&header);
  std::vector<lacuna_sida_instruction> instructions;
  std::vector<lacuna_sida_pass> passes;
  read_table(memory, address + tables.matrices, header.matrices, program.matrices);
  read_table(memory, address + tables.vectors, header.vectors, program.vectors);
  read_table(memory, address + tables.scalars, header.scalars, program.scalars);
  read_table(memory, address + tables.instructions, header.instructions, instructions);
  read_table(memory, address + tables.passes, header.passes, passes);
  read_table(memory, address + tables.swaps, header.swaps, program.swaps);
  for (std::uint32_t m = 0; m < header.matrices; ++m) {
    check_matrix(program.matrices[m], m, address + tables.matrices + m * sizeof(lacuna_sida_matrix));
  }
  for (std::uint32_t v = 0; v < header.vectors; ++v) {
    check_vector(program.vectors[v], v, address + tables.vectors + v * sizeof(lacuna_sida_vector));
  }
  for (std::uint32_t p = 0; p < header.passes; ++p) {
    program.passes.emplace_back().description = passes[p];
    try {
      check_pass(program, instructions, program.passes.back());
    } catch (const ProgramError& error) {
      // Address of the instruction if the error is in an instruction, otherwise of the pass.
      const std::uint64_t where = error.address != 0 ? address + tables.instructions + error.address - 1
                                                     : address + tables.passes + p * sizeof(lacuna_sida_pass);
      throw ProgramError(error.code, "pass " + std::to_string(p) + ": " + error.what(), where, p);
    }
  }
  try {
    check_successors(program);
    check_swaps(program);
  } catch (const ProgramError& error) {
    throw ProgramError(error.code, "pass " + std::to_string(error.pass) + ": " + error.what(),
                       address + tables.passes + error.pass * sizeof(lacuna_sida_pass), error.pass);
  }
  check_arrays(memory, program);
  return program;
}

void write_results(Memory& memory, const Program& program) {
  const lacuna_sida_tables tables = lacuna_sida_tables_of(&program.header);
  memory.write(program.address + tables.vectors, std::as_bytes(std::span(program.vectors)));
  memory.write(program.address + tables.scalars, std::as_bytes(std::span(program.scalars)));
  memory.write(program.address, std::as_bytes(std::span(&program.header, 1)));
}

}  // namespace lacuna::sida
