// Tests the values in launches: expressions, element types, contents of buffers, and arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "platform/launch/argument.h"
#include "platform/launch/comparison.h"
#include "platform/launch/contents.h"
#include "platform/launch/expression.h"
#include "platform/launch/launch_error.h"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

ExpressionScope scope() {
  ExpressionScope s;
  s.variables["n"] = Number::of(64);
  s.variables["half"] = Number::of_real(0.5);
  return s;
}

std::string value(std::string_view text) { return number_text(evaluate(text, scope())); }

template <typename Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const LaunchError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Expression, FollowsTheRulesOfC) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("(1 + 2) * 3"), "9");
  EXPECT_EQ(value("7 / 2"), "3");
  EXPECT_EQ(value("-7 / 2"), "-3");
  EXPECT_EQ(value("-7 % 4"), "-3");
  EXPECT_EQ(value("7 / 2.0"), "3.5");
  EXPECT_EQ(value("1 << 4 | 1"), "17");
  EXPECT_EQ(value("1 | 2 ^ 3 & 6"), "1");
  EXPECT_EQ(value("1 < 2 == 1"), "1");
  EXPECT_EQ(value("0 && 1 || 1"), "1");
  EXPECT_EQ(value("n > 32 ? n - 1 : 0"), "63");
  EXPECT_EQ(value("~0"), "-1");
  EXPECT_EQ(value("!n"), "0");
  EXPECT_EQ(value("0x10 + 1e1"), "26");
  EXPECT_EQ(value("log2(n) + min(3, 2) * max(1, 4)"), "14");
  EXPECT_EQ(value("int(3.9) + floor(half)"), "3");
  EXPECT_EQ(value("0xffffffffffffffff"), "18446744073709551615");
}

TEST(Expression, BranchesNotTakenDoNotCount) {
  EXPECT_EQ(value("n == 0 ? 1 / 0 : 5"), "5");
  EXPECT_EQ(value("0 && 1 / 0"), "0");
  EXPECT_EQ(value("1 || 1 / 0"), "1");
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(refusal([] { value("1 +"); }), HasSubstr("column 4: expected a number or a name"));
  EXPECT_THAT(refusal([] { value("hlaf"); }), HasSubstr("unknown name hlaf; did you mean half?"));
  EXPECT_THAT(refusal([] { value("mni(1, 2)"); }), HasSubstr("unknown function mni; did you mean min?"));
  EXPECT_THAT(refusal([] { value("1 / (n - 64)"); }), HasSubstr("division by zero"));
  EXPECT_THAT(refusal([] { value("0xffffffffffffffff * 2"); }), HasSubstr("integer overflow"));
  EXPECT_THAT(refusal([] { value("1 << 64"); }), HasSubstr("shift"));
  EXPECT_THAT(refusal([] { value("1.5 << 1"); }), HasSubstr("needs integers"));
  EXPECT_THAT(refusal([] { value("3x"); }), HasSubstr("must end before x"));
  EXPECT_THAT(refusal([] { value("d[0]"); }), HasSubstr("buffers cannot be read here"));
  EXPECT_THAT(refusal([] { value(std::string(100000, '(')); }), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal([] { value(std::string(100000, '-').append(1, '1')); }), HasSubstr("nested too deeply"));
}

TEST(Expression, SubstitutesInText) {
  EXPECT_EQ(substitute("buf:x{n % 3}.{half}", scope()), "buf:x1.0.5");
  EXPECT_EQ(substitute("a}b", scope()), "a}b");
  EXPECT_THAT(refusal([] { substitute("{n", scope()); }), HasSubstr("{ without }"));
  EXPECT_THAT(refusal([] { substitute("{{n}}", scope()); }), HasSubstr("a { inside { }"));
  EXPECT_THAT(refusal([] { substitute("x{ }", scope()); }), HasSubstr("nothing inside { }"));
}

