// A memory that answers late: fixed times, and a record of what it was asked.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/common/transport/deferred_memory.h"

namespace lacuna::test {

/// Decides requests in the order of their arrivals: reads take 100 ns and writes no time, unless they are held up.
class DecidingMemory : public DeferredMemory {
 public:
  Reply ask(const Request& request, Client& client, std::uint32_t number) override {
    requests.push_back(request);
    if (request.address >= end) return {.done = request.at, .waiting = {}, .known = true, .failed = true};
    if (request.write && !holds_up_writes) return {.done = request.at, .waiting = {}, .known = true};
    waiting_.emplace(request.at, Asked{&client, number, request.write});
    return {.done = request.at, .waiting = {}, .known = false};
  }
  void decide(Tick until) override {
    while (!waiting_.empty() && waiting_.begin()->first < until) {
      const auto [at, asked] = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      const Tick waited = asked.write ? Tick{30'000} : Tick{10'000};
      asked.client->answered(asked.number, at + (asked.write ? Tick{30'000} : Tick{100'000}), waited);
    }
  }
  Tick next_decision() override { return waiting_.empty() ? kNever : waiting_.begin()->first; }
  void reset() {
    waiting_.clear();
    requests.clear();
    holds_up_writes = false;
  }

  std::vector<Request> requests;
  bool holds_up_writes = false;
  std::uint64_t end = 1 << 16;

 private:
  struct Asked {
    Client* client;
    std::uint32_t number;
    bool write;
  };
  std::multimap<Tick, Asked> waiting_;
};

}  // namespace lacuna::test
