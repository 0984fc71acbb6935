// Tests the contents of docs/reference/isa-coverage.md: instructions of each target, sources that a zero makes irrelevant,
// codes of matrix extensions, and counts that add up.
#include "platform/reference/isa_reference.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>

namespace lacuna {
namespace {

std::string section(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find(end, from);
  return from == std::string::npos ? "" : text.substr(from, to - from);
}

TEST(IsaReference, SaysOfEachTargetWhatItRuns) {
  std::ostringstream out;
  write_isa_reference(out);
  const std::string gfx803 = section(out.str(), "\n## gfx803\n", "\n## gfx90a\n");
  const std::string gfx90a = section(out.str(), "\n## gfx90a\n", "\n## no such section\n");
  ASSERT_FALSE(gfx803.empty());
  ASSERT_FALSE(gfx90a.empty());
  for (const std::string& text : {gfx803, gfx90a}) {
    EXPECT_NE(text.find("unsupported: `s_rfe_b64`"), std::string::npos);
    EXPECT_NE(text.find("`s_add_u32`"), std::string::npos);
  }
  EXPECT_EQ(gfx803.find("s_mul_hi_u32"), std::string::npos) << "gfx9 only";
  EXPECT_NE(gfx90a.find("s_mul_hi_u32"), std::string::npos);
  EXPECT_EQ(gfx803.find("v_mfma_"), std::string::npos) << "gfx90a only";
}

TEST(IsaReference, SaysWhichSourcesAZeroMakesIrrelevant) {
  std::ostringstream out;
  write_isa_reference(out);
  const std::string gfx803 = section(out.str(), "\n### gfx803 sources", "\n## gfx90a\n");
  const std::string gfx90a = section(out.str(), "\n### gfx90a sources", "\n## gfx90a codes");
  for (const std::string& text : {gfx803, gfx90a}) {
    const std::string exact = section(text, "| 0, 1 | – |", "\n");
    const std::string ieee = section(text, "| 0, 1 | NaN, infinity, sign of a zero result |", "\n");
    for (const char* mnemonic : {"`s_and_b32`", "`v_mul_legacy_f32`", "`v_mul_u32_u24`", "`v_mul_hi_i32`", "`v_and_b32`"}) {
      EXPECT_NE(exact.find(mnemonic), std::string::npos) << mnemonic;
    }
    for (const char* mnemonic : {"`v_mul_f32`", "`v_mac_f32`", "`v_fma_f64`", "`v_madak_f32`"}) {
      EXPECT_NE(ieee.find(mnemonic), std::string::npos) << mnemonic;
    }
    EXPECT_EQ(text.find("v_add_f32"), std::string::npos);
  }
  EXPECT_NE(gfx90a.find("`v_pk_mul_f16`"), std::string::npos);
  EXPECT_EQ(gfx803.find("`v_pk_mul_f16`"), std::string::npos);
  EXPECT_EQ(gfx90a.find("v_mfma_"), std::string::npos);
}

TEST(IsaReference, ListsTheCodesOfMatrixExtensions) {
  std::ostringstream out;
  write_isa_reference(out);
  const std::string codes = section(out.str() + "\n## end\n", "\n## gfx90a codes", "\n## end\n");
  EXPECT_NE(codes.find("| `simd2.minplus` | `v_mfma_f32_16x16x16f16` | 7 | 1 | 0 | 16 x 16 x 16 | min(C, A + B) | 8, 8, 8 |"),
            std::string::npos);
  EXPECT_NE(codes.find("| `m3xu.fp32c` | `v_mfma_f64_16x16x4f64` | 6 | 0 | 3 | 16 x 16 x 4 |"), std::string::npos);
  EXPECT_NE(codes.find(" | 32, 32, – |"), std::string::npos);
}

TEST(IsaReference, CountsOfAFormatAddUp) {
  std::ostringstream out;
  write_isa_reference(out);
  std::istringstream lines(out.str());
  std::string line;
  unsigned formats = 0;
  while (std::getline(lines, line)) {
    char format[16];
    unsigned rows = 0, exact = 0, approximate = 0, unsupported = 0;
    if (std::sscanf(line.c_str(), "| %15[A-Z0-9] | %u | %u | %u | %u |", format, &rows, &exact, &approximate, &unsupported) !=
        5)
      continue;
    EXPECT_EQ(rows, exact + approximate + unsupported) << line;
    ++formats;
  }
  EXPECT_GE(formats, 25u);
}

}  // namespace
}  // namespace lacuna
