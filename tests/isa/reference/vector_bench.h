// Runs vector rows of the instruction table through decoder and executor against their reference functions.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "models/isa/decode/table.h"
#include "tests/isa/reference/reference.h"

namespace lacuna::isa::test {

/// Values at which operations change their behaviour, as operands of `type`.
std::span<const std::uint64_t> edge_values(OperandType type);
/// An edge value, a value near one, or random bits; packed types: such a value in each half.
std::uint64_t draw_value(OperandType type, std::mt19937_64& generator);

/// Factor by which tests multiply their number of rounds: value of the environment variable LACUNA_REFERENCE_ROUNDS, 1 if
/// unset.
unsigned reference_rounds();

/// Runs every executable row with this mnemonic on both targets, in its encodings and with its modifiers, under all
/// combinations of f32's rounding and denormals, IEEE and DX10_CLAMP; reports mismatches as test failures. Comparisons and rows
/// without floating-point operands run half as many encodings in each mode. Returns the number of rows run, counted once for
/// each target.
unsigned check_rows(const ReferenceEntry& entry);

/// Calls check_rows() for all entries; fails for entries that name no row.
void check_references(std::span<const ReferenceEntry> entries);

}  // namespace lacuna::isa::test
