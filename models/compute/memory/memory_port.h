// A memory port of a compute unit: translates the addresses of requests and sends them to the first-level cache.
//
//   made ---- translation ----> left ---- cache and below ----> answered
//
// Both the TLB and the cache may answer later; a request that waits for a translation is kept here, one that waits for the
// cache is the cache's, which answers the client itself. Nothing is allocated in steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/common/time/units.h"
#include "models/common/transport/line_memory.h"
#include "models/common/transport/translation_level.h"

namespace lacuna {

class MemoryPort : private TranslationClient {
 public:
  MemoryPort(LineClient& client, LineMemory& memory) : client_(client), memory_(&memory) {}
  MemoryPort(const MemoryPort&) = delete;
  MemoryPort& operator=(const MemoryPort&) = delete;

  void attach(LineMemory& memory) { memory_ = &memory; }
  /// Null: translation takes no time.
  void attach(TranslationLevel* tlb) { tlb_ = tlb; }
  TranslationLevel* tlb() const { return tlb_; }

  /// Requests the translation of a page, for the requests that follow.
  void translate(std::uint64_t address, Tick at);
  /// A request that is made at access.made, in the page translated last. True: `answer` holds the answer; false: the client
  /// gets it under `tag`.
  bool request(const LineAccess& access, std::uint32_t tag, LineAnswer& answer) {
    if (page_ != kNone) [[unlikely]] {
      keep(access, tag);
      return false;
    }
    return memory_->access(access, later(access.made, translated_), client_, tag, answer);
  }
  // As request(), for many lines whose pages have been translated:
  /// When a request that is made at `made`, in the page translated last, reaches the memory. False: that is not known yet.
  bool arrives(Tick made, Tick& at) const {
    at = later(made, translated_);
    return page_ == kNone;
  }
  /// LineMemory::access_lines().
  std::size_t request(const LineAccess& common, std::span<const InstructionLine> lines, std::uint32_t tag,
                      LineAnswer* answers) {
    return memory_->access_lines(common, lines, client_, tag, answers);
  }
  /// Drops everything in flight, after TLB and memory have.
  void reset();
  /// Requests that wait for a translation.
  std::size_t waiting() const { return requests_.size() - free_.size(); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// One that waits for a translation.
  struct Request {
    LineAccess access;
    std::uint32_t tag = 0;
    std::uint32_t next = kNone;  ///< that waits for the same one
  };
  /// A page whose translation is awaited, and the requests that wait for it, in order.
  struct Page {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  void translated(std::uint32_t page, Tick at) override;
  void keep(const LineAccess& access, std::uint32_t tag);

  LineClient& client_;
  LineMemory* memory_;
  TranslationLevel* tlb_ = nullptr;
  Tick translated_{};           ///< of the page translated last, when that is known
  std::uint32_t page_ = kNone;  ///< or else the page that is awaited
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_;
  std::vector<Page> pages_;
  std::vector<std::uint32_t> free_pages_;
  std::uint32_t spare_page_ = kNone;  ///< for the next translation without an immediate result
};

}  // namespace lacuna
