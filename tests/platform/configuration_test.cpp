#include "platform/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

namespace lacuna {
namespace {

using namespace literals;
using ::testing::HasSubstr;

struct CacheLike {
  Bytes size = 256_KiB;
  unsigned ways = 16;
  std::string label;
  void describe(ParameterSection& s) {
    s.add("size", size, "Capacity", {.range = {1024, 1 << 30}, .power_of_two = true});
    s.add("ways", ways, "Associativity", {.range = {1, 64}});
    s.add("label", label, "A | label");
  }
};

struct HostLike {
  Tick delay = 14_ns;
  void describe(ParameterSection& s) { s.add("delay", delay, "Delay"); }
};

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() {
    all.describe("l2", l2);
    all.describe("host", host);
  }
  void load(const std::string& text) {
    std::istringstream stream(text);
    configuration.load(stream, "a.cfg");
  }
  std::string error(const std::string& text) {
    try {
      load(text);
    } catch (const ConfigurationError& e) {
      return e.what();
    }
    return {};
  }
  std::string set_error(std::string_view assignment) {
    try {
      configuration.assign(assignment);
    } catch (const ConfigurationError& e) {
      return e.what();
    }
    return {};
  }

  CacheLike l2;
  HostLike host;
  ParameterSet all;
  Configuration configuration{all};
};

TEST_F(ConfigurationTest, LaterAssignmentsOverrideEarlierOnes) {
  load("# a comment\n[l2]\nsize = 512KiB # half a MiB\nways=8\n\n[host]\ndelay = 1.5ns\n");
  EXPECT_EQ(l2.size, 512_KiB);
  EXPECT_EQ(l2.ways, 8u);
  EXPECT_EQ(host.delay, 1500_ps);
  load("l2.ways = 4\n");
  EXPECT_EQ(l2.ways, 4u);
  configuration.assign("l2.size=4MiB");
  EXPECT_EQ(l2.size, 4_MiB);
}

TEST_F(ConfigurationTest, ErrorsSayWhereWhatAndWhatWouldBeRight) {
  EXPECT_EQ(error("[l2]\n\nsise = 4MiB\n"), "a.cfg:3: unknown parameter l2.sise; did you mean l2.size?");
  EXPECT_EQ(error("[l2]\nways = 65\n"), "a.cfg:2: l2.ways = 65: 65 is out of range (legal: 1..64)");
  EXPECT_EQ(error("[l2]\nsize = 64KB\n"),
            "a.cfg:2: l2.size = 64KB: unknown unit \"KB\"; known: B, KiB, MiB, GiB (legal: 1KiB..1GiB, power of two)");
  EXPECT_EQ(error("[l2]\nways = 4\n[host]\ndelay=1ns\n[l2]\nways = 5\n"),
            "a.cfg:6: parameter l2.ways is given twice, first in line 2");
  EXPECT_EQ(error("[l2]\nways 4\n"), "a.cfg:2: \"ways 4\" is neither [section] nor name = value");
  EXPECT_EQ(error("ways = 4\n"), "a.cfg:1: unknown parameter ways; did you mean l2.ways?");
  EXPECT_EQ(error("[somewhere]\nquite_else = 4\n"),
            "a.cfg:2: unknown parameter somewhere.quite_else; `lacuna --list-params` lists all");
  EXPECT_EQ(set_error("l2.size"), "--set l2.size: must be section.name=value");
  EXPECT_EQ(set_error("l2.wasy=4"), "--set l2.wasy=4: unknown parameter l2.wasy; did you mean l2.ways?");
}

TEST_F(ConfigurationTest, ParametersOfAnAbsentPartAreUnused) {
  ParameterSet host_only;
  host_only.describe("host", host);
  Configuration hart(host_only, &all, "lacuna hart has no GPU");
  hart.assign("host.delay=2ns");
  EXPECT_EQ(host.delay, 2_ns);
  try {
    hart.assign("l2.ways=4");
    FAIL() << "an unused parameter was accepted";
  } catch (const ConfigurationError& e) {
    EXPECT_STREQ(e.what(), "--set l2.ways=4: parameter l2.ways is not used here: lacuna hart has no GPU");
  }
}

TEST_F(ConfigurationTest, EffectiveConfigurationRestoresEverything) {
  configuration.assign("l2.size=1MiB");
  configuration.assign("l2.label=two words = one label");
  configuration.assign("host.delay=1234ps");
  std::ostringstream written;
  write_configuration(all, written);
  EXPECT_THAT(written.str(), HasSubstr("size = 1MiB  # default 256KiB\n"));

  CacheLike other_l2;
  HostLike other_host;
  ParameterSet other;
  other.describe("l2", other_l2);
  other.describe("host", other_host);
  std::istringstream back(written.str());
  Configuration(other).load(back, "effective.cfg");
  EXPECT_EQ(other_l2.size, l2.size);
  EXPECT_EQ(other_l2.ways, l2.ways);
  EXPECT_EQ(other_l2.label, l2.label);
  EXPECT_EQ(other_host.delay, host.delay);
  std::ostringstream again;
  write_configuration(other, again);
  EXPECT_EQ(again.str(), written.str());
}

TEST_F(ConfigurationTest, ReferencesListTypeUnitRangeDefaultAndDescription) {
  std::ostringstream list;
  list_parameters(all, list);
  EXPECT_THAT(list.str(),
              HasSubstr("l2.size = 256KiB  (size, unit B, KiB, MiB, GiB, legal 1KiB..1GiB, power of two)\n    Capacity"));
  std::ostringstream markdown;
  write_parameter_reference(all, markdown);
  EXPECT_THAT(markdown.str(), HasSubstr("| `l2.label` | text |  |  |  | A \\| label |  |\n"));
}

TEST_F(ConfigurationTest, FilesAreFoundByPathOrPresetName) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "lacuna_configuration_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "small.cfg") << "[l2]\nways = 2\n";
  EXPECT_EQ(find_configuration("small", {folder}), folder / "small.cfg");
  EXPECT_EQ(find_configuration((folder / "small.cfg").string(), {}), folder / "small.cfg");
  try {
    find_configuration("smal", {folder});
    FAIL() << "a preset that does not exist was found";
  } catch (const ConfigurationError& e) {
    EXPECT_STREQ(e.what(), "--config smal: no such file; presets: small");
  }
  EXPECT_THROW(configuration.load(folder / "absent.cfg"), ConfigurationError);
  std::filesystem::remove_all(folder);
}

