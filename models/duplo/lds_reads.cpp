#include "models/duplo/lds_reads.h"

#include <string_view>

#include "models/isa/decode/table.h"
#include "models/isa/memory/memory_lanes.h"

namespace lacuna {
namespace {

constexpr unsigned kPairRegisters = 2;

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
  const auto none = [](DuploCount reason) { return ClassifiedLoad{.tile = std::nullopt, .reason = reason}; };
  const unsigned bytes = access.bytes_per_lane;
  if (bytes == 0 || access.space != isa::MemoryAccess::Space::lds || access.operation != isa::MemoryAccess::Operation::load ||
      !touches(buffers, access, offsets))
    return std::nullopt;
  if (m0 == LdsBuffers::kNoSlab) return none(DuploCount::no_slab);
  if (access.dual) return none(DuploCount::dual);
  if (access.lanes != ~std::uint64_t{0}) return none(DuploCount::exec);
  if (bytes != 8 && bytes != 16) return none(DuploCount::form);
  const std::uint32_t base = offsets[0];
  const unsigned rows = offsets[16] == base + bytes ? 16 : 32;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    if (offsets[lane] != base + lane % rows * buffers.row_stride + lane / rows * bytes) return none(DuploCount::form);
  }
  const auto first = buffers.place(base);
  const auto last = buffers.place(offsets[isa::kLanes - 1] + bytes - 1);
  if (!first || !last || first->row + rows - 1 != last->row || first->byte % bytes != 0) return none(DuploCount::form);
  if (destination.first % kPairRegisters != 0) return none(DuploCount::registers);
  const LoweredConvolution& convolution = ids.convolution();
  const std::uint64_t row = m0 / convolution.pitch + first->row;
  const unsigned column = m0 % convolution.pitch + first->byte / LdsBuffers::kElementBytes;
  if (row >= convolution.rows() || column >= convolution.columns()) return none(DuploCount::filler);
  const unsigned columns = isa::kLanes / rows * bytes / LdsBuffers::kElementBytes;
  return ClassifiedLoad{
      .tile = TileLoad{.form = {.rows = static_cast<std::uint8_t>(rows), .columns = static_cast<std::uint8_t>(columns)},
                       .row = row,
                       .column = column,
                       .zeros = ids.zeros(columns)},
      .reason = DuploCount::look_ups};
}

// Rows of DS instructions say that they read M0, as those of gfx8 do; gfx9 has few that still do (Vega ISA manual, "LDS
// instruction details").
std::optional<std::string> other_use_of_m0(const isa::Instruction& instruction) {
  if (instruction.mem.lds) return "M0 says where in LDS its data go";
  const std::string_view mnemonic = instruction.row->mnemonic;
  if (mnemonic.starts_with("s_set_gpr_idx_") && !mnemonic.ends_with("_off")) return "VGPR indexing keeps its state in M0";
  if (mnemonic.find("movrel") != std::string_view::npos) return "M0 says which register it moves";
  if (instruction.format != isa::Format::ds) return std::nullopt;
  if (mnemonic.find("addtid") != std::string_view::npos || mnemonic == "ds_append" || mnemonic == "ds_consume")
    return "M0 says where in LDS its data are";
  if ((instruction.row->flags & isa::kGdsOnly) != 0) return "M0 says which resource it means";
  return std::nullopt;
}

}  // namespace lacuna
