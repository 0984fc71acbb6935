// DRAM channels for the tests, and initiators at their sockets.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "models/dram/dram_channel.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {

inline constexpr std::uint64_t kBase = 0x10'0000'0000;
inline constexpr Bytes kSize{1 << 20};
inline constexpr std::uint64_t kMasks = 0x20'0000'0000;
inline constexpr Bytes kMasksSize{1 << 14};
inline constexpr std::uint64_t kRow = 1024;
inline constexpr unsigned kBanks = 4;

// Cycles of 1 ns: frontend 20, tRCD 5, tRP 7, tCL 11, bursts of 4 cycles of 16 bytes. One group of 4 banks, no refresh.
inline DramParameters parameters(Cycles frontend = Cycles{20}) {
  using namespace literals;
  DramParameters p;
  p.clock = 1000_MHz;
  p.frontend_latency = frontend;
  p.bytes_per_cycle = 16;
  p.burst = 4_cycles;
  p.bank_groups = 1;
  p.banks_per_group = kBanks;
  p.row_size = 1024_B;
  p.address_map = "row bank column";
  p.tRCDRD = 5_cycles;
  p.tRCDWR = 5_cycles;
  p.tRP = 7_cycles;
  p.tCL = 11_cycles;
  p.tCWL = 3_cycles;
  p.tRAS = 15_cycles;
  p.tRC = 22_cycles;
  p.tRTP = 4_cycles;
  p.tRRDS = 1_cycles;
  p.tRRDL = 1_cycles;
  p.tFAW = 4_cycles;
  p.tWTR = 5_cycles;
  p.tRTRS = 2_cycles;
  p.write_queue = 4;
  p.write_high = 0.5;
  p.write_low = 0.25;
  p.tREFI = 0_cycles;
  return p;
}

struct DramBench : sc_core::sc_module {
  explicit DramBench(sc_core::sc_module_name n) : sc_module(n) {
    initiator.socket.bind(channel.memory);
    second_initiator.socket.bind(second.memory);
    third_initiator.socket.bind(third.memory);
    masked_initiator.socket.bind(masked.memory);
    masks_initiator.socket.bind(masked.second[0]);
    try {
      DramChannel beyond("beyond", parameters(), AddressSlice(kBase, Bytes{kSize.n + 1}), store);
    } catch (const std::invalid_argument& error) {
      refusal = error.what();
    }
  }
  std::string refusal;
  BackingStore store{kSize};
  TestInitiator initiator{"initiator"};
  TestInitiator second_initiator{"second_initiator"};
  TestInitiator third_initiator{"third_initiator"};
  TestInitiator masked_initiator{"masked_initiator"};
  TestInitiator masks_initiator{"masks_initiator"};
  DramChannel channel{"channel", parameters(), AddressSlice(kBase, kSize), store};
  /// Channel 1 of 4, interleaved by chunks of 128 bytes.
  DramChannel second{"second", parameters(), AddressSlice(kBase, kSize, Bytes{128}, 4, 1), store};
  /// A single channel without frontend latency.
  DramChannel third{"third", parameters(Cycles{0}), AddressSlice(kBase, kSize), store};
  /// A single channel with a second slice, for masks.
  DramChannel masked{"masked", parameters(), AddressSlice(kBase, kSize), store, 0, AddressSlice(kMasks, kMasksSize)};
};

/// Starts a new epoch and returns the bench with channels in their initial state.
inline DramBench& fresh() {
  auto& b = bench<DramBench>();
  b.second_initiator.begin_epoch();
  b.initiator.begin_epoch();
  b.second_initiator.share_epoch(b.initiator);
  for (TestInitiator* initiator : {&b.third_initiator, &b.masked_initiator, &b.masks_initiator})
    initiator->share_epoch(b.initiator);
  for (DramChannel* channel : {&b.channel, &b.second, &b.third, &b.masked}) channel->reset();
  return b;
}

}  // namespace lacuna::test
