#include "models/common/config/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace lacuna {
namespace {

using namespace literals;
using ::testing::HasSubstr;

enum class Mode { functional, loose };

struct AllKinds {
  bool flag = false;
  unsigned ways = 4;
  std::uint64_t limit = 7;
  double ratio = 0.5;
  std::string label = "plain";
  Bytes size = 16_KiB;
  Frequency clock{1'000'000'000};
  Cycles latency{60};
  Tick delay = 14_ns;
  Mode mode = Mode::loose;

  void describe(ParameterSection& s) {
    s.add("flag", flag, "A flag");
    s.add("ways", ways, "Associativity", {.range = {1, 64}, .unit = "ways"});
    s.add("limit", limit, "A plain number");
    s.add("ratio", ratio, "A ratio", {.range = {0, 1}});
    s.add("label", label, "A label");
    s.add("size", size, "Capacity", {.range = {1024, 1 << 30}, .power_of_two = true, .source = "a table"});
    s.add("clock", clock, "Clock");
    s.add("latency", latency, "Latency", {.range = {0, 1000}});
    s.add("delay", delay, "Delay", {.range = {1000, 1e12}});
    s.add("mode", mode, "Mode", {{"functional", 0}, {"loose", 1}});
  }
};

class Parameters : public ::testing::Test {
 protected:
  void SetUp() override { set.describe("unit", values); }
  Parameter& parameter(const std::string& name) {
    Parameter* const found = set.find("unit." + name);
    if (found == nullptr) throw std::out_of_range(name);
    return *found;
  }
  /// Parses a value. Returns the reason for its rejection, or "" if it is accepted.
  std::string parse(const std::string& name, std::string_view text) {
    return parameter(name).parse(text).value_or(std::string());
  }

