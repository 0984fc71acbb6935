#include "models/command/pm4.h"

#include <fmt/format.h>

#include <cstring>

namespace lacuna {
namespace {

enum Opcode : unsigned { kNop = 0x10, kIndirectBuffer = 0x3f, kReleaseMem = 0x49, kAcquireMem = 0x58 };

constexpr unsigned kIndirectBufferWords = 3;
constexpr std::uint32_t kOneWordNop = 0xffff1000;
// CP_COHER_CNTL
constexpr std::uint32_t kL2WriteBack = 1u << 18;
constexpr std::uint32_t kL1Vector = 1u << 22;
constexpr std::uint32_t kL2Invalidate = 1u << 23;
constexpr std::uint32_t kScalar = 1u << 27;
constexpr std::uint32_t kInstruction = 1u << 29;
// RELEASE_MEM: the event with this index retires the ring slot that the commands fill.
constexpr unsigned kRetireEvent = 7;

}  // namespace

Pm4Actions Pm4Reader::read_slot(const std::byte* slot) const {
  Slot words;
  std::memcpy(words.data(), slot, sizeof words);
  Pm4Actions actions;
  read(words, true, actions);
  return actions;
}

Pm4Actions Pm4Reader::read_vendor_packet(const std::byte* packet) const {
  Slot words;
  std::memcpy(words.data(), packet, sizeof words);
  Pm4Actions actions;
  // Dword 0 is the AQL header; the command takes dwords 1 to 4.
  read(std::span<const std::uint32_t>(words).subspan(1, 1 + kIndirectBufferWords), true, actions);
  return actions;
}

void Pm4Reader::read(std::span<const std::uint32_t> words, bool in_slot, Pm4Actions& actions) const {
  while (!words.empty() && actions.error.empty()) {
    const std::uint32_t header = words[0];
    if (header >> 30 == 2 || (header & kOneWordNop) == kOneWordNop) {  // a NOP of one word
      words = words.subspan(1);
      continue;
    }
    const unsigned opcode = header >> 8 & 0xff;
    const std::size_t count = (header >> 16 & 0x3fff) + 1;
    if (header >> 30 != 3 || count >= words.size()) {
      actions.error = fmt::format("PM4 header {:#010x} with {} dwords left is not a command", header, words.size() - 1);
      return;
    }
    const auto payload = words.subspan(1, count);
    switch (opcode) {
      case kNop:
        break;
      case kIndirectBuffer:
        if (!in_slot || count < kIndirectBufferWords) {
          actions.error = "PM4 INDIRECT_BUFFER inside another one, or without an address";
          return;
        }
        read_indirect(payload, actions);
        break;
      case kAcquireMem:
        actions.invalidate_l1 |= (payload[0] & (kInstruction | kScalar | kL1Vector)) != 0;
        actions.invalidate_l2 |= (payload[0] & kL2Invalidate) != 0;
        actions.write_back_l2 |= (payload[0] & kL2WriteBack) != 0;
        break;
      case kReleaseMem:
        if (!in_slot || (payload[0] >> 8 & 0xf) != kRetireEvent) {
          actions.error = fmt::format("PM4 RELEASE_MEM with event {:#x} is not supported", payload[0]);
        }
        break;
      default:
        actions.error = fmt::format("PM4 command {:#x} (header {:#010x}) is not supported", opcode, header);
        return;
    }
    words = words.subspan(1 + count);
  }
}

void Pm4Reader::read_indirect(std::span<const std::uint32_t> payload, Pm4Actions& actions) const {
  const std::uint64_t address = (payload[0] & ~3u) | std::uint64_t{payload[1] & 0xffff} << 32;
  const std::uint64_t words = payload[2] & 0xfffff;
  const std::byte* host = vm_.pointer(address, words * 4, isa::Access::read);
  if (host == nullptr) {
    actions.error =
        fmt::format("PM4 indirect buffer of {} dwords at {:#x} is not mapped; {}", words, address, vm_.nearest(address));
    return;
  }
  // The cast is valid: the address is a multiple of 4, and so is the start of its page.
  read({reinterpret_cast<const std::uint32_t*>(host), words}, false, actions);
}

}  // namespace lacuna
