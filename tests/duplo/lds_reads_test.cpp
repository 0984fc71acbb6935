// Tests the classification of LDS reads of slabs against a lane-by-lane comparison, and the reasons for which reads are not
// looked up.
#include "models/duplo/lds_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "models/isa/decode/decoder.h"

namespace lacuna {
namespace {

using Offsets = std::array<std::uint32_t, isa::kLanes>;

constexpr isa::RegisterRange kPair{.file = isa::OperandKind::vgpr, .first = 4, .count = 2};
constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};

LoweredConvolution small_convolution() {
  LoweredConvolution c;
  c.height = c.width = 20;
  c.channels = 16;
  c.filter_height = c.filter_width = 3;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 1;
  c.pitch = 160;
  return c;
}
constexpr LdsBuffers kBuffers{.base = 1024, .row_stride = 136, .buffer_stride = 9216, .rows = 64, .buffers = 2};

isa::MemoryAccess read_of(unsigned bytes) {
  isa::MemoryAccess access;
  access.space = isa::MemoryAccess::Space::lds;
  access.returns_data = true;
  access.bytes_per_lane = static_cast<std::uint8_t>(bytes);
  access.lanes = kAllLanes;
  return access;
}

/// Offsets of the lanes of a read of a tile, which has `rows` rows and begins at `base`.
Offsets tile_at(const LdsBuffers& buffers, std::uint32_t base, unsigned rows, unsigned bytes) {
  Offsets offsets;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane)
    offsets[lane] = base + lane % rows * buffers.row_stride + lane / rows * bytes;
  return offsets;
}

/// Row of the slab, and byte within the row, of a byte of the LDS; nullopt: the byte is in no slab.
std::optional<std::pair<unsigned, unsigned>> place_of(const LdsBuffers& b, std::uint32_t offset) {
  for (unsigned buffer = 0; buffer < b.buffers; ++buffer) {
    for (unsigned row = 0; row < b.rows; ++row) {
      const std::uint32_t begin = b.base + buffer * b.buffer_stride + row * b.row_stride;
      if (offset >= begin && offset < begin + 128) return std::pair(row, offset - begin);
    }
  }
  return std::nullopt;
}

TEST(LdsReads, TilesAreThoseWhoseLanesLieInASlab) {
  std::mt19937 random(5);
  const auto pick = [&](unsigned least, unsigned most) { return least + static_cast<unsigned>(random() % (most - least + 1)); };
  unsigned tiles = 0, others = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    LoweredConvolution c = small_convolution();
    c.images = pick(1, 3);
    c.order = pick(0, 1) == 0 ? RowOrder::images_outermost : RowOrder::images_innermost;
    LdsBuffers b{.base = 8 * pick(0, 40),
                 .row_stride = 8 * pick(16, 20),
                 .buffer_stride = 0,
                 .rows = pick(16, 40),
                 .buffers = pick(1, 3)};
    b.buffer_stride = (b.buffer_bytes() + 7) / 8 * 8 + 8 * pick(0, 3);
    ASSERT_FALSE(b.problem(c));
    const IdGenerator ids(c, DatumIds::exact);
    const unsigned bytes = 8 * pick(1, 2), rows = 16 * pick(1, 2);
    const std::uint32_t base = pick(0, 3) == 0 ? pick(0, b.end() + 200)
                                               : b.base + pick(0, b.buffers - 1) * b.buffer_stride +
                                                     pick(0, b.rows - 1) * b.row_stride + bytes * pick(0, 15);
    Offsets offsets = tile_at(b, base, rows, bytes);
    const bool moved = pick(0, 4) == 0;
    if (moved) offsets.at(pick(1, 63)) += 4;
    const std::uint32_t m0 = static_cast<std::uint32_t>(pick(0, static_cast<unsigned>(c.rows())) * c.pitch + 16 * pick(0, 9));
    const auto found = classify_lds_read(b, ids, read_of(bytes), offsets, m0, kPair);

    bool touches = false;
    for (const std::uint32_t offset : offsets) touches |= offset < b.end() && offset + bytes > b.base;
    ASSERT_EQ(found.has_value(), touches);
    if (!found) continue;
    // The read loads a tile if the bytes of each lane are at the lane's position in a tile, all in one slab.
    const auto first = place_of(b, base);
    bool is_tile = !moved && first && first->second % bytes == 0;
    for (unsigned lane = 0; lane < isa::kLanes && is_tile; ++lane) {
      for (unsigned byte = 0; byte < bytes && is_tile; ++byte) {
        const auto place = place_of(b, offsets[lane] + byte);
        is_tile =
            place && place->first == first->first + lane % rows && place->second == first->second + lane / rows * bytes + byte;
      }
    }
    const std::uint64_t row = is_tile ? m0 / c.pitch + first->first : 0;
    const unsigned column = is_tile ? m0 % c.pitch + first->second / 2 : 0;
    const bool has_data = is_tile && row < c.rows() && column < c.columns();
    ASSERT_EQ(found->tile.has_value(), has_data) << i;
    if (found->tile) {
      EXPECT_EQ(found->tile->row, row);
      EXPECT_EQ(found->tile->column, column);
      EXPECT_EQ(found->tile->form,
                (TileForm{static_cast<std::uint8_t>(rows), static_cast<std::uint8_t>(64 / rows * bytes / 2)}));
    } else {
      EXPECT_EQ(found->reason, is_tile ? DuploCount::filler : DuploCount::form);
    }
    ++(found->tile ? tiles : others);
  }
  EXPECT_GT(tiles, 1000U);
  EXPECT_GT(others, 1000U);
}

