#include "models/sdma/sdma_packets.h"

#include <fmt/format.h>

#include <algorithm>

namespace lacuna::sdma {

namespace {

enum Op : unsigned {
  kNop = 0,
  kCopy = 1,
  kWrite = 2,
  kIndirect = 4,
  kFence = 5,
  kTrap = 6,
  kPoll = 8,
  kConditional = 9,
  kAtomic = 10,
  kFill = 11,
  kTimestamp = 13
};
constexpr unsigned kCopyLinear = 0;
constexpr unsigned kCopyWindow = 4;
constexpr unsigned kWriteLinear = 0;

constexpr unsigned bits(std::uint32_t word, unsigned high, unsigned low) {
  return word >> low & static_cast<std::uint32_t>((std::uint64_t{1} << (high - low + 1)) - 1);
}
constexpr unsigned operation(std::uint32_t header) { return bits(header, 7, 0); }
constexpr unsigned suboperation(std::uint32_t header) { return bits(header, 15, 8); }
constexpr bool broadcast(std::uint32_t header) { return bits(header, 27, 27) != 0; }

std::uint64_t pair(std::span<const std::uint32_t> head, unsigned low) {
  return head[low] | static_cast<std::uint64_t>(head[low + 1]) << 32;
}

std::uint64_t write_words(std::span<const std::uint32_t> head, const Format& format) {
  return bits(head[3], 21, 0) + (format.counts_less_one ? 1U : 0U);
}

Packet decode_copy(std::span<const std::uint32_t> head, const Format& format) {
  if (suboperation(head[0]) == kCopyLinear) {
    Copy copy{.source = pair(head, 3),
              .destination = {pair(head, 5), 0},
              .destinations = 1,
              .bytes = bits(head[1], 21, 0) + (format.counts_less_one ? 1U : 0U)};
    if (broadcast(head[0])) {
      copy.destination[1] = pair(head, 7);
      copy.destinations = 2;
    }
    return copy;
  }
  const unsigned log_element = bits(head[0], 31, 29);
  if (log_element > 4)
    return Invalid{fmt::format("sub-window copy with element size code {}, at most 4 is possible", log_element)};
  const auto array = [&](unsigned at) {
    return CopyWindow::Array{.base = pair(head, at),
                             .x = bits(head[at + 2], 13, 0),
                             .y = bits(head[at + 2], 29, 16),
                             .z = bits(head[at + 3], 10, 0),
                             .pitch = (head[at + 3] >> format.pitch_shift & format.pitch_mask) + 1ULL,
                             .slice = bits(head[at + 4], 27, 0) + 1ULL};
  };
  return CopyWindow{.element = 1U << log_element,
                    .source = array(1),
                    .destination = array(6),
                    .width = bits(head[11], 13, 0) + 1,
                    .height = bits(head[11], 29, 16) + 1,
                    .depth = bits(head[12], 10, 0) + 1};
}

Packet decode_fill(std::span<const std::uint32_t> head, const Format& format) {
  const unsigned code = bits(head[0], 31, 30);
  if (code > 2) return Invalid{"constant fill with size code 3"};
  const unsigned unit = 1U << code;
  // The count field is in bytes, but fills write whole units: the runtime passes (units - 1) * 4 where drivers pass bytes - 1.
  const std::uint64_t units = (bits(head[4], 21, 0) >> code) + (format.counts_less_one ? 1U : 0U);
  return Fill{.destination = pair(head, 1), .bytes = units * unit, .data = head[3], .unit = unit};
}

// Decodes TC_OP_ATOMIC_* codes: bit 6 means without return, bit 5 means 64 bits wide.
std::optional<AtomicOperation> atomic_operation(unsigned code) {
  constexpr unsigned kFirstInteger = 15;
  constexpr std::array kInteger{AtomicOperation::add,          AtomicOperation::sub,        AtomicOperation::min_signed,
                                AtomicOperation::min_unsigned, AtomicOperation::max_signed, AtomicOperation::max_unsigned,
                                AtomicOperation::bit_and,      AtomicOperation::bit_or,     AtomicOperation::bit_xor,
                                AtomicOperation::inc,          AtomicOperation::dec};
  const unsigned low = code & 0x1f;
  if (low == 7) return AtomicOperation::exchange;
  if (low == 8) return AtomicOperation::compare_exchange;
  if (low >= kFirstInteger && low < kFirstInteger + kInteger.size()) return kInteger[low - kFirstInteger];
  return std::nullopt;
}

Packet decode_atomic(std::span<const std::uint32_t> head) {
  const unsigned code = bits(head[0], 31, 25);
  const auto operation = atomic_operation(code);
  if (!operation) return Invalid{fmt::format("atomic with operation {}, which is not an integer operation", code)};
  return Atomic{.address = pair(head, 1),
                .operation = *operation,
                .bytes = (code & 0x20) != 0 ? 8U : 4U,
                .operand = pair(head, 3),
                .comparand = pair(head, 5),
                .loop = bits(head[0], 16, 16) != 0};
}

template <class T>
T apply(AtomicOperation operation, T old, T operand, T comparand) {
  using Signed = std::make_signed_t<T>;
  switch (operation) {
    case AtomicOperation::exchange:
      return operand;
    case AtomicOperation::compare_exchange:
      return old == comparand ? operand : old;
    case AtomicOperation::add:
      return old + operand;
    case AtomicOperation::sub:
      return old - operand;
    case AtomicOperation::min_signed:
      return static_cast<Signed>(operand) < static_cast<Signed>(old) ? operand : old;
    case AtomicOperation::min_unsigned:
      return std::min(old, operand);
    case AtomicOperation::max_signed:
      return static_cast<Signed>(operand) > static_cast<Signed>(old) ? operand : old;
    case AtomicOperation::max_unsigned:
      return std::max(old, operand);
    case AtomicOperation::bit_and:
      return old & operand;
    case AtomicOperation::bit_or:
      return old | operand;
    case AtomicOperation::bit_xor:
      return old ^ operand;
    case AtomicOperation::inc:
      return old >= operand ? 0 : old + 1;
    case AtomicOperation::dec:
      return old == 0 || old > operand ? operand : old - 1;
  }
  return old;
}

}  // namespace

Format Format::of(isa::Target target, Gfx8Pitch gfx8_pitch) {
  if (target != isa::Target::gfx803) {
    return {.counts_less_one = true, .pitch_shift = 13, .pitch_mask = 0x7ffff, .pointers_wrap = false};
  }
  if (gfx8_pitch == Gfx8Pitch::rocm) {
    return {.counts_less_one = false, .pitch_shift = 13, .pitch_mask = 0x7ffff, .pointers_wrap = true};
  }
  return {.counts_less_one = false, .pitch_shift = 16, .pitch_mask = 0x3fff, .pointers_wrap = true};
}

bool Poll::satisfied(std::uint32_t value) const {
  const std::uint32_t seen = value & mask;
  switch (function) {
    case 1:
      return seen < reference;
    case 2:
      return seen <= reference;
    case 3:
      return seen == reference;
    case 4:
      return seen != reference;
    case 5:
      return seen >= reference;
    case 6:
      return seen > reference;
    default:
      return true;
  }
}

std::uint64_t Atomic::result(std::uint64_t old) const {
  if (bytes == 8) return apply<std::uint64_t>(operation, old, operand, comparand);
  return apply<std::uint32_t>(operation, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand),
                              static_cast<std::uint32_t>(comparand));
}

