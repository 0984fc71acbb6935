#include "models/duplo/lds_reads.h"

#include <string_view>

#include "models/isa/decode/table.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna {
namespace {

bool touches(const LdsBuffers& buffers, const isa::MemoryAccess& access,
             const std::array<std::uint32_t, isa::kLanes>& offsets) {
  bool any = false;
  isa::for_lanes(access.lanes, [&](unsigned lane) {
    const std::uint32_t at = offsets[lane];
    const auto inside = [&](std::uint32_t first) {
      return first < buffers.end() && std::uint64_t{first} + access.bytes_per_lane > buffers.base;
    };
    any |= inside(at) || (access.dual && inside(at + access.dual_distance));
  });
  return any;
}

}  // namespace

std::optional<ClassifiedLoad> classify_lds_read(const LdsBuffers& buffers, const IdGenerator& ids,
                                                const isa::MemoryAccess& access,
                                                const std::array<std::uint32_t, isa::kLanes>& offsets, std::uint32_t m0,
                                                const isa::RegisterRange& destination) {
  constexpr auto none = ClassifiedLoad::none;
  const unsigned bytes = access.bytes_per_lane;
  if (bytes == 0 || access.space != isa::MemoryAccess::Space::lds || access.operation != isa::MemoryAccess::Operation::load ||
      !touches(buffers, access, offsets))
    return std::nullopt;
  if (m0 == LdsBuffers::kNoSlab) return none(DuploCount::no_slab);
  if (access.dual) return none(DuploCount::dual);
  if (access.lanes != isa::kAllLanes) return none(DuploCount::exec);
  const auto form = tile_form(offsets, bytes, buffers.row_stride);
  if (!form) return none(DuploCount::form);
  const auto first = buffers.place(offsets[0]);
  const auto last = buffers.place(offsets[isa::kLanes - 1] + bytes - 1);
  if (!first || !last || first->row + form->rows - 1 != last->row || first->byte % bytes != 0) return none(DuploCount::form);
  const unsigned pitch = ids.convolution().pitch;
  const unsigned column = m0 % pitch + first->byte / LoweredConvolution::kElementBytes;
  return ClassifiedLoad::of(ids, m0 / pitch + first->row, column, *form, destination);
}

// The instruction table marks all DS instructions as readers of M0, as on gfx8; on gfx9 only a few read it (Vega ISA manual,
// "LDS instruction details").
std::optional<std::string> other_use_of_m0(const isa::Instruction& instruction) {
  if (instruction.mem.lds) return "M0 selects where in LDS its data go";
  const std::string_view mnemonic = instruction.row->mnemonic;
  if (mnemonic.starts_with("s_set_gpr_idx_") && !mnemonic.ends_with("_off")) return "VGPR indexing keeps its state in M0";
  if (mnemonic.find("movrel") != std::string_view::npos) return "M0 selects the register that it moves";
  if (instruction.format != isa::Format::ds) return std::nullopt;
  if (mnemonic.find("addtid") != std::string_view::npos || mnemonic == "ds_append" || mnemonic == "ds_consume")
    return "M0 selects where in LDS its data are";
  if ((instruction.row->flags & isa::kGdsOnly) != 0) return "M0 selects its resource";
  return std::nullopt;
}

}  // namespace lacuna