  AllKinds values;
  ParameterSet set;
};

TEST_F(Parameters, ReadsEveryUnit) {
  const struct {
    std::string_view text;
    std::uint64_t bytes;
  } sizes[] = {{"1024", 1024},       {"1024B", 1024},       {"64KiB", 64 << 10}, {"4MiB", 4 << 20},
               {"1GiB", 1ULL << 30}, {"0.5MiB", 512 << 10}, {"0x1000", 0x1000},  {"2 KiB", 2048}};
  for (const auto& s : sizes) {
    EXPECT_EQ(parse("size", s.text), "") << s.text;
    EXPECT_EQ(values.size.n, s.bytes) << s.text;
  }
  const struct {
    std::string_view text;
    std::uint64_t ps;
  } times[] = {{"1000ps", 1000}, {"14ns", 14'000}, {"1.5us", 1'500'000}, {"2ms", 2'000'000'000}, {"1s", 1'000'000'000'000}};
  for (const auto& t : times) {
    EXPECT_EQ(parse("delay", t.text), "") << t.text;
    EXPECT_EQ(values.delay.ps, t.ps) << t.text;
  }
  const struct {
    std::string_view text;
    std::uint64_t hz;
  } clocks[] = {{"500000Hz", 500'000}, {"100kHz", 100'000}, {"800MHz", 800'000'000}, {"1.25GHz", 1'250'000'000}};
  for (const auto& c : clocks) {
    EXPECT_EQ(parse("clock", c.text), "") << c.text;
    EXPECT_EQ(values.clock.hz, c.hz) << c.text;
  }
  EXPECT_EQ(parse("latency", "112cycles"), "");
  EXPECT_EQ(values.latency, 112_cycles);
  EXPECT_EQ(parse("latency", "60"), "");
  EXPECT_EQ(values.latency, 60_cycles);
}

TEST_F(Parameters, TextRoundTripsExactly) {
  const struct {
    std::string name;
    std::string_view input;
    std::string expected;
  } cases[] = {{"size", "65536", "64KiB"},
               {"size", "0.5GiB", "512MiB"},
               {"clock", "1.25GHz", "1250MHz"},
               {"delay", "1.001ns", "1001ps"},
               {"delay", "1000ns", "1us"},
               {"latency", "7", "7cycles"},
               {"ratio", "0.1", "0.1"},
               {"flag", "on", "true"},
               {"mode", "functional", "functional"},
               {"limit", "18446744073709551615", "18446744073709551615"}};
  for (const auto& c : cases) {
    ASSERT_EQ(parse(c.name, c.input), "") << c.input;
    EXPECT_EQ(parameter(c.name).text(), c.expected);
    ASSERT_EQ(parse(c.name, parameter(c.name).text()), "");
    EXPECT_EQ(parameter(c.name).text(), c.expected);
  }
}

TEST_F(Parameters, RefusesInexactValues) {
  EXPECT_THAT(parse("size", "64KB"), HasSubstr("unknown unit \"KB\"; known: B, KiB, MiB, GiB"));
  EXPECT_THAT(parse("delay", "14"), HasSubstr("needs a unit: ps, ns, us, ms, s"));
  EXPECT_THAT(parse("delay", "1000.5ps"), HasSubstr("not a whole number of ps"));
  EXPECT_THAT(parse("ways", "4.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(parse("ways", "-1"), HasSubstr("not a number"));
  EXPECT_THAT(parse("ways", ""), HasSubstr("not a number"));
  EXPECT_THAT(parse("ways", "4294967297"), HasSubstr("too large"));
  EXPECT_THAT(parse("limit", "18446744073709551616"), HasSubstr("too large"));
  EXPECT_THAT(parse("size", "18446744073709551615GiB"), HasSubstr("too large"));
  EXPECT_THAT(parse("ratio", "nan"), HasSubstr("not a number"));
  EXPECT_THAT(parse("ratio", "0.5x"), HasSubstr("not a number"));
  EXPECT_THAT(parse("flag", "maybe"), HasSubstr("neither true nor false"));
  EXPECT_THAT(parse("mode", "Loose"), HasSubstr("functional | loose"));
  EXPECT_THAT(parse("clock", "30GHz"), HasSubstr("the period is off by more than 0.1 %"));
  EXPECT_THAT(parse("clock", "0Hz"), HasSubstr("must not be 0"));
  EXPECT_THAT(parse("label", "a # b"), HasSubstr("'#'"));
  EXPECT_THAT(parse("label", " a"), HasSubstr("blank"));
}

TEST_F(Parameters, PeriodsAreRoundedToPicoseconds) {
  EXPECT_EQ(parse("clock", "1.7GHz"), "");
  EXPECT_EQ(values.clock.period().ps, 588u);
  EXPECT_EQ(parse("clock", "1.4GHz"), "");
  EXPECT_EQ(values.clock.period().ps, 714u);
  EXPECT_EQ(parse("clock", "1.6GHz"), "");
  EXPECT_EQ(values.clock.period().ps, 625u);
}

TEST_F(Parameters, RangesAreTight) {
  EXPECT_EQ(parse("ways", "1"), "");
  EXPECT_EQ(parse("ways", "64"), "");
  EXPECT_THAT(parse("ways", "0"), HasSubstr("legal: 1..64"));
  EXPECT_THAT(parse("ways", "65"), HasSubstr("legal: 1..64"));
  EXPECT_EQ(values.ways, 64u) << "a refused value must not change the member";
  EXPECT_THAT(parse("size", "512"), HasSubstr("legal: 1KiB..1GiB, power of two"));
  EXPECT_THAT(parse("size", "3KiB"), HasSubstr("not a power of two"));
  EXPECT_THAT(parse("delay", "999ps"), HasSubstr("legal: 1ns..1s"));
  EXPECT_THAT(parse("ratio", "1.5"), HasSubstr("legal: 0..1"));
}

TEST_F(Parameters, AParameterTellsItsNameTypeUnitDefaultAndSource) {
  const Parameter& size = parameter("size");
  EXPECT_EQ(size.name, "unit.size");
  EXPECT_EQ(size.type_name(), "size");
  EXPECT_EQ(size.default_text, "16KiB");
  EXPECT_EQ(size.source, "a table");
  EXPECT_EQ(parameter("ways").unit(), "ways");
  EXPECT_EQ(parameter("mode").legal(), "functional | loose");
  EXPECT_EQ(parameter("limit").legal(), "");
}

TEST_F(Parameters, NearestNameIsSuggested) {
  EXPECT_EQ(set.nearest("unit.wayz"), "unit.ways");
  EXPECT_EQ(set.nearest("unti.size"), "unit.size");
  EXPECT_EQ(set.nearest("latency"), "unit.latency");
  EXPECT_EQ(set.nearest("wrong.latency"), "unit.latency");
  EXPECT_EQ(set.nearest("nothing.like.it"), "");
}

struct Renamed {
  unsigned rate = 1;
  void describe(ParameterSection& s) {
    s.add("rate", rate, "Requests a cycle");
    s.renamed("so_many", "rate");
  }
};

TEST(RenamedParameters, AreFoundByTheirFormerNames) {
  Renamed renamed;
  ParameterSet set;
  set.describe("unit", renamed);
  EXPECT_EQ(set.find("unit.so_many"), nullptr);
  EXPECT_EQ(set.nearest("unit.so_many"), "unit.rate");
}

struct BadDefault {
  unsigned ways = 65;
  void describe(ParameterSection& s) { s.add("ways", ways, "Associativity", {.range = {1, 64}}); }
};

TEST(ParameterDefaults, MustBeLegal) {
  BadDefault bad;
  ParameterSet set;
  EXPECT_THROW(set.describe("bad", bad), std::logic_error);
}

}  // namespace
}  // namespace lacuna
