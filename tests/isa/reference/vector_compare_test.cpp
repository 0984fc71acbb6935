// Tests comparisons and classes against MPFR and wide integers.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Comparisons) { check_references(compare_references()); }

}  // namespace
}  // namespace lacuna::isa::test
