#include "platform/loaders/amd_kernel_code.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string_view>

namespace lacuna {
namespace {

struct Field {
  std::string_view name;
  unsigned byte;
  unsigned bit;   ///< first bit, counted from `byte`
  unsigned bits;  ///< width
  bool is_signed = false;
};

constexpr unsigned kRsrc1 = 48;       // COMPUTE_PGM_RSRC1
constexpr unsigned kRsrc2 = 52;       // COMPUTE_PGM_RSRC2
constexpr unsigned kProperties = 56;  // kernel code properties

constexpr std::array kFields{
    Field{"amd_code_version_major", 0, 0, 32},
    Field{"amd_code_version_minor", 4, 0, 32},
    Field{"amd_machine_kind", 8, 0, 16},
    Field{"amd_machine_version_major", 10, 0, 16},
    Field{"amd_machine_version_minor", 12, 0, 16},
    Field{"amd_machine_version_stepping", 14, 0, 16},
    Field{"kernel_code_entry_byte_offset", 16, 0, 64, true},
    Field{"kernel_code_prefetch_byte_size", 32, 0, 64},
    Field{"granulated_workitem_vgpr_count", kRsrc1, 0, 6},
    Field{"granulated_wavefront_sgpr_count", kRsrc1, 6, 4},
    Field{"priority", kRsrc1, 10, 2},
    Field{"float_mode", kRsrc1, 12, 8},
    Field{"priv", kRsrc1, 20, 1},
    Field{"enable_dx10_clamp", kRsrc1, 21, 1},
    Field{"debug_mode", kRsrc1, 22, 1},
    Field{"enable_ieee_mode", kRsrc1, 23, 1},
    Field{"enable_wgp_mode", kRsrc1, 29, 1},
    Field{"enable_mem_ordered", kRsrc1, 30, 1},
    Field{"enable_fwd_progress", kRsrc1, 31, 1},
    Field{"enable_sgpr_private_segment_wave_byte_offset", kRsrc2, 0, 1},
    Field{"user_sgpr_count", kRsrc2, 1, 5},
    Field{"enable_trap_handler", kRsrc2, 6, 1},
    Field{"enable_sgpr_workgroup_id_x", kRsrc2, 7, 1},
    Field{"enable_sgpr_workgroup_id_y", kRsrc2, 8, 1},
    Field{"enable_sgpr_workgroup_id_z", kRsrc2, 9, 1},
    Field{"enable_sgpr_workgroup_info", kRsrc2, 10, 1},
    Field{"enable_vgpr_workitem_id", kRsrc2, 11, 2},
    Field{"enable_exception_msb", kRsrc2, 13, 2},
    Field{"granulated_lds_size", kRsrc2, 15, 9},
    Field{"enable_exception", kRsrc2, 24, 7},
    Field{"enable_sgpr_private_segment_buffer", kProperties, 0, 1},
    Field{"enable_sgpr_dispatch_ptr", kProperties, 1, 1},
    Field{"enable_sgpr_queue_ptr", kProperties, 2, 1},
    Field{"enable_sgpr_kernarg_segment_ptr", kProperties, 3, 1},
    Field{"enable_sgpr_dispatch_id", kProperties, 4, 1},
    Field{"enable_sgpr_flat_scratch_init", kProperties, 5, 1},
    Field{"enable_sgpr_private_segment_size", kProperties, 6, 1},
    Field{"enable_sgpr_grid_workgroup_count_x", kProperties, 7, 1},
    Field{"enable_sgpr_grid_workgroup_count_y", kProperties, 8, 1},
    Field{"enable_sgpr_grid_workgroup_count_z", kProperties, 9, 1},
    Field{"enable_wavefront_size32", kProperties, 10, 1},
    Field{"enable_ordered_append_gds", kProperties, 16, 1},
    Field{"private_element_size", kProperties, 17, 2},
    Field{"is_ptr64", kProperties, 19, 1},
    Field{"is_dynamic_callstack", kProperties, 20, 1},
    Field{"is_debug_enabled", kProperties, 21, 1},
    Field{"is_xnack_enabled", kProperties, 22, 1},
    Field{"workitem_private_segment_byte_size", 60, 0, 32},
    Field{"workgroup_group_segment_byte_size", 64, 0, 32},
    Field{"gds_segment_byte_size", 68, 0, 32},
    Field{"kernarg_segment_byte_size", 72, 0, 64},
    Field{"workgroup_fbarrier_count", 80, 0, 32},
    Field{"wavefront_sgpr_count", 84, 0, 16},
    Field{"workitem_vgpr_count", 86, 0, 16},
    Field{"reserved_vgpr_first", 88, 0, 16},
    Field{"reserved_vgpr_count", 90, 0, 16},
    Field{"reserved_sgpr_first", 92, 0, 16},
    Field{"reserved_sgpr_count", 94, 0, 16},
    Field{"debug_wavefront_private_segment_offset_sgpr", 96, 0, 16},
    Field{"debug_private_segment_buffer_sgpr", 98, 0, 16},
    Field{"kernarg_segment_alignment", 100, 0, 8},
    Field{"group_segment_alignment", 101, 0, 8},
    Field{"private_segment_alignment", 102, 0, 8},
    Field{"wavefront_size", 103, 0, 8},
    Field{"call_convention", 104, 0, 32, true},
    Field{"runtime_loader_kernel_symbol", 120, 0, 64},
};

using Code = std::span<const std::byte, kAmdKernelCodeBytes>;
constexpr unsigned kBits = kAmdKernelCodeBytes * 8;

std::uint64_t bits_at(Code code, unsigned first, unsigned count) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned bit = first + i;
    value |= static_cast<std::uint64_t>(std::to_integer<unsigned>(code[bit / 8]) >> bit % 8 & 1) << i;
  }
  return value;
}

void write_value(std::uint64_t value, const Field& field, std::ostream& out) {
  if (!field.is_signed) {
    out << value;
  } else if (field.bits == 32) {
    out << static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  } else {
    out << static_cast<std::int64_t>(value);
  }
}

}  // namespace

void write_amd_kernel_code(Code code, std::ostream& out) {
  out << "\t.amd_kernel_code_t\n";
  std::bitset<kBits> shown;
  for (const Field& field : kFields) {
    const unsigned first = field.byte * 8 + field.bit;
    out << "\t\t" << field.name << " = ";
    write_value(bits_at(code, first, field.bits), field, out);
    out << '\n';
    for (unsigned i = 0; i < field.bits; ++i) shown.set(first + i);
  }
  for (unsigned dword = 0; dword < kAmdKernelCodeBytes / 4; ++dword) {
    std::uint64_t left = bits_at(code, dword * 32, 32);
    for (unsigned i = 0; i < 32; ++i)
      if (shown.test(dword * 32 + i)) left &= ~(std::uint64_t{1} << i);
    if (left == 0) continue;
    std::ostringstream text;
    text << "\t\t// no directive for byte " << std::dec << dword * 4 << ": 0x" << std::hex << std::setw(8) << std::setfill('0')
         << left << '\n';
    out << text.str();
  }
  out << "\t.end_amd_kernel_code_t\n";
}

}  // namespace lacuna