TEST_F(ConfigurationTest, AFileIncludesOthers) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "lacuna_configuration_include_test";
  std::filesystem::create_directories(folder / "parts");
  std::ofstream(folder / "parts/base.cfg") << "[l2]\nways = 2\nsize = 512KiB\n";
  std::ofstream(folder / "parts/both.cfg") << "include = base.cfg  # beside this one\n[host]\ndelay = 3ns\n";
  std::ofstream(folder / "variant.cfg") << "include = parts/both.cfg\n[l2]\nways = 8\n";
  configuration.load(folder / "variant.cfg");
  EXPECT_EQ(l2.ways, 8U);
  EXPECT_EQ(l2.size, 512_KiB);
  EXPECT_EQ(host.delay, 3_ns);
  EXPECT_EQ(find_configuration("parts/base", {folder}), folder / "parts/base.cfg");

  const auto error_of = [&](const char* text) -> std::string {
    std::ofstream(folder / "wrong.cfg") << text;
    try {
      configuration.load(folder / "wrong.cfg");
    } catch (const ConfigurationError& e) {
      return std::string(e.what()).substr((folder / "").string().size());
    }
    return {};
  };
  EXPECT_EQ(error_of("# comment\ninclude = absent.cfg\n"), "wrong.cfg:2: include = absent.cfg: no such file");
  EXPECT_EQ(error_of("include = parts/../wrong.cfg\n"),
            "wrong.cfg:1: include = parts/../wrong.cfg: this file is being read already");
  EXPECT_EQ(error_of("[l2]\ninclude = parts/base.cfg\n").substr(0, 42), "wrong.cfg:2: unknown parameter l2.include;");
  std::ofstream(folder / "parts/base.cfg") << "[l2]\nways = 200\n";
  EXPECT_THAT(error_of("include = parts/base.cfg\n"), HasSubstr("parts/base.cfg:2: l2.ways = 200: "));
  std::filesystem::remove_all(folder);
}

// Reading a file of arbitrary bytes ends with values or with a ConfigurationError.
TEST_F(ConfigurationTest, SurvivesMutatedFiles) {
  const std::string good = "# comment\n[l2]\nsize = 512KiB\nways=8\nlabel = x\n[host]\ndelay = 1.5ns\n";
  std::mt19937 random(20240607);
  unsigned accepted = 0;
  unsigned refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, 1, "[]=#.\n\0 9"[random() % 9]);
          break;
      }
      if (text.empty()) text = "x";
    }
    if (error(text).empty()) {
      ++accepted;
    } else {
      ++refused;
    }
    ASSERT_GE(l2.ways, 1u);
    ASSERT_LE(l2.ways, 64u);
    ASSERT_GE(l2.size, 1_KiB);
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace lacuna