std::optional<std::uint64_t> words(std::span<const std::uint32_t> head, const Format& format) {
  if (head.empty()) return std::nullopt;
  switch (operation(head[0])) {
    case kNop:
      return bits(head[0], 29, 16) + 1ULL;
    case kCopy:
      if (suboperation(head[0]) == kCopyLinear) return broadcast(head[0]) ? 9 : 7;
      return suboperation(head[0]) == kCopyWindow ? 13 : 1;
    case kWrite:
      if (suboperation(head[0]) != kWriteLinear) return 1;
      if (head.size() < Write::kHeader) return std::nullopt;
      return Write::kHeader + write_words(head, format);
    case kIndirect:
      return 6;
    case kFence:
      return 4;
    case kTrap:
      return 2;
    case kPoll:
      return 6;
    case kConditional:
      return 5;
    case kAtomic:
      return 8;
    case kFill:
      return 5;
    case kTimestamp:
      return 3;
    default:
      return 1;
  }
}

Packet decode(std::span<const std::uint32_t> head, const Format& format) {
  const auto unknown = [&] {
    return Invalid{fmt::format("packet header {:#010x}: operation {}, sub-operation {} is not supported", head[0],
                               operation(head[0]), suboperation(head[0]))};
  };
  switch (operation(head[0])) {
    case kNop:
      return Nop{};
    case kCopy:
      if (suboperation(head[0]) != kCopyLinear && suboperation(head[0]) != kCopyWindow) return unknown();
      return decode_copy(head, format);
    case kWrite:
      if (suboperation(head[0]) != kWriteLinear) return unknown();
      return Write{.destination = pair(head, 1), .words = write_words(head, format)};
    case kIndirect:
      return Indirect{.address = pair(head, 1) & ~std::uint64_t{0x1f}, .words = bits(head[3], 19, 0)};
    case kFence:
      return Fence{.address = pair(head, 1), .data = head[3]};
    case kTrap:
      return Trap{.context = bits(head[1], 27, 0)};
    case kPoll:
      return Poll{.address = pair(head, 1),
                  .reference = head[3],
                  .mask = head[4],
                  .function = bits(head[0], 30, 28),
                  .retries = bits(head[5], 27, 16),
                  .memory = bits(head[0], 31, 31) != 0};
    case kConditional:
      return Conditional{.address = pair(head, 1), .reference = head[3], .words = bits(head[4], 13, 0)};
    case kAtomic:
      return decode_atomic(head);
    case kFill:
      return decode_fill(head, format);
    case kTimestamp:
      if (suboperation(head[0]) > 2) return unknown();
      return Timestamp{.kind = static_cast<Timestamp::Kind>(suboperation(head[0])), .value = pair(head, 1)};
    default:
      return unknown();
  }
}

}  // namespace lacuna::sdma
