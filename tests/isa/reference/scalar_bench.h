// Runs rows of SOP1, SOP2, SOPC and SOPK through decoder and executor against their reference functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lacuna::isa::test {

/// Inputs of a scalar instruction.
struct ScalarInputs {
  std::uint64_t a = 0, b = 0;
  std::int32_t immediate = 0;  ///< SIMM16, sign-extended
  std::uint64_t old = 0;       ///< destination before the instruction; in SOPK comparisons, the compared register
  std::uint64_t exec = 0;
  bool scc = false;
  std::uint64_t pc = 0;  ///< address of the next instruction
};

/// Required results. `value` has the destination's width.
struct ScalarOutcome {
  std::uint64_t value = 0;
  bool scc = false;
  std::uint64_t exec = 0;
  std::optional<std::uint64_t> pc = std::nullopt;  ///< target of a jump
};

struct ScalarReference {
  std::string_view mnemonic;
  ScalarOutcome (*reference)(const ScalarInputs&);
};

std::span<const ScalarReference> scalar_references();

/// Runs every executable row with this mnemonic on both targets, with registers, inline constants and literals as sources;
/// reports mismatches, wrong registers included, as test failures. Returns the number of rows run, counted once for each
/// target.
unsigned check_scalar_rows(const ScalarReference& entry);

}  // namespace lacuna::isa::test
