#include "models/gpu/runtime_blits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace lacuna {

namespace {

/// FNV-1a, 64 bits.
std::uint64_t digest(const std::byte* bytes, std::uint64_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < count; ++i) hash = (hash ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100000001b3;
  return hash;
}

enum class HsaKernel : std::uint8_t { copy_aligned, copy_misaligned, fill };
struct HsaCode {
  HsaKernel kernel;
  std::string_view name;  ///< with a blank: no kernel of a code object is called so
  std::uint64_t bytes;
  std::uint64_t digest;
};
/// The code of ROCR-Runtime 5.2.3 for gfx8, which it uses on gfx9, too.
constexpr std::array kHsaCode{HsaCode{HsaKernel::fill, "Fill (HSA runtime)", 47 * 4, 0xc3fd25e8e46c95f0},
                              HsaCode{HsaKernel::copy_misaligned, "CopyMisaligned (HSA runtime)", 103 * 4, 0x7625bfdd9a90794d},
                              HsaCode{HsaKernel::copy_aligned, "CopyAligned (HSA runtime)", 124 * 4, 0xc9ed7ddde0f282c7}};

// Arguments. A copy has phases of different widths: the first one's begin and the last one's end are the whole.
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
  std::uint64_t start[2];  ///< of two phases
  std::uint64_t end;
  std::uint32_t value;
  std::uint32_t work_items;
};

// HIP's runtime: as OpenCL C lays arguments out, with the global offset behind the last one.
struct CopyBufferArguments {
  std::uint64_t source, destination;
  std::uint64_t source_origin, destination_origin;  ///< in elements
  std::uint64_t size;                               ///< in work-items
  std::uint32_t remainder;                          ///< of copyBuffer: bytes of the last work-item, or 8 = one byte each
  std::uint32_t padding;
  std::uint64_t global_offset;
};
struct FillBufferArguments {
  std::uint64_t destination[4];  ///< of bytes, 16, 32 and 64 bits: one of them, the others are null
  std::uint64_t pattern;
  std::uint32_t pattern_elements;
  std::uint32_t padding;
  std::uint64_t offset;  ///< in elements
  std::uint64_t size;    ///< in work-items, each of which writes the pattern once
  std::uint64_t global_offset;
};

template <class Arguments>
std::optional<Arguments> arguments(const GpuVm& vm, const Dispatch& dispatch) {
  const std::byte* at = vm.pointer(dispatch.packet.kernarg_address, sizeof(Arguments), isa::Access::read);
  if (at == nullptr) return std::nullopt;
  Arguments result;
  std::memcpy(&result, at, sizeof result);
  return result;
}

/// Each of `size` work-items has one to do it.
bool covers(const Dispatch& dispatch, std::uint64_t size, std::uint64_t global_offset) {
  return global_offset == 0 && dispatch.grid[0] >= size && dispatch.grid[1] == 1 && dispatch.grid[2] == 1;
}

}  // namespace

std::string_view hsa_runtime_kernel(const GpuVm& vm, std::uint64_t entry) {
  const auto code = std::find_if(kHsaCode.begin(), kHsaCode.end(), [&](const HsaCode& c) {
    const std::byte* at = vm.pointer(entry, c.bytes, isa::Access::execute);
    return at != nullptr && digest(at, c.bytes) == c.digest;
  });
  return code == kHsaCode.end() ? std::string_view{} : code->name;
}

bool RuntimeBlits::perform(const Dispatch& dispatch) const { return perform_by_name(dispatch) || perform_by_code(dispatch); }

bool RuntimeBlits::perform_by_code(const Dispatch& dispatch) const {
  const auto code = std::find_if(kHsaCode.begin(), kHsaCode.end(), [&](const HsaCode& c) { return c.name == dispatch.kernel; });
  if (code == kHsaCode.end()) return false;
  const auto copy_between = [this](std::uint64_t source, std::uint64_t destination, std::uint64_t source_end,
                                   std::uint64_t destination_end) {
    if (source_end < source || source_end - source != destination_end - destination) return false;
    return copy({.source = source, .destination = destination, .bytes = source_end - source});
  };
  switch (code->kernel) {
    case HsaKernel::copy_aligned: {
      const auto a = arguments<CopyAlignedArguments>(vm_, dispatch);
      return a && copy_between(a->start[0], a->start[1], a->source_end, a->destination_end);
    }
    case HsaKernel::copy_misaligned: {
      const auto a = arguments<CopyMisalignedArguments>(vm_, dispatch);
      return a && copy_between(a->start[0], a->start[1], a->source_end, a->destination_end);
    }
    case HsaKernel::fill: {
      const auto a = arguments<FillArguments>(vm_, dispatch);
      return a && a->end >= a->start[0] &&
             fill({.destination = a->start[0],
                   .bytes = a->end - a->start[0],
                   .pattern = dispatch.packet.kernarg_address + offsetof(FillArguments, value),
                   .pattern_bytes = sizeof a->value});
    }
  }
  return false;
}

