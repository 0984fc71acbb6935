// Where the time of a chain's part goes that is performed near the data, from the chain's first instruction to its result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/common/time/units.h"
#include "models/common/transport/latency_breakdown.h"
#include "models/gpu/node_requester.h"

namespace lacuna {

/// In the order of NearDataCount's latency_... counts.
enum class ChainTime : std::uint8_t {
  build,      ///< until its packet leaves
  injection,  ///< in injection queues: of its packets, and of the responses to its requests
  links,      ///< waiting for links and routers otherwise
  network,    ///< passing the network
  caches,     ///< last-level cache and DRAM, waits included
  queue,      ///< service queue: decoding, waiting for the buffer, fetch
  alu,        ///< waiting for the service queue's ALU, and operations
  core,       ///< return to registers; all that the core performs after the service queue has not taken the packet
  count,
};

/// The time of an access through the network, of several that are in flight together that of the latest.
struct RemoteAccess {
  Tick queueing{};  ///< in the network
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
  /// All of the time since the last call.
  void until(ChainTime what, Tick at) {
    if (at <= last_) return;
    spent(what) += at - last_;
    last_ = at;
  }
  /// A packet that left then has arrived.
  void packet(const NodeRequester::Passage& passage) {
    network(passage.at, {.queueing = passage.waiting, .injection = passage.injection, .passing = passage.passing},
            ChainTime::network);
  }
  /// The response to a request that left then has arrived.
  void access(Tick at, const RemoteAccess& access) { network(at, access, ChainTime::caches); }
  /// Core cycles by ChainTime. Their sum is that of the whole time.
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
  /// `rest`: what is neither waiting in the network nor passing it.
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
