#include "drivers/rocm/runtime_blits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace lacuna::rocm {

namespace {

/// FNV-1a, 64 bits.
std::uint64_t digest(const std::byte* bytes, std::uint64_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < count; ++i) hash = (hash ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100000001b3;
  return hash;
}

/// Values of Blit::kernel.
enum Kernel : std::uint32_t { copy_aligned, copy_misaligned, fill, copy_buffer, copy_buffer_aligned, fill_buffer_aligned };

struct HsaCode {
  Kernel kernel;
  std::string_view name;  ///< contains a space, so that no kernel of a code object has the same name
  std::uint64_t bytes;
  std::uint64_t digest;
};
/// Code that ROCR-Runtime 5.2.3 uses on gfx8 and gfx9.
constexpr std::array kHsaCode{HsaCode{Kernel::fill, "Fill (HSA runtime)", 47 * 4, 0xc3fd25e8e46c95f0},
                              HsaCode{Kernel::copy_misaligned, "CopyMisaligned (HSA runtime)", 103 * 4, 0x7625bfdd9a90794d},
                              HsaCode{Kernel::copy_aligned, "CopyAligned (HSA runtime)", 124 * 4, 0xc9ed7ddde0f282c7}};

// Arguments of the HSA runtime's kernels. A copy consists of consecutive phases of different access widths; together they cover
// the range from the start of the first phase to the end of the last phase.
struct CopyAlignedArguments {
  std::uint64_t start[8];  ///< source and destination of four phases
  std::uint64_t source_end, destination_end;
  std::uint32_t work_items;
};
struct CopyMisalignedArguments {
  std::uint64_t start[4];  ///< source and destination of two phases
  std::uint64_t source_end, destination_end;
  std::uint32_t work_items;
};
struct FillArguments {
  std::uint64_t start[2];  ///< destination of two phases
  std::uint64_t end;
  std::uint32_t value;
  std::uint32_t work_items;
};

// Arguments of the kernels of HIP's runtime, in the layout of OpenCL C: the global offset follows the last argument.
struct CopyBufferArguments {
  std::uint64_t source, destination;
  std::uint64_t source_origin, destination_origin;  ///< copyBuffer: in bytes; copyBufferAligned: in elements
  std::uint64_t size;                               ///< number of work-items
  std::uint32_t remainder;                          ///< copyBuffer: bytes of the last work-item; 8 = one byte per work-item
  std::uint32_t padding;
  std::uint64_t global_offset;
};
struct FillBufferArguments {
  std::uint64_t destination[4];  ///< addresses for elements of 8, 16, 32 and 64 bits; all but one are null
  std::uint64_t pattern;
  std::uint32_t pattern_elements;
  std::uint32_t padding;
  std::uint64_t offset;  ///< offset in elements
  std::uint64_t size;    ///< number of work-items, each of which writes the pattern once
  std::uint64_t global_offset;
};

/// Reads the arguments of a dispatch, and stores a copy in `blit`.
template <class Arguments>
std::optional<Arguments> arguments(const GpuVm& vm, const Dispatch& dispatch, Blit& blit) {
  const std::byte* at = vm.pointer(dispatch.packet.kernarg_address, sizeof(Arguments), isa::Access::read);
  if (at == nullptr) return std::nullopt;
  blit.arguments.assign(at, at + sizeof(Arguments));
  Arguments result;
  std::memcpy(&result, at, sizeof result);
  return result;
}

/// Replaces the arguments of a dispatch by those stored in `blit`, modified by `edit`.
template <class Arguments, class Edit>
void edit_arguments(const GpuVm& vm, const Blit& blit, const Dispatch& dispatch, const Edit& edit) {
  Arguments changed;
  std::memcpy(&changed, blit.arguments.data(), sizeof changed);
  edit(changed);
  if (std::byte* at = vm.pointer(dispatch.packet.kernarg_address, sizeof changed, isa::Access::read)) {
    std::memcpy(at, &changed, sizeof changed);
  }
}

/// Maximum number of bytes per work-item that the loops of the HSA runtime's kernels move in one iteration.
constexpr std::uint64_t kHsaBlock = 64;

/// Allows the blit to be cut between two iterations of the loop over whole blocks, which covers [begin, end). Returns false if
/// the arguments are inconsistent.
bool cut_between_blocks(Blit& blit, std::uint64_t begin, std::uint64_t end, std::uint32_t work_items) {
  if (begin > end || end > blit.bytes) return false;
  blit.cut_begin = begin;
  blit.cut_end = end;
  blit.cut_step = kHsaBlock * work_items;
  return true;
}

/// Index of the destination in use: the widest that is not null, or 0.
unsigned widest(const FillBufferArguments& a) {
  unsigned log_element = 3;
  while (log_element > 0 && a.destination[log_element] == 0) --log_element;
  return log_element;
}

/// Whether the grid is one-dimensional, without global offset, and has a work-item for each of `size` items.
bool covers(const Dispatch& dispatch, std::uint64_t size, std::uint64_t global_offset) {
  return global_offset == 0 && dispatch.grid[0] >= size && dispatch.grid[1] == 1 && dispatch.grid[2] == 1;
}

bool read_pattern(const GpuVm& vm, Blit& blit, std::uint64_t address, std::uint64_t bytes) {
  const std::byte* from = vm.pointer(address, bytes, isa::Access::read);
  if (from != nullptr) blit.pattern.assign(from, from + bytes);
  return from != nullptr;
}

std::optional<Blit> find_by_code(const GpuVm& vm, const Dispatch& dispatch) {
  const auto code = std::find_if(kHsaCode.begin(), kHsaCode.end(), [&](const HsaCode& c) { return c.name == dispatch.kernel; });
  if (code == kHsaCode.end()) return std::nullopt;
  Blit blit{.element = 4};
  const auto copy_between = [&blit](const auto& a, std::size_t block_phase) {
    const std::uint64_t end = a.start[block_phase + 2];
    blit.source = a.start[0];
    blit.destination = a.start[1];
    blit.bytes = a.source_end - a.start[0];
    return a.source_end >= a.start[0] && blit.bytes == a.destination_end - a.start[1] &&
           cut_between_blocks(blit, a.start[block_phase] - a.start[0], end - a.start[0], a.work_items);
  };
  bool good = false;
  switch (code->kernel) {
    case Kernel::copy_aligned: {
      blit.kernel = Kernel::copy_aligned;
      const auto a = arguments<CopyAlignedArguments>(vm, dispatch, blit);
      good = a && copy_between(*a, 2);  // bytes up to an aligned address, then blocks
      break;
    }
    case Kernel::copy_misaligned: {
      blit.kernel = Kernel::copy_misaligned;
      const auto a = arguments<CopyMisalignedArguments>(vm, dispatch, blit);
      good = a && copy_between(*a, 0);
      break;
    }
    case Kernel::fill: {
      blit.kernel = Kernel::fill;
      const auto a = arguments<FillArguments>(vm, dispatch, blit);
      if (!a || a->end < a->start[0]) break;
      blit.destination = a->start[0];
      blit.bytes = a->end - a->start[0];
      good = cut_between_blocks(blit, 0, a->start[1] - a->start[0], a->work_items) &&
             read_pattern(vm, blit, dispatch.packet.kernarg_address + offsetof(FillArguments, value), sizeof a->value);
      break;
    }
    default:
      break;
  }
  return good ? std::optional(blit) : std::nullopt;
}

std::optional<Blit> find_by_name(const GpuVm& vm, const Dispatch& dispatch) {
  constexpr std::string_view kPrefix = "__amd_rocclr_";
  std::string_view name = dispatch.kernel;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  Blit blit;
  if (name == "copyBuffer" || name == "copyBufferAligned") {
    const auto a = arguments<CopyBufferArguments>(vm, dispatch, blit);
    if (!a || !covers(dispatch, a->size, a->global_offset) || a->size == 0) return std::nullopt;
    std::uint64_t origin_unit = 1;
    if (name == "copyBuffer") {
      // Copies either bytes, or words, of which the last may be partial; origins are in bytes.
      blit.kernel = Kernel::copy_buffer;
      blit.element = a->remainder == 8 ? 1 : 4;
      blit.bytes = a->remainder == 8 ? a->size : (a->size - 1) * 4 + a->remainder;
    } else {
      blit.kernel = Kernel::copy_buffer_aligned;
      blit.element = origin_unit = a->remainder == 16 ? 16 : 4;
      blit.bytes = a->size * blit.element;
    }
    blit.source = a->source + a->source_origin * origin_unit;
    blit.destination = a->destination + a->destination_origin * origin_unit;
  } else if (name == "fillBufferAligned") {
    const auto a = arguments<FillBufferArguments>(vm, dispatch, blit);
    if (!a || !covers(dispatch, a->size, a->global_offset) || a->pattern_elements == 0) return std::nullopt;
    blit.kernel = Kernel::fill_buffer_aligned;
    const unsigned log_element = widest(*a);
    if (a->destination[log_element] == 0) return std::nullopt;
    blit.element = std::uint64_t{a->pattern_elements} << log_element;
    blit.destination = a->destination[log_element] + (a->offset << log_element);
    blit.bytes = a->size * blit.element;
    if (!read_pattern(vm, blit, a->pattern, blit.element)) return std::nullopt;
  } else {
    return std::nullopt;
  }
  // The blit can be cut between any two workgroups.
  blit.workgroup_per_step = true;
  blit.cut_end = blit.bytes;
  blit.cut_step = blit.element * dispatch.workgroup[0];
  return blit;
}

}  // namespace