bool RuntimeBlits::perform_by_name(const Dispatch& dispatch) const {
  constexpr std::string_view kPrefix = "__amd_rocclr_";
  std::string_view name = dispatch.kernel;
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  if (name == "copyBuffer" || name == "copyBufferAligned") {
    const auto a = arguments<CopyBufferArguments>(vm_, dispatch);
    if (!a || !covers(dispatch, a->size, a->global_offset) || a->size == 0) return false;
    if (name == "copyBuffer") {
      // Either bytes, or words of which the last one may be cut short; origins are bytes.
      const std::uint64_t bytes = a->remainder == 8 ? a->size : (a->size - 1) * 4 + a->remainder;
      return copy(
          {.source = a->source + a->source_origin, .destination = a->destination + a->destination_origin, .bytes = bytes});
    }
    const std::uint64_t element = a->remainder == 16 ? 16 : 4;
    return copy({.source = a->source + a->source_origin * element,
                 .destination = a->destination + a->destination_origin * element,
                 .bytes = a->size * element});
  }
  if (name == "fillBufferAligned") {
    const auto a = arguments<FillBufferArguments>(vm_, dispatch);
    if (!a || !covers(dispatch, a->size, a->global_offset) || a->pattern_elements == 0) return false;
    // The widest that is not null.
    for (unsigned log_element = 4; log_element-- > 0;) {
      if (a->destination[log_element] == 0) continue;
      const std::uint64_t pattern_bytes = std::uint64_t{a->pattern_elements} << log_element;
      return fill({.destination = a->destination[log_element] + (a->offset << log_element),
                   .bytes = a->size * pattern_bytes,
                   .pattern = a->pattern,
                   .pattern_bytes = pattern_bytes});
    }
  }
  return false;
}

bool RuntimeBlits::mapped(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const {
  while (bytes > 0) {
    const isa::MemoryWindow window = vm_.find(address);
    if (!window.contains(address, 1) || !isa::allows(window.granted, wanted)) return false;
    const std::uint64_t piece = std::min(bytes, window.base + window.size - address);
    address += piece;
    bytes -= piece;
  }
  return true;
}

template <class Piece>
void RuntimeBlits::pieces(std::uint64_t address, std::uint64_t bytes, const Piece& piece) const {
  for (std::uint64_t done = 0; done < bytes;) {
    const isa::MemoryWindow window = vm_.find(address + done);
    const std::uint64_t offset = address + done - window.base;
    const std::uint64_t count = std::min(bytes - done, window.size - offset);
    piece(window.host + offset, done, count);
    done += count;
  }
}

bool RuntimeBlits::copy(const Copy& c) const {
  if (!mapped(c.source, c.bytes, isa::Access::read) || !mapped(c.destination, c.bytes, isa::Access::write)) return false;
  pieces(c.destination, c.bytes, [&](std::byte* to, std::uint64_t done, std::uint64_t count) {
    pieces(c.source + done, count,
           [&](const std::byte* from, std::uint64_t further, std::uint64_t part) { std::memmove(to + further, from, part); });
  });
  return true;
}

bool RuntimeBlits::fill(const Fill& f) const {
  const std::byte* from = vm_.pointer(f.pattern, f.pattern_bytes, isa::Access::read);
  if (from == nullptr || !mapped(f.destination, f.bytes, isa::Access::write)) return false;
  const std::vector<std::byte> pattern(from, from + f.pattern_bytes);
  pieces(f.destination, f.bytes, [&](std::byte* to, std::uint64_t done, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) to[i] = pattern[(done + i) % pattern.size()];
  });
  return true;
}

}  // namespace lacuna
