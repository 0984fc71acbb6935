#include "platform/run/json_writer.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

const std::array<std::string, 9> kTexts{
    "",         "plain text",          "quote \" and \\", "line\nend\ttab", "\x01\x1f\x7f", "caf\xc3\xa9", "bad\xff text",
    "[{\n  }]", std::string("a\0b", 3)};

// Writes texts of 1 to 20 characters with each possible character at each position.
TEST(JsonWriter, EscapesEachCharacterAtEachPlace) {
  for (std::size_t length = 1; length <= 20; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (int c = 0; c < 256; ++c) {
        std::string text(length, 'a');
        text[place] = static_cast<char>(c);
        std::ostringstream out;
        JsonWriter writer(out);
        writer.value(text);
        writer.flush();
        ASSERT_EQ(out.str(), Json(text).dump(2, ' ', false, Json::error_handler_t::replace)) << "character " << c;
      }
    }
  }
}

/// A JSON tree and a text written incrementally, from the same random choices.
class Pair {
 public:
  explicit Pair(unsigned seed) : random_(seed), writer_(text_) {}
  Json tree() {
    writer_.begin_array();
    Json array = Json::array();
    for (unsigned n = pick(16); n > 0; --n) array.push_back(value(0));
    writer_.end_array();
    return array;
  }
  std::string text() {
    writer_.flush();
    return text_.str();
  }

 private:
  unsigned pick(std::size_t from) { return static_cast<unsigned>(random_() % from); }
  template <class T>
  Json scalar(const T& number) {
    writer_.value(number);
    return number;
  }
  Json value(unsigned depth) {
    switch (pick(depth < 5 ? 11 : 8)) {
      case 0:
        return scalar(std::uint64_t{random_()} << pick(33));
      case 1:
        return scalar(-static_cast<std::int64_t>(random_()));
      case 2:
        return scalar(pick(2) == 0);
      case 3:
        return scalar(std::ldexp(static_cast<double>(random_()) - 2e9, static_cast<int>(pick(200)) - 100));
      case 4:
        return scalar(std::array{0.0, 0.5, 1e-7, 1e22, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}[pick(6)]);
      case 5:
        return scalar(std::array{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                                 std::int64_t{0}, std::int64_t{-1}}[pick(4)]);
      case 6:
        return scalar(kTexts[pick(kTexts.size())]);
      case 7: {
        const Json inner{{"a", {1, 2}}, {"b\n", "c\nd"}, {"none", Json::object()}, {"empty", Json::array()}};
        return scalar(pick(2) == 0 ? inner : Json());
      }
      case 8: {
        writer_.begin_array();
        Json array = Json::array();
        for (unsigned n = pick(4); n > 0; --n) array.push_back(value(depth + 1));
        writer_.end_array();
        return array;
      }
      default: {
        writer_.begin_object();
        Json object = Json::object();
        for (unsigned n = pick(5); n > 0; --n) {
          const std::string key = std::to_string(n) + kTexts[pick(kTexts.size())];
          writer_.key(key);
          object[key] = value(depth + 1);
        }
        writer_.end_object();
        return object;
      }
    }
  }

  std::mt19937 random_;
  std::ostringstream text_;
  JsonWriter writer_;
};

TEST(JsonWriter, WritesTheBytesThatTheTreeWouldHave) {
  std::size_t longest = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Pair pair(seed);
    const std::string whole = pair.tree().dump(2, ' ', false, Json::error_handler_t::replace);
    ASSERT_EQ(pair.text(), whole) << seed;
    longest = std::max(longest, whole.size());
  }
  EXPECT_GT(longest, 2000U) << "the trees are too small to say much";
}

// A long text is passed to the stream while it is being written.
TEST(JsonWriter, PassesALongTextToTheStreamWhileWriting) {
  std::ostringstream out;
  JsonWriter writer(out);
  writer.begin_array();
  for (unsigned i = 0; i < 100'000; ++i) writer.value(i);
  EXPECT_GT(out.view().size(), 800'000U);
  writer.end_array();
  writer.flush();
  EXPECT_EQ(Json::parse(out.view()).size(), 100'000U);
}

}  // namespace
}  // namespace lacuna
