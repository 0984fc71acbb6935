// Tests the messages about a bundle in memory that lacks code for the GPUs.
#include "drivers/rocm/missing_code.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lacuna::rocm {
namespace {

/// A bundle with code of `size` bytes for each target id, after the host's entry, which compilers put first.
std::string bundle(const std::vector<std::string>& ids, std::uint64_t size = 8) {
  std::vector<std::string> identifiers{"host-x86_64-unknown-linux"};
  for (const std::string& id : ids) identifiers.push_back("hipv4-amdgcn-amd-amdhsa--" + id);
  std::string text = "__CLANG_OFFLOAD_BUNDLE__";
  const auto append = [&text](std::uint64_t value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
  append(identifiers.size());
  for (const std::string& identifier : identifiers) {
    append(4096);
    append(&identifier == &identifiers.front() ? 0 : size);
    append(identifier.size());
    text += identifier;
  }
  return text;
}

std::string said(const std::string& bytes) { return missing_code_of(bytes.data(), bytes.size(), "lib.so"); }

class MissingCode : public testing::Test {
 protected:
  MissingCode() { expect_code_for({isa::Target::gfx90a}, "gpu.target"); }
};

TEST_F(MissingCode, MatchingCodeIsNotReported) {
  EXPECT_EQ(said(bundle({"gfx803", "gfx90a"})), "");
  EXPECT_EQ(said(bundle({"gfx90a:sramecc+:xnack-"})), "");
  EXPECT_EQ(said(bundle({"gfx90a:xnack+", "gfx90a:xnack-"})), "");
}

TEST_F(MissingCode, PresentAndMissingTargetsAreNamed) {
  EXPECT_EQ(said(bundle({"gfx906", "gfx1030"})),
            "lacuna: lib.so has code for gfx906, gfx1030 and none for gfx90a, so HIP aborts: compile it with "
            "--offload-arch=gfx90a as well");
  EXPECT_EQ(said(bundle({"gfx803"})),
            "lacuna: lib.so has code for gfx803 and none for gfx90a, so HIP aborts: compile it with "
            "--offload-arch=gfx90a as well, or choose --set gpu.target=gfx803");
  EXPECT_NE(said(bundle({"gfx90a:xnack+"})).find("has code for gfx90a:xnack+ and none for gfx90a,"), std::string::npos);
  EXPECT_NE(said(bundle({"gfx90a:sramecc-"})).find("none for gfx90a,"), std::string::npos);
  EXPECT_NE(said(bundle({"gfx90a"}, 0)).find("has code for no GPU and none for gfx90a,"), std::string::npos);
}

TEST_F(MissingCode, EveryGpuCounts) {
  expect_code_for({isa::Target::gfx90a, isa::Target::gfx803}, "rocm.gpus");
  EXPECT_EQ(said(bundle({"gfx803", "gfx90a"})), "");
  EXPECT_NE(said(bundle({"gfx90a"})).find("none for gfx803,"), std::string::npos);
  EXPECT_NE(said(bundle({"gfx90a"})).find("or choose --set rocm.gpus=gfx90a"), std::string::npos);
}

TEST_F(MissingCode, OtherAndTruncatedFilesAreIgnored) {
  const std::string whole = bundle({"gfx906"});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    // Allocated with its exact size, so that a sanitizer detects an access beyond the end.
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(missing_code_of(part.data(), part.size(), "lib.so"), "") << bytes;
  }
  EXPECT_EQ(said(std::string(1000, 'x')), "");
  std::string huge = whole;
  huge[24 + 7] = '\x7f';  // the number of entries
  EXPECT_EQ(said(huge), "");
}

TEST_F(MissingCode, LongListsAreCut) {
  const std::string line = said(bundle(std::vector<std::string>(500, "gfx1030")));
  EXPECT_EQ(line.find("lacuna: lib.so has code for gfx1030, gfx1030"), 0U);
  EXPECT_LT(line.size(), 2048U);
}

TEST_F(MissingCode, NothingIsReportedForTheTestProgramItself) { report_missing_code(); }

}  // namespace
}  // namespace lacuna::rocm
