// Duplo's columns in the records of kernels. No SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/config/extension_texts.h"

namespace lacuna {

/// Outcomes of loads of a workspace (models/duplo/detection_unit.h).
enum class DuploCount : std::uint8_t {
  look_ups,
  hits,
  hits_address,
  hits_wavefront,
  hits_simd,
  hits_workgroup,
  hits_in_flight,
  hits_wrong,
  lines,
  cancelled,
  compulsory,
  released,
  conflict,
  capacity,
  form,
  exec,
  control,
  registers,
  filler,
  overwritten,
  stores,
  renamed,
  copies,
  reciprocals,
  count
};
inline constexpr std::size_t kDuploCounts = static_cast<std::size_t>(DuploCount::count);
constexpr std::array<ExtensionCountText, kDuploCounts> kDuploCountTexts{{
    {"look_ups", "loads", "of tiles of a workspace, looked up in the load history buffer"},
    {"hits", "loads", "of these, of a tile that a register of the core holds: their requests are dropped"},
    {"hits_address", "loads", "of the hits, those of the address that the register was loaded from"},
    {"hits_wavefront", "loads", "of the hits, on a register that the same wavefront loaded"},
    {"hits_simd", "loads", "of the hits, on a register of the same SIMD: it gets a second name"},
    {"hits_workgroup", "loads", "of the hits, on a register that another workgroup loaded"},
    {"hits_in_flight", "loads", "of the hits, on a load whose data had not arrived"},
    {"hits_wrong", "loads", "of the hits, on a register with other data (`duplo.check`)"},
    {"lines", "lines", "whose requests the hits have saved"},
    {"cancelled", "look-ups", "of the L1 cache that hits had begun before they were known (`duplo.l1`)"},
    {"compulsory", "loads", "not found: of a tile that the core had not loaded before"},
    {"released", "loads", "not found: the entry had gone with its loads, its register, or a store"},
    {"conflict", "loads", "not found: the entry had been replaced after fewer allocations than there are entries"},
    {"capacity", "loads", "not found: the entry had been replaced after more of them"},
    {"form", "loads", "of the workspace that are no tiles: other addresses or bytes"},
    {"exec", "loads", "of the workspace with lanes that are inactive"},
    {"control", "loads", "of the workspace with GLC or SLC, or performed later"},
    {"registers", "loads", "of the workspace to register pairs that are not aligned"},
    {"filler", "loads", "of the workspace that begin in rows or columns without data"},
    {"overwritten", "entries", "that went because their register was overwritten, or its wavefront ended"},
    {"stores", "entries", "that went because the core stored into the workspace"},
    {"renamed", "registers", "pairs that took another physical pair because others read theirs"},
    {"copies", "registers", "of these, pairs that were overwritten in part"},
    {"reciprocals", "multiplications", "by reciprocals, for divisors of IDs that are no powers of two: the paper has none"},
}};

constexpr ExtensionTexts kDuploTexts{"duplo", {}, kDuploCountTexts};
/// Registers the texts.
inline const ExtensionSlots& duplo_slots() {
  static const ExtensionSlots slots = register_extension(kDuploTexts);
  return slots;
}

}  // namespace lacuna