TEST(ElementType, RoundsToHalfAndBfloat16AsIeeeSays) {
  EXPECT_EQ(to_half(1), 0x3c00);
  EXPECT_EQ(to_half(-2), 0xc000);
  EXPECT_EQ(to_half(65504), 0x7bff);
  EXPECT_EQ(to_half(65519.999), 0x7bff);
  EXPECT_EQ(to_half(65520), 0x7c00);  // halfway between 65504 and 65536: rounds to even, which is infinity
  EXPECT_EQ(to_half(0x1p-24), 0x0001);
  EXPECT_EQ(to_half(0x1p-25), 0x0000);  // halfway: rounds to even
  EXPECT_EQ(to_half(0x1.8p-25), 0x0001);
  EXPECT_EQ(to_half(0x1.ffcp-15), 0x0400 - 0);  // rounds up into the normal range
  EXPECT_EQ(to_half(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(to_half(1 + 0x1.8p-10), 0x3c02);
  EXPECT_EQ(to_half(std::numeric_limits<double>::infinity()), 0x7c00);
  EXPECT_EQ(to_half(-0.0), 0x8000);
  EXPECT_EQ(to_half(std::nan("")) & 0x7fff, 0x7e00);
  EXPECT_EQ(to_bfloat16(1), 0x3f80);
  EXPECT_EQ(to_bfloat16(3.0e38), 0x7f62);
  EXPECT_EQ(to_bfloat16(0x1p-133), 0x0001);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) ASSERT_EQ(to_half(from_half(static_cast<std::uint16_t>(bits))), bits) << bits;
}

TEST(ElementType, RefusesUnrepresentableValues) {
  std::byte bytes[8];
  EXPECT_THAT(refusal([&] { store_element(ElementType::u8, Number::of(256), bytes); }), HasSubstr("256 does not fit in u8"));
  EXPECT_THAT(refusal([&] { store_element(ElementType::i8, Number::of(-129), bytes); }), HasSubstr("does not fit in i8"));
  EXPECT_THAT(refusal([&] { store_element(ElementType::i32, Number::of_real(0.5), bytes); }), HasSubstr("not an integer"));
  store_element(ElementType::i64, Number::of(std::numeric_limits<std::int64_t>::min()), bytes);
  EXPECT_EQ(load_element(ElementType::i64, bytes).integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(element_type_of_source("const float4*"), ElementType::f32);
  EXPECT_EQ(element_type_of_source("uint"), ElementType::u32);
  EXPECT_FALSE(element_type_of_source("struct item*"));
}

std::vector<std::byte> all_of(const Contents& contents) {
  const auto file = open_contents(contents);
  std::vector<std::byte> bytes;
  std::byte part[7];  // so small that reads end inside elements
  for (;;) {
    const std::int64_t count = file->read(part);
    if (count <= 0) return bytes;
    bytes.insert(bytes.end(), part, part + count);
  }
}

template <typename T>
std::vector<T> made(const std::string& text) {
  const ExpressionScope s = scope();
  const BufferSpec buffer = parse_buffer(text, {".", s});
  const std::vector<std::byte> bytes = all_of(buffer.contents);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Contents, UniformStaysInItsRangeAndReachesItsEnds) {
  const auto integers = made<std::int16_t>("fill:4K:i16:uniform(-3,3)");
  EXPECT_EQ(integers.size(), 4096u);
  EXPECT_EQ(*std::min_element(integers.begin(), integers.end()), -3);
  EXPECT_EQ(*std::max_element(integers.begin(), integers.end()), 3);
  const auto reals = made<float>("fill:4K:f32:uniform(-1,1)");
  EXPECT_LT(*std::max_element(reals.begin(), reals.end()), 1);
  EXPECT_GE(*std::min_element(reals.begin(), reals.end()), -1);
  const auto wide = made<std::uint64_t>("fill:64:u64:uniform(0,0xffffffffffffffff)");
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), std::uint64_t{1} << 62);
}

