// Tests large copies and fills that SDMA engines perform in bulk, compared with detailed copies and fills.
#include "tests/sdma/sdma_bench.h"

namespace lacuna::test {
namespace {

/// A device that consists of SDMA engines only. Its traffic is the number of requests to the bulk engine's memory.
struct Context : CopyContext {
  unsigned others = 0;
  const std::vector<Memory::Request>* requests = nullptr;
  std::uint64_t added = 0;
  std::vector<CopiedRange> left;
  void attach(BulkUser&) override {}
  unsigned active_users() const override { return 1 + others; }
  void work_begins() override {}
  bool in_host_memory(std::uint64_t) const override { return false; }
  std::uint64_t l2_bytes() const override { return 0; }
  std::uint32_t l2_state(const CopiedRange&) const override { return 0; }
  void install_copied(const CopiedRange& range, bool) override { left.push_back(range); }
  std::vector<std::uint64_t> traffic() const override { return {requests->size()}; }
  void add_traffic(const std::vector<std::uint64_t>& amounts) override { added += amounts.at(0); }
};
class BulkBench : public SdmaBench {
 public:
  static constexpr Engine kBulk = another;
  explicit BulkBench(sc_core::sc_module_name module_name) : SdmaBench(module_name) {
    add("bulk", standard(), TimingMode::loose, isa::Target::gfx90a);
    context.requests = &memories[kBulk]->requests;
    engines[kBulk]->set_copy_context(context);
  }
  Context context;
};

LACUNA_TEST_BENCH(BulkBench)

class SdmaBulkTest : public SdmaTest {
 protected:
  Context& context_ = bench<BulkBench>().context;
};

// A bulk copy writes the same bytes in the same time as a detailed copy, and counts most of its requests without making them.
// While memory has other users, no bulk copy takes place.
TEST_F(SdmaBulkTest, LargeCopiesGoInBulk) {
  constexpr std::uint32_t kLarge = 0x5f000 + 17;  // bytes, more than the sampled 320 KiB
  const auto run_one = [&](Engine engine, const Words& packet) {
    b_.listener = {};
    context_.added = 0;
    b_.memories[engine]->requests.clear();
    Ring r = open(engine);
    wait_for(Tick{1'000'000 - now().ps % 1'000'000});
    const Tick start = now();
    run(r, {packet, trap(0)});
    EXPECT_EQ(b_.listener.traps.size(), 1u);
    EXPECT_TRUE(b_.engine(engine).destroy_queue(r.queue));  // not reset(), which would drop the costs of copies
    return b_.listener.traps.empty() ? 0.0 : static_cast<double>((b_.listener.traps[0].at - start).ps);
  };
  for (const std::uint64_t offset : {0, 5}) {
    const Words copied = copy(kBase + kSource + offset, kBase + kTarget, kLarge);
    for (const Words& packet : {copied, fill(kBase + kTarget + offset, 0xabcd1234, kLarge, 0)}) {
      const std::uint64_t to = packet == copied ? kTarget : kTarget + offset;
      const double detailed = run_one(SdmaBench::gfx9, packet);
      const auto expected = snapshot();
      const std::size_t requests = b_.memories[SdmaBench::gfx9]->requests.size();
      for (const bool sampled : {false, true}) {
        for (std::uint64_t i = kTarget; i < kBytes; ++i) b_.bytes[i] = std::byte{1};
        context_.left.clear();
        EXPECT_NEAR(run_one(BulkBench::kBulk, packet), detailed, 0.01 * detailed) << offset << sampled;
        EXPECT_EQ(std::memcmp(&b_.at<std::byte>(to), &expected[to], kLarge), 0) << offset << sampled;
        EXPECT_EQ(b_.at<std::byte>(to + kLarge), std::byte{1});
        const std::size_t made = b_.memories[BulkBench::kBulk]->requests.size();
        EXPECT_LT(made, sampled ? requests / 100 : requests);
        EXPECT_NEAR(static_cast<double>(made + context_.added), static_cast<double>(requests),
                    0.01 * static_cast<double>(requests));
        ASSERT_EQ(context_.left.size(), 1u) << "contents of the caches afterwards";
        EXPECT_EQ(context_.left[0].destination + context_.left[0].bytes, kBase + to + kLarge);
      }
      context_.others = 1;
      EXPECT_NEAR(run_one(BulkBench::kBulk, packet), detailed, 0.01 * detailed);
      EXPECT_EQ(context_.added, 0u);
      EXPECT_NEAR(static_cast<double>(b_.memories[BulkBench::kBulk]->requests.size()), static_cast<double>(requests),
                  0.01 * static_cast<double>(requests));
      context_.others = 0;
    }
  }
}

}  // namespace
}  // namespace lacuna::test
