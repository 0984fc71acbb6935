// A memory port of a compute unit: translates the addresses of requests and sends them to the first-level cache.
//
//   made ---- translation ----> arrived ---- cache and below ----> done
//
// Both the TLB and the cache may respond later. The port keeps requests that wait for a translation; the cache keeps those that
// it has accepted, and responds to the client directly. Nothing is allocated in steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/common/containers/waiter_lists.h"
#include "models/common/time/units.h"
#include "models/common/transport/memory_request.h"
#include "models/common/transport/translation_level.h"

namespace lacuna {

class MemoryPort : private TranslationClient {
 public:
  MemoryPort(MemoryClient& client, MemoryTarget& memory) : client_(client), memory_(&memory) {}
  MemoryPort(const MemoryPort&) = delete;
  MemoryPort& operator=(const MemoryPort&) = delete;

  void attach(MemoryTarget& memory) { memory_ = &memory; }
  /// Attaches the TLB; null: translation takes no time.
  void attach(TranslationLevel* tlb) { tlb_ = tlb; }
  TranslationLevel* tlb() const { return tlb_; }

  /// Requests the translation of the page of an address. The requests that follow are to this page.
  void translate(std::uint64_t address, Tick at);
  /// Sends a request that is made at request.made, to the page translated last. Returns true if `response` is valid; otherwise
  /// the client receives the response later, with `tag`.
  bool request(const MemoryRequest& request, std::uint32_t tag, MemoryResponse& response) {
    if (page_ != kNone) [[unlikely]] {
      requests_.append(pages_[page_], {request, tag});
      return false;
    }
    return memory_->request(request, later(request.made, translated_), client_, tag, response);
  }
  // For many lines, arrives() and request_all() are used instead of request().
  /// Sets `at` to the time at which a request that is made at `made`, to the page translated last, reaches the memory. Returns
  /// false if this time is not known yet.
  bool arrives(Tick made, Tick& at) const {
    at = later(made, translated_);
    return page_ == kNone;
  }
  /// Same as MemoryTarget::request_all().
  std::size_t request_all(std::span<const MemoryRequest> requests, const Tick* at, std::uint32_t tag,
                          MemoryResponse* responses) {
    return memory_->request_all(requests, at, client_, tag, responses);
  }
  /// Drops everything in flight. The caller also resets TLB and memory.
  void reset();
  /// Number of requests that wait for a translation.
  std::size_t waiting() const { return requests_.waiting(); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// A request that waits for a translation.
  struct Waiting {
    MemoryRequest request;
    std::uint32_t tag = 0;
  };

  void translated(std::uint32_t page, Tick at) override;

  MemoryClient& client_;
  MemoryTarget* memory_;
  TranslationLevel* tlb_ = nullptr;
  Tick translated_{};           ///< time at which the translation of the last page is known
  std::uint32_t page_ = kNone;  ///< index in pages_ if the translation of the last page is pending, otherwise kNone
  WaiterLists<Waiting> requests_;
  std::vector<std::uint32_t> pages_;  ///< lists in requests_, one for each page whose translation is pending
  std::vector<std::uint32_t> free_pages_;
  std::uint32_t spare_page_ = kNone;  ///< index in pages_, for the next translation without an immediate result
};

}  // namespace lacuna
