// Tests packed, mixed-precision and dot instructions against MPFR and wide integers.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Packed) { check_references(packed_references()); }

}  // namespace
}  // namespace lacuna::isa::test