TEST(Contents, NormalHasItsMomentsAndSeedsDiffer) {
  const auto values = made<double>("fill:64K:f64:normal(10,2):5");
  double mean = 0;
  double square = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) square += (v - mean) * (v - mean) / static_cast<double>(values.size());
  EXPECT_NEAR(mean, 10, 0.05);
  EXPECT_NEAR(std::sqrt(square), 2, 0.05);
  EXPECT_EQ(values, made<double>("fill:64K:f64:normal(10,2):5"));
  EXPECT_NE(values, made<double>("fill:64K:f64:normal(10,2):6"));
  const auto clamped = made<std::uint8_t>("fill:1K:u8:normal(0,1000)");
  EXPECT_EQ(*std::max_element(clamped.begin(), clamped.end()), 255);
}

TEST(Contents, ShareOfZerosLeavesTheOthersInPlace) {
  const auto dense = made<float>("fill:64K:f32:uniform(1,2):9:zeros=0.0000001");
  const auto sparse = made<float>("fill:64K:f32:uniform(1,2):9:zeros=0.9");
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    zeros += sparse[i] == 0 ? 1 : 0;
    ASSERT_TRUE(sparse[i] == 0 || sparse[i] == dense[i]) << i;
  }
  EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(sparse.size()), 0.9, 0.01);
}

TEST(Contents, IotaAndConstant) {
  EXPECT_THAT(made<std::int32_t>("fill:3:i32:iota(5,-2)"), ::testing::ElementsAre(5, 3, 1));
  EXPECT_THAT(made<float>("fill:3:f32:iota(0,0.5)"), ::testing::ElementsAre(0, 0.5F, 1));
  EXPECT_THAT(made<std::uint16_t>("fill:2:f16:constant(1.5)"), ::testing::ElementsAre(0x3e00, 0x3e00));
}

ArgumentValue argument(const std::string& text) {
  const ExpressionScope s = scope();
  return parse_argument(text, {".", s});
}

TEST(Argument, Scalars) {
  EXPECT_EQ(argument("i32:n-1").bytes.size(), 4u);
  EXPECT_EQ(std::to_integer<int>(argument("i32:n-1").bytes[0]), 63);
  EXPECT_EQ(argument("f32x4:1,2,3,4").bytes.size(), 16u);
  EXPECT_EQ(argument("f32x3:1,2,3").bytes.size(), 16u);
  EXPECT_EQ(argument("bytes:00ff10").bytes, (std::vector<std::byte>{std::byte{0}, std::byte{0xff}, std::byte{0x10}}));
  EXPECT_EQ(argument("lds:n*4").number, 256u);
  EXPECT_EQ(argument("buf:x+8").number, 8u);
  EXPECT_EQ(argument("u64:0xffffffffffffffff").bytes[7], std::byte{0xff});
  EXPECT_EQ(argument("i32: n > 1 ? 2 : 3").bytes[0], std::byte{2});
}

TEST(Argument, StructuresAreLaidOutAsInC) {
  struct Expected {
    std::int8_t a;
    float b;
    std::uint64_t c;
    std::int16_t d;
  };
  const ArgumentValue value = argument("struct:i8:1;f32:2;buf:x+8;i16:3");
  ASSERT_EQ(value.bytes.size(), sizeof(Expected));
  Expected read{};
  std::memcpy(&read, value.bytes.data(), sizeof read);
  EXPECT_EQ(read.a, 1);
  EXPECT_EQ(read.b, 2);
  EXPECT_EQ(read.d, 3);
  ASSERT_EQ(value.pointers.size(), 1u);
  EXPECT_EQ(value.pointers[0].at, offsetof(Expected, c));
  EXPECT_EQ(value.pointers[0].offset, 8u);
  EXPECT_THAT(refusal([] { argument("struct:i32:1;lds:4"); }), HasSubstr("cannot be a member"));
  EXPECT_THAT(refusal([] { argument("struct:"); }), HasSubstr("unknown kind"));
}

