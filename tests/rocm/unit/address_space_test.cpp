// Tests the memory of allocations: its contents, its addresses, and the memory next to it.
#include "drivers/rocm/address_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace lacuna::rocm {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::uint8_t* bytes(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(address); }

/// Uses read() and write() on a pipe to find out whether addresses are accessible: these system calls return EFAULT instead of
/// faulting.
class AddressSpace : public testing::Test {
 protected:
  AddressSpace() { EXPECT_EQ(pipe2(pipe_, O_NONBLOCK | O_CLOEXEC), 0); }
  ~AddressSpace() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  bool readable(std::uint64_t address) {
    char byte = 0;
    if (write(pipe_[1], bytes(address), 1) != 1) return false;
    EXPECT_EQ(read(pipe_[0], &byte, 1), 1);
    return true;
  }
  bool writable(std::uint64_t address) {
    const char byte = 0;
    EXPECT_EQ(write(pipe_[1], &byte, 1), 1);
    if (read(pipe_[0], bytes(address), 1) == 1) return true;
    char drained = 0;
    EXPECT_EQ(read(pipe_[0], &drained, 1), 1);
    return false;
  }

 private:
  int pipe_[2]{};
};

TEST_F(AddressSpace, PagesAreZeroAndSurroundedByUnmappedOnes) {
  const auto memory = allocate_pages(3 * kPageBytes, kPageBytes);
  ASSERT_TRUE(memory);
  for (std::uint64_t i = 0; i < 3 * kPageBytes; ++i) ASSERT_EQ(bytes(memory->start)[i], 0);
  EXPECT_TRUE(writable(memory->start));
  EXPECT_TRUE(writable(memory->start + 3 * kPageBytes - 1));
  EXPECT_FALSE(readable(memory->start - 1));
  EXPECT_FALSE(readable(memory->start + 3 * kPageBytes));
  release_addresses(memory->base, memory->size);
  EXPECT_FALSE(readable(memory->start));
}

TEST_F(AddressSpace, LargePagesAreAligned) {
  constexpr std::uint64_t kLarge = std::uint64_t{2} << 20;
  const auto memory = allocate_pages(kLarge, kLarge);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->start % kLarge, 0U);
  EXPECT_TRUE(writable(memory->start + kLarge - 1));
  EXPECT_FALSE(readable(memory->start - 1));
  EXPECT_FALSE(readable(memory->start + kLarge));
  release_addresses(memory->base, memory->size);
}

TEST_F(AddressSpace, BothHalvesOfADoubledRingAreTheSameMemory) {
  const auto ring = allocate_doubled(2 * kPageBytes);
  ASSERT_TRUE(ring);
  std::memset(bytes(ring->start), 0x5a, 2 * kPageBytes);
  for (std::uint64_t i = 0; i < 2 * kPageBytes; ++i) ASSERT_EQ(bytes(ring->start + 2 * kPageBytes)[i], 0x5a);
  bytes(ring->start + 3 * kPageBytes)[7] = 1;
  EXPECT_EQ(bytes(ring->start + kPageBytes)[7], 1);
  EXPECT_FALSE(readable(ring->start + 4 * kPageBytes));
  release_addresses(ring->base, ring->size);
}

TEST_F(AddressSpace, ReservedAddressesHoldNothing) {
  const auto alias = reserve_addresses(kPageBytes);
  ASSERT_TRUE(alias);
  EXPECT_FALSE(readable(alias->start));
  release_addresses(alias->base, alias->size);
}

TEST_F(AddressSpace, TheSameRequestsGetTheSameAddresses) {
  const auto first = allocate_pages(5 * kPageBytes, kPageBytes);
  ASSERT_TRUE(first);
  release_addresses(first->base, first->size);
  const auto again = allocate_pages(5 * kPageBytes, kPageBytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->start, first->start);
  release_addresses(again->base, again->size);
}

TEST_F(AddressSpace, RequestsBeyondTheAddressSpaceAreRefused) {
  EXPECT_FALSE(allocate_pages(std::uint64_t{1} << 60, kPageBytes));
}

}  // namespace
}  // namespace lacuna::rocm
