// Tests conversions against MPFR and wide integers.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Conversions) { check_references(convert_references()); }

}  // namespace
}  // namespace lacuna::isa::test
