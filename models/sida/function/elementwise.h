// Functional execution of element-wise and scalar code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Runs element-wise code over all elements in ascending order, one chunk at a time. Reads and writes vectors in memory.
class ElementWise {
 public:
  /// `iteration`: number of completed iterations, which selects the array of DENSE. `input`: register that the caller fills
  /// before the code runs, with `input_width` features per element; LACUNA_SIDA_NONE: there is none.
  ElementWise(Memory& memory, Program& program, const Code& code, std::uint64_t iteration,
              std::uint16_t input = LACUNA_SIDA_NONE, std::uint32_t input_width = 1);

  /// Maximum number of elements per call of run().
  std::uint64_t chunk() const { return chunk_; }
  /// Buffer for the values of the input register. The caller fills it before run() with `count` elements and all features.
  std::byte* input() { return registers_[input_].data(); }
  /// Values of a register after run().
  const std::byte* output(std::uint16_t number) const { return registers_[number].data(); }

  /// Runs elements first to first + count - 1, at most chunk() of them. Must be called for all elements in order.
  void run(std::uint64_t first, std::uint64_t count);
  /// Writes the results of reductions to the program's scalars.
  void finish();

 private:
  /// Values of an operand, one per element and feature; scalars and narrower registers are replicated.
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
  std::vector<std::uint32_t> widths_;  ///< current width of each register
  std::vector<std::byte> spread_[3];
  std::vector<std::uint64_t> accumulated_;            ///< intermediate result of each REDUCE and SCAN, by instruction
  std::vector<std::vector<std::byte>> dense_arrays_;  ///< array of each DENSE, by instruction
};

/// Runs scalar code, which reads and writes the program's scalars.
void run_scalar_code(Program& program, const Code& code);

/// Whether a scalar of type `element` is not 0.
bool is_set(const Program& program, std::uint16_t scalar, unsigned element);

}  // namespace lacuna::sida
