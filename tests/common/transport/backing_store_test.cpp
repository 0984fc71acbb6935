#include "models/common/transport/backing_store.h"

#include <gtest/gtest.h>

#include <system_error>

namespace lacuna {
namespace {

using namespace literals;

TEST(BackingStore, IsZeroAndKeepsWhatIsWritten) {
  BackingStore store(1_MiB);
  EXPECT_EQ(store.size(), 1_MiB);
  EXPECT_EQ(store.data()[0], std::byte{0});
  EXPECT_EQ(store.data()[(1 << 20) - 1], std::byte{0});
  store.data()[12345] = std::byte{0x5a};
  EXPECT_EQ(store.data()[12345], std::byte{0x5a});
  EXPECT_EQ(store.data()[12346], std::byte{0});
}

TEST(BackingStore, FourGibibytesCostOnlyAccessedPages) {
  BackingStore store(4_GiB);
  EXPECT_EQ(store.resident(), 0_B);
  for (std::uint64_t page = 0; page < 16; ++page) store.data()[page * (std::uint64_t{256} << 20)] = std::byte{1};
  EXPECT_GE(store.resident().n, 16 * 4096u);
  // A host that always uses huge pages needs 2 MiB for each accessed page.
  EXPECT_LE(store.resident().n, 16 * (2u << 20));
}

TEST(BackingStore, ASizeThatTheHostCannotMapIsAnErrorThatNamesIt) {
  try {
    BackingStore store(Bytes{std::uint64_t{1} << 62});
    FAIL() << "mapped 4 EiB";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("4611686018427387904"), std::string::npos) << error.what();
  }
}

TEST(BackingStore, EmptyIsLegal) {
  BackingStore store(0_B);
  EXPECT_EQ(store.resident(), 0_B);
}

}  // namespace
}  // namespace lacuna
