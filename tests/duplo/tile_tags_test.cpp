// Tests tags of tiles against an element-by-element comparison, and the limits that the geometry imposes on hits of whole
// tiles.
#include "models/duplo/tile_tags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "tests/duplo/layers.h"

namespace lacuna {
namespace {

using test::kLayers;
using test::Layer;
using test::lowered;

using Tag = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint16_t>;
Tag key_of(const TileTag& tag) { return {tag.first.image, tag.first.element, tag.filter_x, tag.filter_y}; }

/// The elements of a tile. All positions without data have the same value.
std::vector<std::uint64_t> contents(const LoweredConvolution& c, std::uint64_t row, unsigned column, const TileForm& form) {
  std::vector<std::uint64_t> all;
  for (unsigned r = 0; r < form.rows; ++r) {
    for (unsigned k = 0; k < form.columns; ++k) {
      const auto e = c.element(row + r, column + k);
      all.push_back(e ? ((std::uint64_t{e->image} << 16 | e->y) << 16 | e->x) << 16 | e->channel : ~std::uint64_t{0});
    }
  }
  return all;
}

/// Forms of loads of 8 and 16 bytes per lane, and of a single row (DuploEntry::row).
constexpr std::array<TileForm, 5> kForms{TileForm{16, 16}, TileForm{16, 32}, TileForm{32, 8}, TileForm{32, 16},
                                         TileForm{1, 16}};

TEST(TileTags, AreEqualExactlyForEqualTiles) {
  std::mt19937 random(3);
  const auto pick = [&](unsigned least, unsigned most) { return least + static_cast<unsigned>(random() % (most - least + 1)); };
  unsigned tiles = 0, repeats = 0;
  while (tiles < 100'000) {
    LoweredConvolution c;
    c.images = pick(1, 20);
    c.height = pick(1, 20);
    c.width = pick(1, 20);
    c.channels = pick(1, 3) == 1 ? pick(1, 12) : 1U << pick(0, 5);
    c.filter_height = pick(1, 4);
    c.filter_width = pick(1, 4);
    c.stride_y = pick(1, 2);
    c.stride_x = pick(1, 2);
    c.pad_top = pick(0, 2);
    c.pad_left = pick(0, 2);
    c.pad_bottom = pick(0, 2);
    c.pad_right = pick(0, 2);
    c.pitch = c.columns() + pick(0, 16);
    c.order = pick(0, 1) == 0 ? RowOrder::images_outermost : RowOrder::images_innermost;
    if (c.problem()) continue;
    const TileForm form = kForms.at(pick(0, 4));
    const TileTags tags(c, DatumIds::exact);
    std::map<Tag, std::vector<std::uint64_t>> by_tag;
    std::map<std::vector<std::uint64_t>, Tag> by_contents;
    const unsigned step = pick(0, 1) == 0 ? 4 : form.columns;
    for (unsigned i = 0; i < 300; ++i, ++tiles) {
      const std::uint64_t row = form.rows == 1 ? random() % c.rows() : random() % c.rows() / 16 * 16;
      const unsigned column = static_cast<unsigned>(random() % c.columns()) / step * step;
      const Tag tag = key_of(tags.tag(row, column, form));
      const std::vector<std::uint64_t> holds = contents(c, row, column, form);
      const auto [known, is_new] = by_tag.try_emplace(tag, holds);
      repeats += is_new ? 0 : 1;
      ASSERT_EQ(known->second, holds) << "a false hit: row " << row << " column " << column;
      ASSERT_EQ(by_contents.try_emplace(holds, tag).first->second, tag)
          << "a missed repeat: row " << row << " column " << column;
    }
  }
  EXPECT_GT(repeats, tiles / 10);
}

struct Hits {
  std::uint64_t tiles = 0;
  std::uint64_t hits = 0;
  std::uint64_t false_hits = 0;
  double rate() const { return 100 * static_cast<double>(hits) / static_cast<double>(tiles); }
  double false_rate() const { return 100 * static_cast<double>(false_hits) / static_cast<double>(tiles); }
};

/// Loads each tile of 16 x 16 once, with an unlimited history. False hits: hits on tiles of which only the first elements are
/// equal.
Hits pass(const LoweredConvolution& c, bool by_first_element = false) {
  const TileForm form{16, 16};
  const TileTags tags(c, DatumIds::exact);
  std::map<Tag, std::pair<std::uint64_t, unsigned>> known;
  Hits all;
  for (std::uint64_t row = 0; row < c.rows(); row += form.rows) {
    for (unsigned column = 0; column < c.columns(); column += form.columns) {
      TileTag tag = tags.tag(row, column, form);
      const TileTag whole = tag;
      if (by_first_element) tag.filter_x = tag.filter_y = TileTag::kAny;
      const auto [first, is_new] = known.try_emplace(key_of(tag), row, column);
      ++all.tiles;
      if (is_new) continue;
      ++all.hits;
      all.false_hits += tags.tag(first->second.first, first->second.second, form) == whole ? 0 : 1;
    }
  }
  return all;
}

TEST(TileTags, HitRateLimitsOfTilesOnAllLayers) {
  double sum = 0, sum8 = 0, sum16 = 0;
  for (const Layer& layer : kLayers) {
    const double tiles = pass(lowered(layer)).rate();
    const double innermost8 = pass(lowered(layer, 8, RowOrder::images_innermost)).rate();
    const double innermost16 = pass(lowered(layer, 16, RowOrder::images_innermost)).rate();
    EXPECT_NEAR(tiles, layer.tiles, 0.1) << layer.name;
    EXPECT_NEAR(innermost8, layer.innermost8, 0.1) << layer.name;
    EXPECT_NEAR(innermost16, layer.innermost16, 0.1) << layer.name;
    sum += tiles;
    sum8 += innermost8;
    sum16 += innermost16;
  }
  EXPECT_NEAR(sum / kLayers.size(), 30.6, 0.1);
  EXPECT_NEAR(sum8 / kLayers.size(), 66.2, 0.1);
  EXPECT_NEAR(sum16 / kLayers.size(), 81.5, 0.1);
}

// Loads that would be renamed wrongly if only first elements were compared, as in the paper.
TEST(TileTags, ComparingOnlyFirstElementsGivesFalseHits) {
  const std::map<std::string, double> expected{{"resnet_c6", 17.7}, {"resnet_c8", 5.8}, {"yolo_c5", 17.7}, {"yolo_c6", 5.8}};
  for (const Layer& layer : kLayers) {
    const auto found = expected.find(layer.name);
    if (found == expected.end()) continue;
    const Hits hits = pass(lowered(layer), true);
    EXPECT_NEAR(hits.rate(), found->second, 0.1) << layer.name;
    EXPECT_EQ(hits.false_hits, hits.hits) << layer.name;
  }
}

}  // namespace
}  // namespace lacuna
