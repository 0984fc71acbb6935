#include "models/common/time/units.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

namespace lacuna {
namespace {

void expect_as_division(const Clock& clock, std::uint64_t ps) {
  const std::uint64_t period = clock.period().ps;
  ASSERT_EQ(clock.floor({ps}).n, ps / period) << ps << " ps, period " << period;
  ASSERT_EQ(clock.align_down({ps}).ps, ps / period * period) << ps << " ps, period " << period;
  if (ps < std::uint64_t{1} << 62) {
    ASSERT_EQ(clock.starting_at({ps / period * period}).n, ps / period) << ps << " ps, period " << period;
  }
  if (ps > ~std::uint64_t{0} - period) return;
  ASSERT_EQ(clock.ceil({ps}).n, ps / period + (ps % period != 0 ? 1 : 0)) << ps << " ps, period " << period;
}

// floor() multiplies by a reciprocal; the result must be exact for all times, in particular near the bounds of cycles.
TEST(Clock, CyclesOfATimeEqualTheExactQuotient) {
  std::mt19937_64 random(17);
  for (const std::uint64_t hz :
       std::initializer_list<std::uint64_t>{1'000'000'000'000, 999'000'000'000, 2'000'000'000, 1'700'000'000, 1'000'000'000,
                                            800'000'000, 300'000'000, 27'000'000, 10'000'000, 32'768, 1}) {
    const Clock clock(Frequency{hz});
    const std::uint64_t period = clock.period().ps;
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t instant = random() >> random() % 64;
      expect_as_division(clock, instant);
      const std::uint64_t edge = instant / period * period;
      expect_as_division(clock, edge);
      expect_as_division(clock, edge == 0 ? 0 : edge - 1);
      expect_as_division(clock, edge + (period - 1 > ~std::uint64_t{0} - edge ? 0 : period - 1));
    }
    for (const std::uint64_t ps : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, ~std::uint64_t{0} - 1}) {
      expect_as_division(clock, ps);
    }
  }
}

}  // namespace
}  // namespace lacuna
