// Tests the requests of SDMA engines to a TLB, and the calls that let the TLB drop past bookings.
#include "tests/sdma/sdma_bench.h"

namespace lacuna::test {
namespace {

LACUNA_TEST_BENCH(SdmaBench)

class SdmaTranslationTest : public SdmaTest {};

/// A TLB that responds immediately and records the calls.
struct Translations : TranslationLevel {
  Tick translate(std::uint64_t, Tick at) override {
    ++lookups;
    return at;
  }
  void retire(Tick horizon) override { forgotten = horizon; }
  std::uint64_t lookups = 0;
  Tick forgotten{};
};

// The engine must drop past bookings of the TLB, because other units may request no translation for a long time.
TEST_F(SdmaTranslationTest, PollsAndCopiesDropPastTranslations) {
  Translations tlb;
  b_.engine(SdmaBench::gfx9).set_tlb(&tlb);
  Ring r = open();
  b_.at<std::uint64_t>(kWords) = 1;
  run(r, {poll(kBase + kWords, 3, 0)}, 200);
  EXPECT_GT(tlb.lookups, 100u) << "a look each microsecond";
  EXPECT_GT(tlb.forgotten + Tick{2'000'000}, now());
  b_.at<std::uint64_t>(kWords) = 0;
  microseconds(5);
  run(r, {copy(kBase + kSource, kBase + kTarget, 0x10000)}, 2);
  EXPECT_FALSE(idle(r));
  EXPECT_GT(tlb.forgotten + Tick{500'000}, now());
  microseconds(50);
  EXPECT_TRUE(idle(r));
  b_.engine(SdmaBench::gfx9).set_tlb(nullptr);
}

}  // namespace
}  // namespace lacuna::test
