// Tests floating-point vector instructions against MPFR.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Arithmetic) { check_references(float_references()); }

}  // namespace
}  // namespace lacuna::isa::test
