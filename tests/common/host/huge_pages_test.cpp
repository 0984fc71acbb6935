// Tests requests for huge pages against the flags in /proc/self/smaps.
#include "models/common/host/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <sstream>
#include <string>

namespace lacuna {
namespace {

constexpr std::size_t kPages = 6;

class HugePagesTest : public testing::Test {
 protected:
  HugePagesTest() {
    // The tested memory is aligned to huge pages and initially uses small pages.
    void* at =
        ::mmap(nullptr, (kPages + 1) * kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mapping_ = static_cast<std::byte*>(at);
    const auto number = reinterpret_cast<std::uintptr_t>(at);
    memory_ = mapping_ + ((number + kHugePage - 1) / kHugePage * kHugePage - number);
  }
  ~HugePagesTest() override { ::munmap(mapping_, (kPages + 1) * kHugePage); }
  /// One character for each huge page of the memory: H if huge pages have been requested there, otherwise -.
  std::string asked() const {
    std::string result(kPages, '-');
    std::ifstream maps("/proc/self/smaps");
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      std::uintptr_t from = 0;
      std::uintptr_t to = 0;
      char dash = 0;
      if (words >> std::hex >> from >> dash >> to && dash == '-') {
        begin = from;
        end = to;
      }
      if (!line.starts_with("VmFlags:") || line.find(" hg") == std::string::npos) continue;
      for (std::size_t i = 0; i < kPages; ++i) {
        const auto page = reinterpret_cast<std::uintptr_t>(memory_ + i * kHugePage);
        if (page >= begin && page + kHugePage <= end) result[i] = 'H';
      }
    }
    return result;
  }
  void expect(std::size_t first, std::size_t bytes, std::size_t low = 0, std::size_t high = kPages * kHugePage) {
    expect_writes(memory_ + first, bytes, memory_ + low, memory_ + high);
  }

  std::byte* mapping_;
  std::byte* memory_;
};

TEST_F(HugePagesTest, LargeRangesGetHugePages) {
  expect(kHugePage, 2 * kHugePage);
  if (asked() == "------") GTEST_SKIP() << "a host without huge pages";
  EXPECT_EQ(asked(), "-HH---");
}

TEST_F(HugePagesTest, PagesMayExceedTheWrittenRangeButNotTheMapping) {
  expect(kHugePage + 4096, 2 * kHugePage);
  if (asked() == "------") GTEST_SKIP() << "a host without huge pages";
  EXPECT_EQ(asked(), "-HHH--");
  expect(4 * kHugePage + 4096, 2 * kHugePage - 8192, 4 * kHugePage + 4096, 6 * kHugePage - 4096);
  EXPECT_EQ(asked(), "-HHH--");
}

TEST_F(HugePagesTest, SmallRangesAreIgnored) {
  expect(kHugePage, kHugePage - 1);
  EXPECT_EQ(asked(), "------");
}

}  // namespace
}  // namespace lacuna