TEST(LdsReads, OtherReadsAreRejectedWithAReason) {
  const LoweredConvolution c = small_convolution();
  const IdGenerator ids(c, DatumIds::exact);
  const Offsets tile = tile_at(kBuffers, kBuffers.base, 16, 8);
  const auto reason = [&](const isa::MemoryAccess& access, std::uint32_t m0, const isa::RegisterRange& to) {
    const auto found = classify_lds_read(kBuffers, ids, access, tile, m0, to);
    return !found ? DuploCount::count : found->tile ? DuploCount::look_ups : found->reason;
  };
  EXPECT_EQ(reason(read_of(8), 0, kPair), DuploCount::look_ups);
  EXPECT_EQ(reason(read_of(8), LdsBuffers::kNoSlab, kPair), DuploCount::no_slab);
  EXPECT_EQ(reason(read_of(8), 0, {.file = isa::OperandKind::vgpr, .first = 5, .count = 2}), DuploCount::registers);
  EXPECT_EQ(reason(read_of(4), 0, kPair), DuploCount::form);
  EXPECT_EQ(reason(read_of(8), c.pitch - 16, kPair), DuploCount::filler) << "columns after the last one";
  EXPECT_EQ(reason(read_of(8), static_cast<std::uint32_t>(c.rows() * c.pitch), kPair), DuploCount::filler);
  EXPECT_EQ(reason(read_of(0), 0, kPair), DuploCount::count) << "lane moves";
  isa::MemoryAccess other = read_of(8);
  other.dual = true;
  other.dual_distance = 32;
  EXPECT_EQ(reason(other, 0, kPair), DuploCount::dual);
  other = read_of(8);
  other.lanes = 0xffff;
  EXPECT_EQ(reason(other, 0, kPair), DuploCount::exec);
  other = read_of(8);
  other.operation = isa::MemoryAccess::Operation::store;
  EXPECT_EQ(reason(other, 0, kPair), DuploCount::count);
  // The first location of the read is below the buffers; with `dual`, the second location is in a buffer.
  other = read_of(8);
  other.lanes = 1;
  const Offsets below{};
  EXPECT_FALSE(classify_lds_read(kBuffers, ids, other, below, 0, kPair));
  other.dual = true;
  other.dual_distance = kBuffers.base;
  EXPECT_EQ(classify_lds_read(kBuffers, ids, other, below, 0, kPair)->reason, DuploCount::dual);
}

}  // namespace
}  // namespace lacuna