TEST(Argument, MistakesAreNamed) {
  EXPECT_THAT(refusal([] { argument("i33:1"); }), HasSubstr("did you mean i32?"));
  EXPECT_THAT(refusal([] { argument("f32x4:1,2"); }), HasSubstr("2 values instead of 4"));
  EXPECT_THAT(refusal([] { argument("f32x99:1"); }), HasSubstr("2 to 16"));
  EXPECT_THAT(refusal([] { argument("bytes:0"); }), HasSubstr("pairs of hexadecimal digits"));
  EXPECT_THAT(refusal([] { argument("bytes:0g"); }), HasSubstr("not a hexadecimal byte"));
  EXPECT_THAT(refusal([] { argument("raw:nowhere"); }), HasSubstr("no such file"));
  EXPECT_THAT(refusal([] { argument("lds:0"); }), HasSubstr("outside 1.."));
  EXPECT_THAT(refusal([] { made<float>("out:4"); }), HasSubstr("out:SIZE[:TYPE]:FILE"));
  EXPECT_THAT(refusal([] { made<float>("fill:4:f32:uniform(2,1)"); }), HasSubstr("lower bound"));
  EXPECT_THAT(refusal([] { made<float>("zero:4:zeros=0.5"); }), HasSubstr("belongs to fill"));
  EXPECT_THAT(refusal([] { made<float>("fill:4:f32:bits:1:zeros=2"); }), HasSubstr("between 0 and 1"));
}

ComparisonResult compare(const std::vector<float>& values, const std::vector<float>& reference, const std::string& tolerance) {
  const std::string file = ::testing::TempDir() + "comparison.bin";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(reference.data()), static_cast<std::streamsize>(reference.size() * 4));
  ComparisonResult result;
  const auto to = open_comparison(file, parse_tolerance(tolerance, scope()), ElementType::f32, result);
  const auto bytes = std::as_bytes(std::span(values));
  // Write the values in parts that end inside elements.
  for (std::size_t at = 0; at < bytes.size(); at += 3)
    to->write(bytes.subspan(at, std::min<std::size_t>(3, bytes.size() - at)));
  return result;
}

TEST(Comparison, AValueWithinOneOfSeveralTolerancesIsEqual) {
  const float above = std::nextafter(1.0F, 2.0F);
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(compare({1, 2}, {1, 2}, "").equal());
  EXPECT_EQ(compare({1, above}, {1, 1}, "").differing, 1u);
  EXPECT_TRUE(compare({above}, {1}, "ulp=1").equal());
  EXPECT_FALSE(compare({std::nextafter(above, 2.0F)}, {1}, "ulp=1").equal());
  EXPECT_TRUE(compare({1.5}, {1}, "abs=0.5").equal());
  EXPECT_FALSE(compare({1.5F}, {1}, "abs=0.49").equal());
  EXPECT_TRUE(compare({110}, {100}, "rel=0.1,abs=1").equal());
  EXPECT_FALSE(compare({111}, {100}, "rel=0.1,abs=1").equal());
  EXPECT_TRUE(compare({nan}, {-nan}, "ulp=0").equal());
  EXPECT_FALSE(compare({nan}, {1}, "abs=1e30,rel=1e30").equal());
  EXPECT_FALSE(compare({inf}, {1}, "abs=1e30,rel=1e30").equal());
  EXPECT_TRUE(compare({inf}, {inf}, "abs=0").equal());
  EXPECT_TRUE(compare({-0.0F}, {0.0F}, "ulp=0").equal());
  EXPECT_FALSE(compare({-0.0F}, {0.0F}, "").equal());
  EXPECT_THAT(compare({1, 5}, {1, 2}, "abs=1").text(),
              HasSubstr("in 1 of 2 f32 elements, by at most 3 (relative 1.5)\n  [1] 5, reference 2\n"));
  EXPECT_THAT(refusal([] { parse_tolerance("aps=1", scope()); }), HasSubstr("did you mean abs?"));
}

}  // namespace
}  // namespace lacuna
