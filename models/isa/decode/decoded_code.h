// Decoded instructions of one address space, decoded once and found again in a couple of host instructions.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/isa/analysis/execution_profile.h"
#include "models/isa/analysis/register_masks.h"
#include "models/isa/decode/decoder.h"
#include "models/isa/memory/memory_interface.h"

namespace lacuna::isa {

/// Why there is no instruction at an address.
struct CodeError {
  enum class Kind : std::uint8_t { none, misaligned, not_mapped, not_executable, undecodable };
  Kind kind = Kind::none;
  std::string text;  ///< for a person: what is wrong, with the bytes when they do not decode
};

/// Lazily filled, by 4 KiB page of GPU virtual addresses. Like an instruction cache it does not notice writes to code:
/// revalidate() does, and whoever acquires (kernel start, s_icache_inv) calls it. Several threads may ask at(),
/// after() and explain() at the same time, as long as nobody writes to code meanwhile; the other calls are for one thread
/// alone.
class DecodedCode {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  /// `memory` must outlive this object.
  DecodedCode(const MemoryInterface& memory, Target target, const MatrixCodes& codes = {})
      : memory_(memory), target_(target), codes_(codes) {}
  DecodedCode(const DecodedCode&) = delete;
  DecodedCode& operator=(const DecodedCode&) = delete;

  /// The instruction at `pc`, or nullptr when it cannot be fetched or decoded: explain() tells why. The pointer stays valid
  /// until collect(), even when revalidate() replaces the page.
  const DecodedInstruction* at(std::uint64_t pc) {
    const Page* page = recent_[(pc / kPageBytes) % kRecent].load(std::memory_order_acquire);
    if (page != nullptr && page->base == (pc & ~(kPageBytes - 1)) && pc % 4 == 0) {
      const DecodedInstruction* found = page->instructions[(pc % kPageBytes) / 4].load(std::memory_order_acquire);
      if (found != nullptr) return found;
    }
    return decode_at(pc);
  }

  /// The same for who comes from `before`, or from nowhere when that is null. Straight-line code takes this way.
  const DecodedInstruction* after(const DecodedInstruction* before, std::uint64_t pc) {
    if (before != nullptr && before->end == pc) [[likely]] {
      if (const DecodedInstruction* known = before->following.load(std::memory_order_acquire); known != nullptr) return known;
      return follow(*before);
    }
    return at(pc);
  }

  CodeError explain(std::uint64_t pc) const;
  const MatrixCodes& matrix_codes() const { return codes_; }

  /// Forgets pages whose bytes or mapping have changed since they were decoded. Returns how many.
  unsigned revalidate();
  /// Frees what revalidate() replaced. Only when nobody holds an instruction.
  void collect() { retired_.clear(); }
  /// By Instruction::profile. Not while others decode.
  const ExecutionProfiles& profiles() const { return profiles_; }

 private:
  static constexpr unsigned kWords = kPageBytes / 4;
  static constexpr unsigned kTailWords = 2;  // an instruction may reach two words into the next page
  static constexpr unsigned kRecent = 16;

  struct Page {
    std::uint64_t base = 0;
    std::array<std::atomic<const DecodedInstruction*>, kWords> instructions{};
    std::vector<std::unique_ptr<DecodedInstruction>> storage;
    std::array<std::uint32_t, kWords + kTailWords> words{};
    std::bitset<kWords + kTailWords> present;  // mapped and executable when the page was read
    bool whole = true;                         // all of its own words are present
  };

  const DecodedInstruction* decode_at(std::uint64_t pc);
  const DecodedInstruction* follow(const DecodedInstruction& before);
  Page& page_of(std::uint64_t pc);
  void read_page(Page& page) const;
  bool unchanged(const Page& page) const;
  std::optional<std::uint32_t> word_at(std::uint64_t address) const;

  const MemoryInterface& memory_;
  Target target_;
  MatrixCodes codes_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;  // by base; never iterated for results
  std::array<std::atomic<Page*>, kRecent> recent_{};
  std::mutex decoding_;  ///< of pages_ and of what is in them, and of profiles_
  ExecutionProfiles profiles_;
  std::vector<std::unique_ptr<Page>> retired_;
};

}  // namespace lacuna::isa
