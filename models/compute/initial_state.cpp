#include "models/compute/initial_state.h"

#include "models/isa/analysis/kernel_registers.h"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna {

namespace {

constexpr unsigned kMaxUserSgprs = 16;

/// Number of registers of the enabled user SGPR fields. All fields of code object v2 together would take 18: those beyond the
/// 16 existing registers are ignored.
unsigned user_sgprs_needed(const hsa::KernelDescriptor& d) {
  unsigned n = 0;
  if (d.private_segment_buffer()) n += 4;
  if (d.dispatch_ptr()) n += 2;
  if (d.queue_ptr()) n += 2;
  if (d.kernarg_segment_ptr()) n += 2;
  if (d.dispatch_id()) n += 2;
  if (d.flat_scratch_init()) n += 2;
  if (d.private_segment_size()) n += 1;
  for (unsigned i = 0; i < 3; ++i) n += d.grid_workgroup_count(i) ? 1 : 0;
  return std::min(n, kMaxUserSgprs);
}

/// Bits that the LLVM guide (see initial_state.h) reserves ("must be 0") for the target and that no version of the descriptor
/// uses. A kernel that sets such a bit requires a feature that the target does not have. Fields that must be zero because the
/// packet processor overwrites them (PRIORITY, ENABLE_TRAP_HANDLER, GRANULATED_LDS_SIZE, ...) are not among them: old compilers
/// set some.
struct ReservedBits {
  std::uint32_t rsrc1;
  std::uint32_t rsrc2;
  std::uint32_t rsrc3;
  std::uint16_t properties;  ///< excludes 9:7 (grid workgroup counts of code object v2) and 11 (USES_DYNAMIC_STACK of v5)
};
constexpr ReservedBits kReservedGfx8{.rsrc1 = 0xfc00'0000, .rsrc2 = 0x8000'0000, .rsrc3 = 0xffff'ffff, .properties = 0xf400};
constexpr ReservedBits kReservedGfx90a{.rsrc1 = 0xf800'0000, .rsrc2 = 0x8000'0000, .rsrc3 = 0xfffe'ffc0, .properties = 0xf400};

std::string check_reserved_bits(const hsa::KernelDescriptor& d, isa::Target target) {
  const ReservedBits& reserved = target == isa::Target::gfx803 ? kReservedGfx8 : kReservedGfx90a;
  const struct {
    const char* field;
    std::uint32_t set;
  } fields[] = {{"COMPUTE_PGM_RSRC1", d.rsrc1 & reserved.rsrc1},
                {"COMPUTE_PGM_RSRC2", d.rsrc2 & reserved.rsrc2},
                {"COMPUTE_PGM_RSRC3", d.rsrc3 & reserved.rsrc3},
                {"the kernel code properties", static_cast<std::uint32_t>(d.properties & reserved.properties)}};
  for (const auto& [field, set] : fields) {
    if (set != 0)
      return fmt::format("kernel descriptor sets bits {:#x} of {}, which {} reserves", set, field, isa::traits(target).name);
  }
  return {};
}

/// Writes SGPRs in ascending order, up to `end`.
class SgprWriter {
 public:
  SgprWriter(isa::Wavefront& wave, unsigned first, unsigned end) : wave_(wave), next_(first), end_(end) {}
  void put(std::uint32_t value) {
    if (next_ < end_) wave_.sgpr[next_++] = value;
  }
  void put64(std::uint64_t value) {
    put(static_cast<std::uint32_t>(value));
    put(static_cast<std::uint32_t>(value >> 32));
  }

 private:
  isa::Wavefront& wave_;
  unsigned next_;
  unsigned end_;
};

std::uint32_t scratch_wave_offset(const Dispatch& dispatch, const WavefrontPlace& place) {
  return place.scratch_slot * dispatch.scratch.wave_bytes;
}

/// Whether FLAT scratch registers hold an offset from the base of the scratch pool (gfx8) instead of an address (gfx9).
bool offsets_from_pool(isa::Target target) { return target == isa::Target::gfx803; }

void set_user_sgprs(SgprWriter& out, const Dispatch& dispatch, isa::Target target) {
  const hsa::KernelDescriptor& d = dispatch.descriptor;
  const auto private_bytes = static_cast<std::uint32_t>(dispatch.private_bytes());
  if (d.private_segment_buffer()) {
    for (const std::uint32_t word : dispatch.scratch.resource_descriptor) out.put(word);
  }
  if (d.dispatch_ptr()) out.put64(dispatch.packet_address);
  if (d.queue_ptr()) out.put64(dispatch.queue_address);
  if (d.kernarg_segment_ptr()) out.put64(dispatch.packet.kernarg_address);
  if (d.dispatch_id()) out.put64(dispatch.packet_index);
  if (d.flat_scratch_init()) {
    // gfx8: the byte offset from the scratch pool's base, which is amd_queue_t's backing location, and the bytes of a lane's
    // private memory. gfx9: the backing location, which is a 64-bit address.
    out.put(static_cast<std::uint32_t>(dispatch.scratch.backing_location));
    out.put(offsets_from_pool(target) ? private_bytes : static_cast<std::uint32_t>(dispatch.scratch.backing_location >> 32));
  }
  if (d.private_segment_size()) out.put(private_bytes);
  for (unsigned i = 0; i < 3; ++i) {
    if (d.grid_workgroup_count(i)) out.put(dispatch.workgroups[i]);
  }
}

void set_work_item_ids(isa::Wavefront& wave, const Dispatch& dispatch, const std::array<std::uint32_t, 3>& extent,
                       unsigned first) {
  const unsigned dimensions = dispatch.descriptor.work_item_ids() + 1;
  const bool packed = isa::traits(wave.target).packed_work_item_ids;
  const bool has_y = !packed && dimensions > 1 && wave.vgpr_count > 1;
  const bool has_z = !packed && dimensions > 2 && wave.vgpr_count > 2;
  // Fields that are not enabled must be zero: compilers do not mask v0 if only x is enabled.
  const auto beside_x = [packed, dimensions](std::uint32_t y, std::uint32_t z) {
    return packed ? (dimensions > 1 ? y << 10 : 0) | (dimensions > 2 ? z << 20 : 0) : 0;
  };
  std::uint32_t x = first % extent[0];
  std::uint32_t y = first / extent[0] % extent[1];
  std::uint32_t z = first / extent[0] / extent[1];
  if (x + isa::kLanes <= extent[0]) {  // all lanes in one row
    const std::uint32_t row = beside_x(y, z);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) wave.vgpr[lane] = (x + lane) | row;
    if (has_y) std::fill_n(wave.vgpr + isa::kLanes, isa::kLanes, y);
    if (has_z) std::fill_n(wave.vgpr + 2 * isa::kLanes, isa::kLanes, z);
    return;
  }
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    wave.vgpr[lane] = x | beside_x(y, z);
    if (has_y) wave.vgpr[isa::kLanes + lane] = y;
    if (has_z) wave.vgpr[2 * isa::kLanes + lane] = z;
    if (++x != extent[0]) continue;
    x = 0;
    if (++y != extent[1]) continue;
    y = 0;
    ++z;
  }
}

}  // namespace

