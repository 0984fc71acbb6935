// Tests docs/reference/sida.md: the page equals the generated text and lists all parts of programs; their structures have no
// padding.
#include "platform/reference/sida_reference.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "include/lacuna/sida_applications.h"

namespace lacuna {
namespace {

std::string page() {
  std::ostringstream out;
  write_sida_reference(out);
  return out.str();
}

TEST(SidaReference, IsThePageOfTheDocumentation) {
  std::ifstream file(LACUNA_SIDA_REFERENCE);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page()) << "regenerate it with ./dev docs";
}

TEST(SidaReference, NamesAllThatProgramsConsistOf) {
  const std::string text = page();
#define LACUNA_SIDA_NAMED(name, ...) EXPECT_NE(text.find("| `" #name "` |"), std::string::npos) << #name;
  LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_LIMITS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_LAYOUTS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_PASS_FLAGS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_EXITS(LACUNA_SIDA_NAMED)
#undef LACUNA_SIDA_NAMED
#define LACUNA_SIDA_NAMED(name, ...) EXPECT_NE(text.find("_" #name "` | "), std::string::npos) << #name;
  LACUNA_SIDA_MONOIDS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_OPERATIONS(LACUNA_SIDA_NAMED)
  LACUNA_SIDA_ERRORS(LACUNA_SIDA_NAMED)
#undef LACUNA_SIDA_NAMED
  EXPECT_NE(text.find("| 72 | 2 | `uint16_t` | `x` | register of load with x |"), std::string::npos);
}

TEST(SidaReference, SaysWhichProgramsAreFused) {
  const std::string text = page();
  unsigned programs = 0, fused = 0;
  for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) {
    const std::size_t begin = text.find("| `" + std::string(a->name) + "` |");
    ASSERT_NE(begin, std::string::npos) << a->name;
    const std::string row = text.substr(begin, text.find('\n', begin) - begin);
    ++programs;
    fused += row.find("| no; ") == std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(programs, 11U);
  EXPECT_EQ(fused, 8U);
}

/// Structures have no padding, because programs would leave its bytes undefined.
TEST(SidaReference, StructuresHaveNoGaps) {
#define LACUNA_SIDA_FIELD(type, name, array, text)    \
  EXPECT_EQ(offsetof(Described, name), end) << #name; \
  end += sizeof(Described::name);
#define LACUNA_SIDA_STRUCTURE(name, list, bytes, text)                                \
  {                                                                                   \
    SCOPED_TRACE(#name);                                                              \
    using Described = lacuna_sida_##name;                                             \
    std::size_t end = 0;                                                              \
    LACUNA_SIDA_##list##_FIELDS(LACUNA_SIDA_FIELD) EXPECT_EQ(sizeof(Described), end); \
  }
  LACUNA_SIDA_STRUCTURES(LACUNA_SIDA_STRUCTURE)
#undef LACUNA_SIDA_STRUCTURE
#undef LACUNA_SIDA_FIELD
}

}  // namespace
}  // namespace lacuna
