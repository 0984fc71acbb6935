// Duplo's columns in the records of kernels. No SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/config/extension_texts.h"

namespace lacuna {

/// Counts of loads of a workspace, of history entries and of renamed registers (models/duplo/detection_unit.h).
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
  lds_cycles,
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
  dual,
  no_slab,
  partly_held,
  retired,
  replaced,
  overwritten,
  ended,
  stores,
  renamed,
  copies,
  held,
  asked_again,
  loads_by_row,
  whole_by_row,
  reciprocals,
  unseen_repeats,
  unseen_zeros,
  count
};
inline constexpr std::size_t kDuploCounts = static_cast<std::size_t>(DuploCount::count);
constexpr std::array<ExtensionCountText, kDuploCounts> kDuploCountTexts{{
    {"look_ups", "loads",
     "of tiles of a workspace, looked up in the load history buffer; with `duplo.entry = row`, an upper bound, this and the "
     "counts below are of rows of tiles"},
    {"hits", "loads", "of these, of a tile that a register of the core holds: their requests are dropped"},
    {"hits_address", "loads", "of the hits, those of the place in the workspace that the register was loaded from"},
    {"hits_wavefront", "loads", "of the hits, on a register that the same wavefront loaded"},
    {"hits_simd", "loads", "of the hits, on a register of the same SIMD: it gets a second name"},
    {"hits_workgroup", "loads", "of the hits, on a register that another workgroup loaded"},
    {"hits_in_flight", "loads", "of the hits, on a load whose data had not arrived"},
    {"hits_wrong", "loads", "of the hits, on a register with other data (`duplo.check`)"},
    {"lines", "lines", "whose requests the hits have saved"},
    {"lds_cycles", "cycles", "of the LDS that the hits have saved, with a workspace in LDS"},
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
    {"dual", "loads", "of the workspace in LDS that read two places (`ds_read2`)"},
    {"no_slab", "loads", "of the workspace in LDS while M0 names no slab"},
    {"partly_held", "loads",
     "of tiles that the lazy core does not request as a whole: zeros fill a part, or parts leave at different times"},
    {"retired", "entries",
     "that went because the last of their loads had retired; counted when their place, tag or register is used next"},
    {"replaced", "entries", "that went because another one took their place"},
    {"overwritten", "entries", "that went because their register was overwritten"},
    {"ended", "entries", "that went because the wavefront of their register ended"},
    {"stores", "entries", "that went because the core stored into the workspace"},
    {"renamed", "registers", "pairs that took another physical pair because others read theirs"},
    {"copies", "registers", "of these, pairs that were overwritten in part"},
    {"held", "loads", "not found when they executed, which the lazy core held"},
    {"asked_again", "loads", "of these, looked up again when their requests left"},
    {"loads_by_row", "loads", "whose rows were looked up, each once (`duplo.entry = row`)"},
    {"whole_by_row", "loads", "of these, of which every row was found"},
    {"reciprocals", "multiplications", "by reciprocals, for divisors of IDs that are no powers of two: the paper has none"},
    {"unseen_repeats", "loads",
     "not found although a register of the history has equal data under another ID, zeros apart (`duplo.check`)"},
    {"unseen_zeros", "loads", "likewise, of zeros alone: padding and inserted zeros have an ID for each position"},
}};

constexpr ExtensionTexts kDuploTexts{"duplo", {}, kDuploCountTexts};
/// Registers the texts at the first call. Returns their slots.
inline const ExtensionSlots& duplo_slots() {
  static const ExtensionSlots slots = register_extension(kDuploTexts);
  return slots;
}

}  // namespace lacuna
