// A program of the accelerator as the device has read it from memory (lacuna/abi/sida.h), checked whole before anything runs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "include/lacuna/abi/sida_format.h"
#include "models/sida/program/memory.h"

namespace lacuna::sida {

/// What a register holds.
struct RegisterKind {
  std::uint8_t element = LACUNA_SIDA_ELEMENT_COUNT;  ///< LACUNA_SIDA_ELEMENT_COUNT: it has no value
  std::uint32_t width = 1;                           ///< features
  bool has_value() const { return element != LACUNA_SIDA_ELEMENT_COUNT; }
};

/// Straight-line code that has been checked, and what it does with each element.
struct Code {
  std::vector<lacuna_sida_instruction> instructions;
  std::vector<std::uint32_t> widths;      ///< features of each instruction's result, or of what it stores or reduces
  std::vector<RegisterKind> registers;    ///< as they are after the code
  std::vector<std::uint16_t> loads;       ///< vectors, each once, ascending
  std::vector<std::uint16_t> stores;      ///< likewise
  std::vector<std::uint16_t> arrays;      ///< vectors that DENSE reads
  std::vector<std::uint16_t> reductions;  ///< scalars, each once
  std::uint64_t operations = 0;           ///< of one element: an instruction for each feature, and each product of DENSE
};

enum class Phase : std::uint8_t { load, ewise, finish };
constexpr std::size_t kPhases = 3;

struct Pass {
  lacuna_sida_pass description{};
  std::array<Code, kPhases> code;    ///< element-wise
  std::array<Code, kPhases> scalar;  ///< after each
  bool has_os() const { return description.flags & LACUNA_SIDA_PASS_OS; }
  bool has_is() const { return description.flags & LACUNA_SIDA_PASS_IS; }
  const Code& of(Phase phase) const { return code[static_cast<std::size_t>(phase)]; }
  const Code& after(Phase phase) const { return scalar[static_cast<std::size_t>(phase)]; }
  /// Load reduces to scalars, which are known before OS begins: all of x is loaded before.
  bool loads_first() const { return !of(Phase::load).reductions.empty(); }
};

struct Program {
  std::uint64_t address = 0;
  lacuna_sida_program header{};
  std::vector<lacuna_sida_matrix> matrices;
  std::vector<lacuna_sida_vector> vectors;
  std::vector<std::uint64_t> scalars;
  std::vector<Pass> passes;
  std::vector<lacuna_sida_swap> swaps;

  std::uint64_t bytes_of_element(std::uint16_t vector) const;
  /// Elements over which the element-wise code of a phase runs.
  std::uint64_t elements(const Pass& pass, Phase phase) const;
};

/// Reads and checks all but the contents of matrices, which are checked as they are read. Throws ProgramError.
Program read_program(const Memory& memory, std::uint64_t address);

/// Writes the results of a job: scalars, vectors as swaps have exchanged them, and the header's fields of the result.
void write_results(Memory& memory, const Program& program);

}  // namespace lacuna::sida