std::string_view RuntimeBlits::name(const GpuVm& vm, std::uint64_t entry) const {
  const auto code = std::find_if(kHsaCode.begin(), kHsaCode.end(), [&](const HsaCode& c) {
    const std::byte* at = vm.pointer(entry, c.bytes, isa::Access::execute);
    return at != nullptr && digest(at, c.bytes) == c.digest;
  });
  return code == kHsaCode.end() ? std::string_view{} : code->name;
}

std::optional<Blit> RuntimeBlits::find(const GpuVm& vm, const Dispatch& dispatch) const {
  std::optional<Blit> blit = find_by_name(vm, dispatch);
  return blit ? blit : find_by_code(vm, dispatch);
}

void RuntimeBlits::narrow(const GpuVm& vm, const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const {
  const auto clamp = [from, to](std::uint64_t& address, std::uint64_t base) {
    address = base + std::clamp(address - base, from, to);
  };
  const auto between = [&](auto& a) {
    for (std::size_t i = 0; i < std::size(a.start); i += 2) {
      clamp(a.start[i], blit.source);
      clamp(a.start[i + 1], blit.destination);
    }
    clamp(a.source_end, blit.source);
    clamp(a.destination_end, blit.destination);
  };
  // One work-item per element.
  const std::uint64_t items = (to - from + blit.element - 1) / blit.element;
  switch (blit.kernel) {
    case Kernel::copy_aligned:
      return edit_arguments<CopyAlignedArguments>(vm, blit, dispatch, between);
    case Kernel::copy_misaligned:
      return edit_arguments<CopyMisalignedArguments>(vm, blit, dispatch, between);
    case Kernel::fill:
      return edit_arguments<FillArguments>(vm, blit, dispatch, [&](FillArguments& a) {
        for (std::uint64_t& start : a.start) clamp(start, blit.destination);
        clamp(a.end, blit.destination);
      });
    case Kernel::copy_buffer:
    case Kernel::copy_buffer_aligned: {
      const std::uint64_t unit = blit.kernel == Kernel::copy_buffer ? 1 : blit.element;
      edit_arguments<CopyBufferArguments>(vm, blit, dispatch, [&](CopyBufferArguments& a) {
        a.source_origin += from / unit;
        a.destination_origin += from / unit;
        a.size = items;
        // Only the last piece of the whole copy may end with a partial word.
        if (blit.kernel == Kernel::copy_buffer && blit.element == 4 && to != blit.bytes) a.remainder = 4;
      });
      break;
    }
    case Kernel::fill_buffer_aligned:
      edit_arguments<FillBufferArguments>(vm, blit, dispatch, [&](FillBufferArguments& a) {
        a.offset += from >> widest(a);
        a.size = items;
      });
      break;
  }
  const std::uint64_t workgroups = (items + dispatch.workgroup[0] - 1) / dispatch.workgroup[0];
  dispatch.workgroups[0] = static_cast<std::uint32_t>(workgroups);
  dispatch.grid[0] = static_cast<std::uint32_t>(workgroups * dispatch.workgroup[0]);
}

}  // namespace lacuna::rocm
