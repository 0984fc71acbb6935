// Tests that after a warm-up, the memory system serves requests with almost no further allocations of host memory. The requests
// are out of order in time, like those of compute units that run ahead of each other.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <random>
#include <vector>

#include "models/cache/cache.h"
#include "models/common/time/tlm_time.h"
#include "models/dram/dram_channel.h"
#include "models/noc/booked_network.h"
#include "tests/harness/allocation_counter.h"
#include "tests/harness/harness.h"

namespace lacuna {
namespace {

using namespace literals;

constexpr std::uint64_t kBase = 0x10'0000'0000;
constexpr Bytes kSize{8 << 20};
constexpr unsigned kArrays = 4;
constexpr unsigned kChannels = 4;

struct Machine : sc_core::sc_module {
  explicit Machine(sc_core::sc_module_name n) : sc_module(n) {
    for (unsigned i = 0; i < kArrays; ++i) {
      l1.push_back(std::make_unique<Cache>(sc_core::sc_gen_unique_name("l1"), CacheParameters{.size = 4_KiB}, MemoryLevel::l1));
      initiators[i].bind(l1[i]->upstream[0]);
      l1[i]->downstream.bind(noc.sources[i]);
    }
    const CacheParameters l2_parameters{.size = 16_KiB, .ways = 16, .write_policy = WritePolicy::write_back};
    for (unsigned i = 0; i < kChannels; ++i) {
      const AddressSlice slice = noc.routes().slice(i);
      l2.push_back(std::make_unique<Cache>(sc_core::sc_gen_unique_name("l2"), l2_parameters, MemoryLevel::l2, 1, slice));
      dram.push_back(std::make_unique<DramChannel>(sc_core::sc_gen_unique_name("dram"), DramParameters{}, slice, store));
      noc.destinations[i].bind(l2[i]->upstream[0]);
      l2[i]->downstream.bind(dram[i]->memory);
    }
  }
  /// Runs rounds of 100 cycles. In each round, one shader array after the other makes its requests, at random times of the
  /// round. In total there are at least as many requests as DRAM can serve; an array whose requests are much delayed omits
  /// rounds.
  void run(unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
      const Tick now = to_tick(sc_core::sc_time_stamp());
      for (unsigned array = 0; array < kArrays; ++array) {
        if (busy_until[array] > now + 2_us) continue;
        for (unsigned i = 0; i < 24; ++i) {
          const std::uint64_t r = random();
          PooledPayload payload(pool);
          payload->set_command(r % 4 == 0 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
          payload->set_address(kBase + (r >> 8) % (kSize.n / 64) * 64);
          payload->set_data_length(64);
          payload->set_streaming_width(64);
          payload.attributes().timing_only = true;
          sc_core::sc_time delay = to_sc_time(Tick{(r >> 40) % 100 * 1000});
          initiators[array]->b_transport(*payload, delay);
          ASSERT_TRUE(payload->is_response_ok());
          busy_until[array] = later(busy_until[array], now + to_tick(delay));
        }
      }
      sc_core::wait(100, sc_core::SC_NS);
    }
  }

  std::mt19937_64 random{1};
  std::vector<Tick> busy_until = std::vector<Tick>(kArrays);
  PayloadPool pool;
  BackingStore store{kSize};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket<Machine>> initiators{"initiator", kArrays};
  std::vector<std::unique_ptr<Cache>> l1;
  BookedNetwork noc{"noc", FabricParameters{.topology = FabricTopology::mesh, .columns = 3, .rows = 3}, kArrays,
                    AddressRoutes({{"vram", kBase, kSize, 0, kChannels, 128_B}})};
  std::vector<std::unique_ptr<Cache>> l2;
  std::vector<std::unique_ptr<DramChannel>> dram;
};
LACUNA_TEST_BENCH(Machine)

TEST(SteadyState, TheMemorySystemAllocatesNothing) {
  auto& machine = test::bench<Machine>();
  machine.run(2000);
  const std::uint64_t before = test::allocations();
  machine.run(5000);  // 0.5 ms: more than 100 refreshes
  // A few allocations remain, as calendars may still reach their maximum length.
  EXPECT_LE(test::allocations() - before, 16U);
  std::uint64_t requests = 0;
  for (const auto& channel : machine.dram) requests += channel->statistics().reads + channel->statistics().writes;
  EXPECT_GT(requests, 100'000U);
}

TEST(SteadyState, AnIdleHourCostsNothing) {
  auto& machine = test::bench<Machine>();
  const std::uint64_t before = test::allocations();
  sc_core::wait(3600, sc_core::SC_SEC);
  machine.run(10);
  EXPECT_LE(test::allocations() - before, 16U);
}

}  // namespace
}  // namespace lacuna
