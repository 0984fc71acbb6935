// Requests of several sectors: a cache serves each sector independently; the response is that of the sector that completes
// last.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/containers/pooled_records.h"
#include "models/common/transport/memory_request.h"

namespace lacuna {

class SplitRequests {
 public:
  /// A request all of whose sectors are complete. `response.below` is null or points to `below` of the same record.
  struct Complete {
    MemoryClient* client;
    std::uint32_t tag;
    MemoryResponse response;
    LatencyBreakdown below;
  };

  /// Adds a request, whose sectors are then added by add_sector(), and returns its number. `response`: initial response, which
  /// the response of a sector that completes no earlier replaces.
  std::uint32_t begin(MemoryClient& client, std::uint32_t tag, const MemoryResponse& response) {
    const std::uint32_t split = take_record(splits_, free_);
    splits_[split] = {.client = &client, .tag = tag, .remaining = 1, .last = response, .below = {}};
    return split;
  }
  void add_sector(std::uint32_t split) { ++splits_[split].remaining; }
  /// Call it when all sectors have been added. Returns whether all sectors are complete.
  bool end(std::uint32_t split) { return --splits_[split].remaining == 0; }
  /// Records that a sector is complete. Returns whether it was the last sector of the request.
  bool complete_sector(std::uint32_t split, const MemoryResponse& response) {
    Split& of = splits_[split];
    if (response.done >= of.last.done) {
      of.last = response;
      if (response.below != nullptr) of.below = *response.below;
    }
    return --of.remaining == 0;
  }
  /// Moves a request that end() or complete_sector() has found complete to `complete`.
  void take(std::uint32_t split, Complete& complete) {
    const Split& of = splits_[split];
    complete = {of.client, of.tag, of.last, of.below};
    if (of.last.below != nullptr) complete.response.below = &complete.below;
    free_.push_back(split);
  }
  void clear() {
    splits_.clear();
    free_.clear();
  }

 private:
  struct Split {
    MemoryClient* client = nullptr;
    std::uint32_t tag = 0;
    unsigned remaining = 0;  ///< incomplete sectors, plus one until end()
    MemoryResponse last;
    LatencyBreakdown below;  ///< breakdown of `last`, if it has one
  };
  std::vector<Split> splits_;
  std::vector<std::uint32_t> free_;
};

}  // namespace lacuna
