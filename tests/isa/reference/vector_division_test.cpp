// Division steps and f64 argument reduction against MPFR.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Divisions) { check_references(division_references()); }

}  // namespace
}  // namespace lacuna::isa::test