std::array<std::uint32_t, 3> workgroup_extent(const Dispatch& dispatch, const std::array<std::uint32_t, 3>& workgroup) {
  std::array<std::uint32_t, 3> extent{};
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint64_t first = std::uint64_t{workgroup[i]} * dispatch.workgroup[i];
    extent[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(dispatch.workgroup[i], dispatch.grid[i] - first));
  }
  return extent;
}

void set_initial_state(isa::Wavefront& wave, const Dispatch& dispatch, const WavefrontPlace& place) {
  const hsa::KernelDescriptor& d = dispatch.descriptor;
  const auto extent = workgroup_extent(dispatch, place.workgroup);
  const std::uint64_t items = std::uint64_t{extent[0]} * extent[1] * extent[2];
  wave.sgpr.fill(0);
  SgprWriter user(wave, 0, kMaxUserSgprs);
  set_user_sgprs(user, dispatch, wave.target);
  SgprWriter system(wave, d.user_sgprs(), static_cast<unsigned>(wave.sgpr.size()));
  for (unsigned i = 0; i < 3; ++i) {
    if (d.workgroup_id(i)) system.put(place.workgroup[i]);
  }
  if (d.workgroup_info()) {
    // bit 31: first wavefront of its workgroup; 16:6: ordered-append term, unused; 5:0: wavefronts of the workgroup
    const std::uint64_t wavefronts = (items + isa::kLanes - 1) / isa::kLanes;
    system.put((place.wave_in_group == 0 ? 1u << 31 : 0) | static_cast<std::uint32_t>(wavefronts & 0x3f));
  }
  if (d.private_segment_wave_offset()) system.put(scratch_wave_offset(dispatch, place));

  const unsigned first = place.wave_in_group * isa::kLanes;
  set_work_item_ids(wave, dispatch, extent, first);
  const std::uint64_t here = items > first ? std::min<std::uint64_t>(items - first, isa::kLanes) : 0;
  wave.set_exec(here == isa::kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1);
  // FLOAT_MODE 7:0, DX10_CLAMP 8, IEEE 9, EXCP_EN 18:12
  wave.mode.bits = d.float_mode() | (d.dx10_clamp() ? 1u << 8 : 0) | (d.ieee_mode() ? 1u << 9 : 0) | d.exceptions() << 12;
  wave.scc = false;
  wave.trap_status = 0;
  wave.status = 0;
  wave.event = isa::Event::none;
  wave.scratch_base = offsets_from_pool(wave.target) ? dispatch.scratch.pool_base : dispatch.scratch.backing_location;
  wave.private_segment = {.pool = dispatch.scratch.base,
                          .pool_bytes = dispatch.scratch.bytes,
                          .base = dispatch.scratch.base + scratch_wave_offset(dispatch, place),
                          .lane_bytes = static_cast<std::uint32_t>(dispatch.private_bytes())};
  wave.pc = dispatch.entry;
}

