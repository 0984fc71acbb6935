// Element-wise and scalar code: what it computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Runs one code over all its elements, in ascending order, some at a time. Vectors are read and written in memory.
class ElementWise {
 public:
  /// `iteration`: iterations that were completed before, which choose the array of DENSE. `input`: the register that has a
  /// value before the code, with the features of each of its elements; LACUNA_SIDA_NONE: there is none.
  ElementWise(Memory& memory, Program& program, const Code& code, std::uint64_t iteration,
              std::uint16_t input = LACUNA_SIDA_NONE, std::uint32_t input_width = 1);

  /// Elements at a time, as run() takes them.
  std::uint64_t chunk() const { return chunk_; }
  /// Where the caller puts the values of the input before run(), `count` elements with all their features.
  std::byte* input() { return registers_[input_].data(); }
  /// The values of a register after run().
  const std::byte* output(std::uint16_t number) const { return registers_[number].data(); }

  /// Elements first to first + count - 1, at most chunk() of them; to be called for all, in order.
  void run(std::uint64_t first, std::uint64_t count);
  /// Writes what was reduced into the program's scalars.
  void finish();

 private:
  /// Values of an operand, one for each element and feature; scalars and narrow registers are spread.
  template <class T>
  const T* operand(std::uint16_t number, std::size_t count, std::uint32_t width, unsigned which);
  template <class T>
  void compute(const lacuna_sida_instruction& instruction, std::uint32_t width, std::size_t count);
  void load(const lacuna_sida_instruction& instruction, std::uint64_t first, std::size_t count);
  template <class T>
  void dense(const lacuna_sida_instruction& instruction, std::uint32_t width, std::size_t count);

  Memory& memory_;
  Program& program_;
  const Code& code_;
  std::uint64_t iteration_;
  std::uint16_t input_;
  std::uint32_t input_width_;
  std::uint64_t chunk_;
  std::vector<std::vector<std::byte>> registers_;
  std::vector<std::uint32_t> widths_;  ///< of each register as it is now
  std::vector<std::byte> spread_[3];
  std::vector<std::uint64_t> accumulated_;            ///< of each REDUCE and SCAN, by instruction
  std::vector<std::vector<std::byte>> dense_arrays_;  ///< of each DENSE, by instruction
};

/// Scalar code: reads and writes the program's scalars.
void run_scalar_code(Program& program, const Code& code);

/// Whether a scalar of that type is not 0.
bool is_set(const Program& program, std::uint16_t scalar, unsigned element);

}  // namespace lacuna::sida
