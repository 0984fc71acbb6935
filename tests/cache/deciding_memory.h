// A memory that responds late, after fixed times, and records its requests.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/common/transport/memory_request.h"

namespace lacuna::test {

/// Reads are completed by decide(), in the order of their arrivals, after 100 ns. Writes complete within the call or, with
/// holds_up_writes, like reads but after 30 ns. Requests at `end` or above fail within the call.
class DecidingMemory : public DeferredMemory {
 public:
  bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
               MemoryResponse& response) override {
    requests.push_back({request, at});
    response = {.made = request.made, .arrived = at, .done = at, .level = MemoryLevel::dram};
    response.failed = request.address >= end;
    if (response.failed || (request.write && !holds_up_writes)) return true;
    waiting_.emplace(at, Waiting{&client, tag, request.write});
    return false;
  }
  void decide(Tick until) override {
    while (!waiting_.empty() && waiting_.begin()->first < until) {
      const auto [at, waiting] = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      const Tick takes = waiting.write ? Tick{30'000} : Tick{100'000};
      const Tick waits = waiting.write ? Tick{30'000} : Tick{10'000};
      waiting.client->on_response(
          waiting.tag,
          {.arrived = at, .done = at + takes, .queueing = waits, .service = takes - waits, .level = MemoryLevel::dram});
    }
  }
  Tick next_decision() override { return waiting_.empty() ? kNever : waiting_.begin()->first; }
  void reset() {
    waiting_.clear();
    requests.clear();
    holds_up_writes = false;
  }

  struct Made {
    MemoryRequest request;
    Tick at;
  };
  std::vector<Made> requests;
  bool holds_up_writes = false;
  std::uint64_t end = 1 << 16;

 private:
  struct Waiting {
    MemoryClient* client;
    std::uint32_t tag;
    bool write;
  };
  std::multimap<Tick, Waiting> waiting_;
};

}  // namespace lacuna::test
