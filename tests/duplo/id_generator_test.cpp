// Tests IDs of the data in a workspace: that exact IDs are equal only for equal input elements, that the example of the paper
// is reproduced, how often the formula printed in the paper is wrong, and which limits the geometry imposes on hit rates.
#include "models/duplo/id_generator.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tests/duplo/layers.h"

namespace lacuna {
namespace {

using test::is_zero;
using test::kLayers;
using test::Layer;
using test::lowered;

std::uint64_t key(const DatumId& id) { return std::uint64_t{id.image} << 32 | id.element; }

// The convolution of Figures 5 and 6: a filter of 3 x 3 over an input of 4 x 4.
LoweredConvolution example() {
  LoweredConvolution c;
  c.height = c.width = 4;
  c.channels = 1;
  c.filter_height = c.filter_width = 3;
  c.pitch = 9;
  return c;
}

TEST(IdGenerator, ElementsOfTheExample) {
  const std::array<unsigned, 36> expected{0, 1, 2, 4, 5, 6,  8,  9,  10, 1, 2, 3, 5, 6,  7,  9,  10, 11,
                                          4, 5, 6, 8, 9, 10, 12, 13, 14, 5, 6, 7, 9, 10, 11, 13, 14, 15};
  for (const DatumIds ids : {DatumIds::paper, DatumIds::exact}) {
    const IdGenerator generator(example(), ids);
    for (unsigned place = 0; place < 36; ++place)
      EXPECT_EQ(generator.id(place / 9, place % 9), (DatumId{0, expected.at(place)})) << "place " << place;
  }
  // IDs of Table II.
  const IdGenerator generator(example(), DatumIds::paper);
  EXPECT_EQ(generator.id(2 / 9, 2 % 9).element, 2U);
  EXPECT_EQ(generator.id(10 / 9, 10 % 9).element, 2U);
  EXPECT_EQ(generator.id(28 / 9, 28 % 9).element, 6U);
}

struct Case {
  bool square = false;
  bool one_channel = false;
  bool unit_stride = false;
  bool no_padding = false;
};

LoweredConvolution random_convolution(std::mt19937& random, const Case& only = {}) {
  const auto pick = [&](unsigned least, unsigned most) { return least + static_cast<unsigned>(random() % (most - least + 1)); };
  for (;;) {
    LoweredConvolution c;
    c.images = pick(1, 4);
    c.height = pick(1, 9);
    c.width = only.square ? c.height : pick(1, 9);
    c.channels = only.one_channel ? 1 : pick(1, 5);
    c.filter_height = pick(1, 4);
    c.filter_width = only.square ? c.filter_height : pick(1, 4);
    c.stride_y = only.unit_stride ? 1 : pick(1, 3);
    c.stride_x = only.square ? c.stride_y : only.unit_stride ? 1 : pick(1, 3);
    if (!only.no_padding) {
      c.pad_top = pick(0, 2);
      c.pad_left = only.square ? c.pad_top : pick(0, 2);
      c.pad_bottom = only.square ? c.pad_top : pick(0, 2);
      c.pad_right = only.square ? c.pad_top : pick(0, 2);
    }
    c.pitch = c.columns() + pick(0, 3);
    c.order = pick(0, 1) == 0 ? RowOrder::images_outermost : RowOrder::images_innermost;
    if (!c.problem()) return c;
  }
}

/// Whether any two positions of the workspace have equal IDs if and only if they hold the same element.
bool is_right(const LoweredConvolution& c, DatumIds ids) {
  const IdGenerator generator(c, ids);
  std::map<std::uint64_t, InputElement> by_id;
  std::map<std::tuple<unsigned, unsigned, unsigned, unsigned>, std::uint64_t> by_element;
  for (std::uint64_t row = 0; row < c.rows(); ++row) {
    for (unsigned column = 0; column < c.columns(); ++column) {
      const InputElement e = *c.element(row, column);
      const std::uint64_t id = key(generator.id(row, column));
      if (!(by_id.try_emplace(id, e).first->second == e)) return false;
      if (by_element.try_emplace({e.image, e.y, e.x, e.channel}, id).first->second != id) return false;
    }
  }
  return true;
}

TEST(IdGenerator, ExactIdsAreThoseOfElements) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 10'000; ++i) {
    const LoweredConvolution c = random_convolution(random);
    ASSERT_TRUE(is_right(c, DatumIds::exact)) << "convolution " << i;
  }
}

