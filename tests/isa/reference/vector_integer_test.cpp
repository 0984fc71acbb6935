// Tests integer vector instructions against plain wide arithmetic.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Integers) { check_references(integer_references()); }
TEST(Reference, Integers16) { check_references(integer16_references()); }
TEST(Reference, SumsOfAbsoluteDifferences) { check_references(sad_references()); }

}  // namespace
}  // namespace lacuna::isa::test
