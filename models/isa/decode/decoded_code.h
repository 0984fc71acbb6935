// Decoded instructions of one address space: each is decoded once and then looked up in a few host instructions.
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

/// Reason why there is no instruction at an address.
struct CodeError {
  enum class Kind : std::uint8_t { none, misaligned, not_mapped, not_executable, undecodable };
  Kind kind = Kind::none;
  std::string text;  ///< message for the user, with the bytes if they do not decode
};

/// Notified when code in memory may have changed: at each acquire.
class CodeObserver {
 public:
  virtual ~CodeObserver() = default;
  virtual void code_revalidated() = 0;
};

/// Cache of decoded instructions, filled lazily by 4 KiB page of GPU virtual addresses. Like an instruction cache, it is not
/// coherent with writes to code: revalidate() drops stale pages and is called at each acquire (kernel start, s_icache_inv).
/// Several threads may call at(), after() and explain() concurrently, as long as no thread writes to code; the other functions
/// are for a single thread.
class DecodedCode {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  /// `memory` must outlive this object.
  DecodedCode(const MemoryInterface& memory, Target target, const MatrixCodes& codes = {})
      : memory_(memory), target_(target), codes_(codes) {}
  DecodedCode(const DecodedCode&) = delete;
  DecodedCode& operator=(const DecodedCode&) = delete;

  /// The instruction at `pc`, or nullptr if it cannot be fetched or decoded: explain() returns the reason. The pointer stays
  /// valid until collect(), even if revalidate() replaces the page.
  const DecodedInstruction* at(std::uint64_t pc) {
    const Page* page = recent_[(pc / kPageBytes) % kRecent].load(std::memory_order_acquire);
    if (page != nullptr && page->base == (pc & ~(kPageBytes - 1)) && pc % 4 == 0) {
      const DecodedInstruction* found = page->instructions[(pc % kPageBytes) / 4].load(std::memory_order_acquire);
      if (found != nullptr) return found;
    }
    return decode_at(pc);
  }

  /// As at(), for a program that continues after instruction `before`, which may be null. Fast path of straight-line code.
  const DecodedInstruction* after(const DecodedInstruction* before, std::uint64_t pc) {
    if (before != nullptr && before->end == pc) [[likely]] {
      if (const DecodedInstruction* known = before->following.load(std::memory_order_acquire); known != nullptr) return known;
      return follow(*before);
    }
    return at(pc);
  }

  CodeError explain(std::uint64_t pc) const;
  const MatrixCodes& matrix_codes() const { return codes_; }

  /// Adds an observer of revalidate().
  void attach(CodeObserver& observer) { observers_.push_back(&observer); }
  /// Drops pages whose bytes or mapping have changed since they were decoded. Returns their number.
  unsigned revalidate();
  /// Frees the pages that revalidate() has replaced. Call it only when no pointer to an instruction is in use.
  void collect() { retired_.clear(); }
  /// Execution profiles, indexed by Instruction::profile. Must not be called while other threads decode.
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
    bool whole = true;                         // all words of the page itself are present
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
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;  // pages by base address; results ignore their order
  std::array<std::atomic<Page*>, kRecent> recent_{};
  std::mutex decoding_;  ///< protects pages_ with their contents, and profiles_
  ExecutionProfiles profiles_;
  std::vector<std::unique_ptr<Page>> retired_;
  std::vector<CodeObserver*> observers_;
};

}  // namespace lacuna::isa