// The formula printed in the paper is correct for square inputs of one channel with stride 1 and without padding, images
// outermost. The test counts how many of 10,000 convolutions have a wrong ID if one of these properties is changed, and if all
// are random.
TEST(IdGenerator, ThePapersFormulaErrsOutsideOfItsAssumptions) {
  constexpr unsigned kConvolutions = 10'000;
  struct Change {
    const char* what;
    void (*apply)(LoweredConvolution&, unsigned number);
    unsigned wrong;  ///< number of convolutions with a wrong ID
  };
  // `number` is a random number from 0 to 3.
  const std::vector<Change> changes{
      {"none", [](LoweredConvolution&, unsigned) {}, 0},
      {"channels", [](LoweredConvolution& c, unsigned number) { c.channels = 2 + number; }, 0},
      {"width of the input", [](LoweredConvolution& c, unsigned number) { c.width += 1 + number; }, 6974},
      {"height of the input", [](LoweredConvolution& c, unsigned number) { c.height += 1 + number; }, 10000},
      {"width of the filter",
       [](LoweredConvolution& c, unsigned number) { c.filter_width = 1 + (c.filter_width + number) % c.width; }, 8375},
      {"stride", [](LoweredConvolution& c, unsigned number) { c.stride_y = c.stride_x = 2 + number / 2; }, 4452},
      {"horizontal stride", [](LoweredConvolution& c, unsigned number) { c.stride_x = 2 + number / 2; }, 8670},
      {"padding",
       [](LoweredConvolution& c, unsigned number) { c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 1 + number / 2; },
       10000},
      {"padding at the left", [](LoweredConvolution& c, unsigned number) { c.pad_left = 1 + number / 2; }, 9507},
      {"images innermost",
       [](LoweredConvolution& c, unsigned number) { c.images = 2 + number, c.order = RowOrder::images_innermost; }, 5976}};
  for (const Change& change : changes) {
    std::mt19937 random(2);
    unsigned wrong = 0;
    for (unsigned i = 0; i < kConvolutions; ++i) {
      LoweredConvolution c =
          random_convolution(random, {.square = true, .one_channel = true, .unit_stride = true, .no_padding = true});
      c.stride_x = c.stride_y = 1;
      c.order = RowOrder::images_outermost;
      change.apply(c, static_cast<unsigned>(random() % 4));
      c.pitch = c.columns();
      wrong += is_right(c, DatumIds::paper) ? 0 : 1;
    }
    EXPECT_EQ(wrong, change.wrong) << change.what;
  }
  std::mt19937 random(2);
  unsigned wrong = 0;
  for (unsigned i = 0; i < kConvolutions; ++i) wrong += is_right(random_convolution(random), DatumIds::paper) ? 0 : 1;
  EXPECT_EQ(wrong, 8695U) << "any";
}

struct Errors {
  std::uint64_t hits = 0;
  std::uint64_t false_hits = 0;
  double share() const { return 100.0 * static_cast<double>(false_hits) / static_cast<double>(hits); }
};

// Loads each element row by row, with an unlimited history whose entries keep the position of the first load; hits on equal
// zeros are not errors. All images have the same errors, so one image is enough.
Errors errors_of_printed_ids(const Layer& layer) {
  const LoweredConvolution c = lowered(layer, 1);
  const IdGenerator generator(c, DatumIds::paper);
  // Errors do not depend on the channel: the channels of an element have consecutive IDs, and only the first real channel is
  // examined.
  std::unordered_map<std::uint64_t, InputElement> first;
  Errors errors;
  for (std::uint64_t row = 0; row < c.rows(); ++row) {
    for (unsigned column = 0; column < c.columns(); column += c.channels) {
      const InputElement e = *c.element(row, column);
      const auto [known, is_new] = first.try_emplace(key(generator.id(row, column)), e);
      if (is_new) continue;
      ++errors.hits;
      const bool equal = known->second == e || (is_zero(layer, c, known->second) && is_zero(layer, c, e));
      errors.false_hits += equal ? 0 : 1;
    }
  }
  return errors;
}

