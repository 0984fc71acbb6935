// A program of the accelerator (lacuna/abi/sida.h) as read from memory, checked completely before execution.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "include/lacuna/abi/sida_format.h"
#include "models/sida/program/memory.h"

namespace lacuna::sida {

/// Type and width of a register.
struct RegisterKind {
  std::uint8_t element = LACUNA_SIDA_ELEMENT_COUNT;  ///< LACUNA_SIDA_ELEMENT_COUNT: no value
  std::uint32_t width = 1;                           ///< number of features
  bool has_value() const { return element != LACUNA_SIDA_ELEMENT_COUNT; }
};

/// Checked straight-line code, and its accesses and operations per element.
struct Code {
  std::vector<lacuna_sida_instruction> instructions;
  std::vector<std::uint32_t> widths;      ///< features of each instruction's result, or of the value that it stores or reduces
  std::vector<RegisterKind> registers;    ///< registers after the code
  std::vector<std::uint16_t> loads;       ///< vectors that the code loads, each once, ascending
  std::vector<std::uint16_t> stores;      ///< vectors that the code stores, each once, ascending
  std::vector<std::uint16_t> arrays;      ///< vectors read by DENSE
  std::vector<std::uint16_t> reductions;  ///< scalars that REDUCE instructions write, each once
  std::uint64_t operations = 0;  ///< operations per element: one per feature; DENSE: per product; LOAD, STORE, INDEX: 0
};

enum class Phase : std::uint8_t { load, ewise, finish };
constexpr std::size_t kPhases = 3;

struct Pass {
  lacuna_sida_pass description{};
  std::array<Code, kPhases> code;    ///< element-wise code of each phase
  std::array<Code, kPhases> scalar;  ///< scalar code after each phase
  bool has_os() const { return description.flags & LACUNA_SIDA_PASS_OS; }
  bool has_is() const { return description.flags & LACUNA_SIDA_PASS_IS; }
  const Code& of(Phase phase) const { return code[static_cast<std::size_t>(phase)]; }
  const Code& after(Phase phase) const { return scalar[static_cast<std::size_t>(phase)]; }
  /// Whether load code reduces to scalars. OS needs these scalars, so all of x is loaded before OS begins.
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
  /// Number of elements over which the element-wise code of a phase runs.
  std::uint64_t elements(const Pass& pass, Phase phase) const;
};

/// Reads and checks everything except the contents of matrices, which are checked when they are read. Throws ProgramError.
Program read_program(const Memory& memory, std::uint64_t address);

/// Writes the results of a job: scalars, the descriptors of vectors (with the addresses that swaps have exchanged), and result
/// fields of the header.
void write_results(Memory& memory, const Program& program);

}  // namespace lacuna::sida
