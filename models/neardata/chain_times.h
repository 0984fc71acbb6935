// Time of a part of a chain that is performed near the data, from the chain's first instruction to the result, by component.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/time/units.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/gpu/node_requester.h"

namespace lacuna {

/// Components of the time of a chain's part, in the order of the latency_... counts of NearDataCount.
enum class ChainTime : std::uint8_t {
  build,      ///< construction of the packet, until the packet leaves the core
  injection,  ///< time that the part's packets and the responses to its requests wait in injection queues
  links,      ///< time that the part's packets wait for links and routers after injection
  network,    ///< transit of the part's packets through the network, without waiting
  caches,     ///< last-level cache and DRAM, including queueing
  queue,      ///< in the service queue: decoding, wait for the buffer, fetch
  alu,        ///< wait for the service queue's ALU, and operations
  core,       ///< return of results to registers; all work of the core for rejected packets
  count,
};

/// Network time of a memory access; of several concurrent accesses, that of the access that returns last.
struct RemoteAccess {
  Tick queueing{};  ///< queueing in the network
  Tick injection{};
  Tick passing{};

  void set(const LatencyBreakdown& below) {
    constexpr auto kNetwork = static_cast<std::size_t>(MemoryLevel::noc);
    queueing = below.queueing[kNetwork];
    injection = below.injection;
    passing = below.service[kNetwork];
  }
};

class ChainTimes {
 public:
  void begin(Tick at) {
    spent_ = {};
    last_ = at;
  }
  /// Charges the time from the last call until `at` to component `what`.
  void until(ChainTime what, Tick at) {
    if (at <= last_) return;
    spent(what) += at - last_;
    last_ = at;
  }
  /// Charges the path of a packet that left at the time of the last call and has arrived.
  void packet(const NodeRequester::Passage& passage) {
    network(passage.at, {.queueing = passage.waiting, .injection = passage.injection, .passing = passage.passing},
            ChainTime::network);
  }
  /// Charges a request that was sent at the time of the last call and whose response has arrived.
  void access(Tick at, const RemoteAccess& access) { network(at, access, ChainTime::caches); }
  /// Times in core cycles, indexed by ChainTime. Their sum is the total time.
  std::array<std::uint64_t, static_cast<std::size_t>(ChainTime::count)> cycles(const Clock& clock) const {
    std::array<std::uint64_t, static_cast<std::size_t>(ChainTime::count)> all{};
    Tick until{};
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      until += spent_[i];
      const std::uint64_t cycle = clock.floor(until).n;
      all[i] = cycle - before;
      before = cycle;
    }
    return all;
  }

 private:
  Tick& spent(ChainTime what) { return spent_[static_cast<std::size_t>(what)]; }
  /// `rest`: component that is charged the time that is neither queueing in the network nor transit through it.
  void network(Tick at, const RemoteAccess& parts, ChainTime rest) {
    if (at <= last_) return;
    Tick left = at - last_;
    const auto give = [&](ChainTime what, Tick time) {
      const Tick given = earlier(time, left);
      spent(what) += given;
      left = left - given;
    };
    give(ChainTime::injection, parts.injection);
    give(ChainTime::links, parts.queueing - earlier(parts.queueing, parts.injection));
    give(ChainTime::network, parts.passing);
    spent(rest) += left;
    last_ = at;
  }

  Tick last_{};
  std::array<Tick, static_cast<std::size_t>(ChainTime::count)> spent_{};
};

}  // namespace lacuna