TEST(IdGenerator, PrintedIdsErrOnAllLayersOfTheTable) {
  double least_plain = 100, most_plain = 0, least_transposed = 100, most_transposed = 0, least_strided = 100, most_strided = 0;
  for (const Layer& layer : kLayers) {
    const double share = errors_of_printed_ids(layer).share();
    EXPECT_GT(share, 0) << layer.name;
    double& least = layer.transposed ? least_transposed : layer.stride > 1 ? least_strided : least_plain;
    double& most = layer.transposed ? most_transposed : layer.stride > 1 ? most_strided : most_plain;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_NEAR(least_plain, 0.5, 0.1);
  EXPECT_NEAR(most_plain, 13.3, 0.1);
  EXPECT_NEAR(least_transposed, 1.6, 0.1);
  EXPECT_NEAR(most_transposed, 8.9, 0.1);
  EXPECT_NEAR(least_strided, 65.4, 0.1);
  EXPECT_NEAR(most_strided, 88.0, 0.1);
}

// Loads each element once, with an unlimited history. Segments of 16 channels give the same result as elements: two segments
// are equal or have no element in common.
TEST(IdGenerator, HitRateLimitsOfElementsOnAllLayers) {
  double sum = 0, merged_sum = 0;
  for (const Layer& layer : kLayers) {
    const LoweredConvolution c = lowered(layer, 1);
    std::set<std::pair<unsigned, unsigned>> data, zeros;
    std::uint64_t all = 0;
    for (std::uint64_t row = 0; row < c.rows(); ++row) {
      for (unsigned column = 0; column < c.columns(); column += c.channels) {
        const InputElement e = *c.element(row, column);
        (is_zero(layer, c, e) ? zeros : data).insert({e.y, e.x});
        ++all;
      }
    }
    const auto segments = static_cast<double>(c.channels) / 16;
    const double limit = 100 - 100 * static_cast<double>(data.size() + zeros.size()) / static_cast<double>(all);
    const double merged = 100 - 100 * (static_cast<double>(data.size()) * segments + (zeros.empty() ? 0 : 1)) /
                                    (static_cast<double>(all) * segments);
    EXPECT_NEAR(limit, layer.elements, 0.1) << layer.name;
    EXPECT_NEAR(merged, layer.merged, 0.1) << layer.name;
    sum += limit;
    merged_sum += merged;
  }
  EXPECT_NEAR(sum / kLayers.size(), 81.5, 0.1);
  EXPECT_NEAR(merged_sum / kLayers.size(), 84.8, 0.1);
}

// Segments of 16 elements extend over several positions if 3 channels are padded to fewer than 16.
TEST(IdGenerator, ChannelsDecideWhetherSegmentsRepeat) {
  const Layer& layer = kLayers[0];
  for (const auto& [channels, limit] : std::map<unsigned, double>{{3, 0}, {4, 53}, {8, 84}, {16, 91}}) {
    LoweredConvolution c = lowered(layer, 1, RowOrder::images_outermost, channels);
    const IdGenerator generator(c, DatumIds::exact);
    std::set<std::vector<std::uint64_t>> different;
    std::uint64_t all = 0;
    for (std::uint64_t row = 0; row < c.rows(); ++row) {
      for (unsigned column = 0; column < c.columns(); column += 16, ++all) {
        std::vector<std::uint64_t> segment;
        for (unsigned k = column; k < std::min(column + 16, c.columns()); ++k) segment.push_back(key(generator.id(row, k)));
        different.insert(std::move(segment));
      }
    }
    EXPECT_NEAR(100 - 100 * static_cast<double>(different.size()) / static_cast<double>(all), limit, 0.55)
        << channels << " channels";
  }
}

TEST(IdGenerator, MostLayersNeedReciprocals) {
  unsigned without_powers = 0;
  for (const Layer& layer : kLayers) without_powers += IdGenerator(lowered(layer), DatumIds::exact).reciprocals() > 0 ? 1 : 0;
  EXPECT_EQ(without_powers, kLayers.size());                                       // filters have 3, 5 or 7 columns
  EXPECT_EQ(IdGenerator(lowered(kLayers[1]), DatumIds::exact).reciprocals(), 4U);  // 192, 3136, 56, 576: no powers of two
  EXPECT_EQ(IdGenerator(lowered(kLayers[1]), DatumIds::address).reciprocals(), 0U);
}

TEST(LoweredConvolution, ProblemsNameFieldValueAndWhatIsLegal) {
  const auto problem = [](void (*change)(LoweredConvolution&)) {
    LoweredConvolution c = lowered(kLayers[1]);
    change(c);
    return c.problem().value_or("");
  };
  EXPECT_EQ(lowered(kLayers[1]).problem(), std::nullopt);
  EXPECT_EQ(problem([](LoweredConvolution& c) { c.images = 0; }), "images is 0; it is at least 1");
  EXPECT_EQ(problem([](LoweredConvolution& c) { c.images = 1025; }), "images is 1025; a tag names at most 1024");
  EXPECT_EQ(problem([](LoweredConvolution& c) { c.channels = 0; }), "channels is 0; it is at least 1");
  EXPECT_EQ(problem([](LoweredConvolution& c) { c.stride_x = 0; }), "horizontal stride is 0; it is at least 1");
  EXPECT_EQ(problem([](LoweredConvolution& c) { c.filter_height = 59; }), "filter height is 59; the padded input has 58 rows");
  EXPECT_EQ(problem([](LoweredConvolution& c) { c.pitch = 575; }), "pitch is 575; a row of the workspace has 576 elements");
  EXPECT_EQ(problem([](LoweredConvolution& c) {
              c.height = c.width = 60'000;
              c.channels = 2;
            }),
            "IDs of an input of 60002 x 60002 x 2 elements need 33 bits; they have at most 32");
}

}  // namespace
}  // namespace lacuna
