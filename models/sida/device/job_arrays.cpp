#include "models/sida/device/job_arrays.h"

#include <algorithm>
#include <utility>

namespace lacuna::sida {
namespace {

/// Collects arrays, each divided into parts with contiguous bus addresses.
class ArrayParts {
 public:
  explicit ArrayParts(const GpuVm& vm) : vm_(vm) {}

  void add(const std::string& name, std::uint64_t address, std::uint64_t bytes) {
    const std::size_t first = parts_.size();
    while (bytes != 0) {
      const isa::MemoryWindow window = vm_.find(address);
      if (window.size == 0) return;
      const std::uint64_t offset = address - window.base, part = std::min(bytes, window.size - offset),
                          bus_address = window.physical + offset;
      if (parts_.size() > first && parts_.back().bus_address + parts_.back().bytes == bus_address) {
        parts_.back().bytes += part;
      } else {
        parts_.push_back({name, address, bus_address, part});
      }
      address += part;
      bytes -= part;
    }
  }
  std::vector<SidaJobArray> take() { return std::move(parts_); }

 private:
  const GpuVm& vm_;
  std::vector<SidaJobArray> parts_;
};

void add_order(const std::string& name, const lacuna_sida_matrix& matrix, const lacuna_sida_order& order, std::uint64_t lines,
               ArrayParts& arrays) {
  const bool blocked = matrix.layout == LACUNA_SIDA_BLOCKED;
  const std::uint64_t listed = blocked ? matrix.blocks : matrix.entries;
  const std::uint64_t value_bytes = blocked                  ? sizeof(std::uint32_t)  // numbers of blocks
                                    : matrix.has_values != 0 ? lacuna_sida_element_bytes(matrix.element)
                                                             : 0;
  arrays.add(name + ".offsets", order.offsets, (lines + 1) * matrix.offset_bytes);
  arrays.add(name + ".coordinates", order.coordinates, listed * sizeof(std::uint32_t));
  arrays.add(name + ".values", order.values, listed * value_bytes);
}

void add_matrix(const std::string& name, const lacuna_sida_matrix& matrix, ArrayParts& arrays) {
  const bool blocked = matrix.layout == LACUNA_SIDA_BLOCKED;
  const auto lines = [&](std::uint64_t n) { return blocked ? (n + matrix.block_side - 1) / matrix.block_side : n; };
  add_order(name + ".by_columns", matrix, matrix.by_columns, lines(matrix.columns), arrays);
  add_order(name + ".by_rows", matrix, matrix.by_rows, lines(matrix.rows), arrays);
  if (!blocked) return;
  arrays.add(name + ".block_offsets", matrix.block_offsets, (matrix.blocks + 1) * sizeof(std::uint64_t));
  arrays.add(name + ".block_rows", matrix.block_rows, matrix.entries);
  arrays.add(name + ".block_columns", matrix.block_columns, matrix.entries);
  if (matrix.has_values != 0)
    arrays.add(name + ".block_values", matrix.block_values, matrix.entries * lacuna_sida_element_bytes(matrix.element));
}

}  // namespace

std::vector<SidaJobArray> job_arrays(const Program& program, const GpuVm& vm) {
  ArrayParts arrays(vm);
  for (std::size_t m = 0; m < program.matrices.size(); ++m)
    add_matrix("matrix" + std::to_string(m), program.matrices[m], arrays);
  for (std::size_t v = 0; v < program.vectors.size(); ++v)
    arrays.add("vector" + std::to_string(v), program.vectors[v].address,
               program.vectors[v].length * program.bytes_of_element(static_cast<std::uint16_t>(v)));
  arrays.add("program", program.address, program.header.bytes);
  return arrays.take();
}

}  // namespace lacuna::sida