WorkgroupNeeds register_needs(const hsa::KernelDescriptor& descriptor, isa::Target target) {
  const isa::KernelRegisters registers = isa::kernel_registers(descriptor.rsrc1, descriptor.rsrc3, target);
  WorkgroupNeeds needs;
  needs.vgprs = registers.vgprs;
  needs.agprs = registers.agprs;
  needs.sgprs = registers.sgprs;
  return needs;
}

std::string check_descriptor(const hsa::KernelDescriptor& descriptor, isa::Target target) {
  const isa::TargetTraits& t = isa::traits(target);
  const WorkgroupNeeds needs = register_needs(descriptor, target);
  if (descriptor.user_sgprs() > kMaxUserSgprs) {
    return fmt::format("kernel descriptor declares {} user SGPRs, at most {} exist", descriptor.user_sgprs(), kMaxUserSgprs);
  }
  if (user_sgprs_needed(descriptor) > descriptor.user_sgprs()) {
    return fmt::format("kernel descriptor enables {} user SGPRs but declares {}", user_sgprs_needed(descriptor),
                       descriptor.user_sgprs());
  }
  if (descriptor.work_item_ids() > 2) {
    return fmt::format("kernel descriptor has {} in ENABLE_VGPR_WORKITEM_ID, which is not defined", descriptor.work_item_ids());
  }
  if (std::string reserved = check_reserved_bits(descriptor, target); !reserved.empty()) return reserved;
  if (descriptor.fp16_overflow()) {
    return "kernel descriptor sets FP16_OVFL: results of f16 that are clamped instead of infinite are not supported";
  }
  if (needs.vgprs > t.max_vgprs) return fmt::format("kernel requires {} VGPRs, {} has {}", needs.vgprs, t.name, t.max_vgprs);
  if (needs.sgprs > 112) return fmt::format("kernel requires {} SGPRs, a wavefront has at most 112", needs.sgprs);
  return {};
}

}  // namespace lacuna
